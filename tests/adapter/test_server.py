"""The HTTP side: keys, errors, limits, models, and whether it is well."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from denv.adapter.engines.protocol import Ended, EngineFault
from denv.adapter.formats import Format
from denv.records import Secret
from tests.adapter.asking import CHAT, FLASH, FORMATS, PRO, body_of, error_of, events_of, served
from tests.adapter.scripted import Scripted, said

DONE = said(["a</think>b"])
KEY = "sk-adapter-0123456789"


# ---------------------------------------------------------------- who may ask


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": f"Bearer {KEY}x"}, 401),
        ({"Authorization": f"Basic {KEY}"}, 401),
        ({"x-api-key": "\u00e9"}, 401),
        ({"Authorization": f"Bearer {KEY}"}, 200),
        ({"authorization": f"bearer {KEY}"}, 200),
        ({"x-api-key": KEY}, 200),
    ],
)
async def test_keys(headers: dict[str, str], status: int) -> None:
    """Either header with a whole key lets in; anything else is 401 and asks the engine nothing."""
    engine = Scripted(DONE)
    async with served(engine, keys=[Secret("other"), Secret(KEY)]) as (session, _):
        for format_ in FORMATS:
            body = body_of(format_)
            async with session.post(format_.path, json=body, headers=headers) as response:
                assert response.status == status
                if status == 401:
                    assert (await error_of(response))["type"] == "authentication_error"
        async with session.get("/v1/models", headers=headers) as response:
            assert response.status == status
        async with session.get("/health") as response:
            assert response.status == 200
    assert len(engine.asked) == (3 if status == 200 else 0)


async def test_nothing_secret_in_logs(caplog: pytest.LogCaptureFixture) -> None:
    """Neither keys nor what was asked or answered is ever logged, whatever goes wrong."""
    caplog.set_level(logging.DEBUG)
    private = "PRIVATE-WORDS"
    fault = EngineFault("it broke", status=500)
    engine = Scripted([*said([f"{private}</think>{private}"], end=None), fault])
    headers = {"Authorization": f"Bearer {KEY}"}
    async with served(engine, keys=[Secret(KEY)]) as (session, _):
        for body in (
            body_of(CHAT, text=private),
            body_of(CHAT, text=private, stream=True),
            {"model": private},
            body_of(CHAT, text=private, model=private),
        ):
            async with session.post(CHAT.path, json=body, headers=headers) as response:
                await response.read()
        wrong = {"x-api-key": f"{KEY}-wrong"}
        async with session.post(CHAT.path, json={}, headers=wrong) as response:
            assert KEY not in await response.text()
    text = "\n".join(record.getMessage() for record in caplog.records) + caplog.text
    assert "it broke" in text
    assert private not in text
    assert KEY not in text


@pytest.mark.parametrize(
    "line",
    [f"Authoriza tion: Bearer {KEY}", f"Authorization: Bearer {KEY}\x00", f"{KEY}"],
)
async def test_nothing_secret_in_logs_of_what_is_no_http(
    line: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A request that cannot be read is refused, and not quoted in the log."""
    caplog.set_level(logging.DEBUG)
    async with served(Scripted(), keys=[Secret(KEY)]) as (session, _):
        assert session._base_url is not None
        reader, writer = await asyncio.open_connection("127.0.0.1", session._base_url.port)
        writer.write(f"POST {CHAT.path} HTTP/1.1\r\nHost: a\r\n{line}\r\n\r\n".encode())
        assert (await reader.readline()).split()[1] == b"400"
        writer.close()
        await writer.wait_closed()
    assert any(record.name == "denv.adapter.http" for record in caplog.records)
    assert KEY not in caplog.text


# ---------------------------------------------------------------- errors

FAULTS = [
    (EngineFault("too long", status=400), 400, "invalid_request_error"),
    (EngineFault("too large", status=413), 400, "invalid_request_error"),
    (EngineFault("no key", status=401), 500, "internal_error"),
    (EngineFault("no path", status=404), 500, "internal_error"),
    (EngineFault("busy", status=429), 503, "service_unavailable_error"),
    (EngineFault("loading", status=503, retry=True), 503, "service_unavailable_error"),
    (EngineFault("cannot be reached", retry=True), 503, "service_unavailable_error"),
    (EngineFault("broke", status=500), 500, "internal_error"),
    (EngineFault("makes no sense"), 500, "internal_error"),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("fault", "status", "kind"), FAULTS)
async def test_faults_before_the_first_token(
    fault: EngineFault, status: int, kind: str, stream: bool
) -> None:
    """What goes wrong before anything was sent has a status, streamed or not."""
    async with served(Scripted([fault])) as (session, _):
        for format_ in FORMATS:
            body = body_of(format_, stream=stream)
            async with session.post(format_.path, json=body) as response:
                assert response.status == status
                assert response.content_type == "application/json"
                assert (await error_of(response))["type"] == kind
                assert ("Retry-After" in response.headers) is (status == 503)


CUTS: list[Any] = [
    [EngineFault("broke", status=500)],
    [],
    [Ended("cancelled")],
]


@pytest.mark.parametrize("cut", CUTS, ids=["fault", "broken off", "given up"])
@pytest.mark.parametrize("format_", FORMATS, ids=lambda f: f.name)
async def test_cut_streams(format_: Format, cut: list[Any]) -> None:
    """An answer that breaks is an error when whole; a stream of it never looks finished."""
    steps = [*said(["thought</think>spo", "ken"], end=None), *cut]
    async with served(Scripted(steps)) as (session, _):
        async with session.post(format_.path, json=body_of(format_)) as response:
            assert response.status in {500, 503}
        async with session.post(format_.path, json=body_of(format_, stream=True)) as response:
            assert response.status == 200
            sent = await events_of(response)
    name, last = sent[-1]
    document = json.loads(last)
    assert "[DONE]" not in [data for _, data in sent]
    assert not {"message_stop", "response.completed", "response.incomplete"} & {n for n, _ in sent}
    match format_.name:
        case "chat":
            assert name is None
            assert document["error"]["message"]
        case "responses":
            assert name == document["type"] == "error"
            assert document["sequence_number"] == len(sent) - 1
        case _:
            assert name == document["type"] == "error"
            assert document["error"]["message"]


async def test_paths_and_methods() -> None:
    """Unknown paths and wrong methods are told in the same form."""
    async with served(Scripted()) as (session, _):
        async with session.get("/v2/nothing") as response:
            assert response.status == 404
            await error_of(response)
        async with session.get(CHAT.path) as response:
            assert response.status == 405
            assert "POST" in response.headers["Allow"]
            await error_of(response)


async def test_huge_bodies() -> None:
    """A body beyond the limit is 413; a large one within it is answered."""
    engine = Scripted(DONE)
    async with served(engine, limits={"body-bytes": 200_000}) as (session, _):
        async with session.post(CHAT.path, json=body_of(CHAT, text="x" * 250_000)) as response:
            assert response.status == 413
            await error_of(response)
        async with session.post(CHAT.path, json=body_of(CHAT, text="y" * 150_000)) as response:
            assert response.status == 200
    assert len(engine.asked) == 1
    assert (engine.asked[0][0].text or "").count("y") >= 150_000


# ---------------------------------------------------------------- what it is


async def test_models() -> None:
    """Listed names are shown, others can be asked for, and each says how it is sampled."""
    models = {"flash": "v4.1-flash", "pro": "v4-pro", "old name": "v4-pro"}
    async with served(Scripted(), models=models, listed=["flash", "pro"]) as (session, _):
        async with session.get("/v1/models") as response:
            listed = (await response.json())["data"]
        assert [one["id"] for one in listed] == ["flash", "pro"]
        assert listed[0]["denv"] == {
            "version": "v4.1-flash",
            "context_limit": 4096,
            "thinking": True,
            "sampled": {"thinking": 1.0},
        }
        async with session.get("/v1/models/old%20name") as response:
            assert (await response.json())["id"] == "old name"
        async with session.get("/v1/models/none") as response:
            assert response.status == 404
            await error_of(response)


@pytest.mark.parametrize("model", [FLASH, PRO])
@pytest.mark.parametrize("stream", [False, True])
async def test_says_that_it_samples(model: str, stream: bool) -> None:
    """Answers in thinking mode say at which temperature they are sampled; others say nothing."""
    async with served(Scripted(DONE)) as (session, _):
        for thinking in (True, False):
            body = body_of(CHAT, model=model, thinking=thinking, temperature=0, stream=stream)
            async with session.post(CHAT.path, json=body) as response:
                shown = response.headers.get("denv-sampled")
            assert shown == ("1.0" if thinking else None)


async def test_health() -> None:
    """An engine that does not answer makes the adapter unwell."""
    engine = Scripted()
    async with served(engine) as (session, adapter):
        async with session.get("/health") as response:
            assert response.status == 200
            assert (await response.json())["engine"] == {
                "name": "scripted",
                "version": "1",
                "answers": True,
            }
        engine.fault = EngineFault("gone", retry=True)
        adapter._health = (float("-inf"), False)
        async with session.get("/health") as response:
            assert response.status == 503
            assert (await response.json())["status"] == "failing"
