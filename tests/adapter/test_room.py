"""Time and room: what is slow is let go, what is too much refused, who leaves cancels."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from tests.adapter.asking import CHAT, body_of, error_of, events_of, served
from tests.adapter.scripted import STOP, Scripted, said

DONE = said(["a</think>b"])

# ---------------------------------------------------------------- time and room


@pytest.mark.parametrize("stream", [False, True])
async def test_no_first_token(stream: bool) -> None:
    """An engine that says nothing in time is let go, and its caller told 504."""
    engine = Scripted([60.0, *DONE])
    async with (
        served(engine, limits={"first-token": "50ms"}) as (session, _),
        session.post(CHAT.path, json=body_of(CHAT, stream=stream)) as response,
    ):
        assert response.status == 504
        assert (await error_of(response))["type"] == "timeout_error"
    assert engine.ended == ["cancelled"]


@pytest.mark.parametrize("limit", ["next-token", "total"])
async def test_no_next_token(limit: str) -> None:
    """An engine that stops in the middle is let go, and the stream says that it is cut."""
    engine = Scripted([*said(["a"], end=None), 60.0, STOP])
    async with (
        served(engine, limits={limit: "100ms"}) as (session, _),
        session.post(CHAT.path, json=body_of(CHAT, stream=True)) as response,
    ):
        sent = await events_of(response)
    assert json.loads(sent[-1][1])["error"]["type"] == "timeout_error"
    assert engine.ended == ["cancelled"]


async def test_room() -> None:
    """Beyond those at once and the queue callers are told 429 at once, and 503 after a wait."""
    engine = Scripted([60.0])
    limits = {"concurrency": 1, "queue": 1, "queue-wait": "300ms", "drain": "0s"}
    async with served(engine, limits=limits) as (session, adapter):
        first = asyncio.create_task(session.post(CHAT.path, json=body_of(CHAT)))
        while not adapter.places.taken:
            await asyncio.sleep(0.005)
        second = asyncio.create_task(session.post(CHAT.path, json=body_of(CHAT)))
        while not adapter.places.waiting:
            await asyncio.sleep(0.005)
        async with session.post(CHAT.path, json=body_of(CHAT)) as response:
            assert response.status == 429
            assert response.headers["Retry-After"] == "1"
            assert (await error_of(response))["type"] == "rate_limit_error"
        async with await second as response:
            assert response.status == 503
            assert (await error_of(response))["type"] == "service_unavailable_error"
        first.cancel()
        await asyncio.wait_for(engine.left.wait(), 10)
        while adapter.places.taken:
            await asyncio.sleep(0.005)
    assert len(engine.asked) == 1


# ---------------------------------------------------------------- leaving


@pytest.mark.parametrize("stream", [False, True])
async def test_disconnects_cancel(stream: bool) -> None:
    """A client that goes away cancels its request in the engine at once."""
    engine = Scripted([*said(["a"], end=None), 60.0, *DONE])
    async with served(engine) as (session, adapter):
        body = body_of(CHAT, stream=stream)
        request = asyncio.create_task(session.post(CHAT.path, json=body))
        if stream:
            response = await request
            await response.content.readline()
            response.close()
        else:
            while not engine.asked:
                await asyncio.sleep(0.005)
            request.cancel()
        await asyncio.wait_for(engine.left.wait(), 10)
        assert engine.ended == ["cancelled"]
        while adapter.places.taken:
            await asyncio.sleep(0.005)


async def test_clients_that_do_not_read() -> None:
    """A client that keeps its stream open and reads nothing does not hold the engine for ever."""
    engine = Scripted([*said(["x" * 65536] * 2000)])
    limits = {"next-token": "200ms", "drain": "0s"}
    async with served(engine, limits=limits) as (session, adapter):
        assert session._base_url is not None
        body = json.dumps(body_of(CHAT, thinking=False, stream=True)).encode()
        _, writer = await asyncio.open_connection("127.0.0.1", session._base_url.port)
        head = f"POST {CHAT.path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await asyncio.wait_for(engine.left.wait(), 20)
        assert engine.ended == ["cancelled"]
        while adapter.places.taken:
            await asyncio.sleep(0.005)
        writer.close()


async def test_drain() -> None:
    """At the end what is under way is answered; newcomers are told 503."""
    engine = Scripted([0.5, *DONE])
    adapter: Any
    async with aiohttp.ClientSession() as outside:
        async with served(engine) as (session, adapter):
            base = str(session._base_url)
            under_way = asyncio.create_task(
                outside.post(f"{base.rstrip('/')}{CHAT.path}", json=body_of(CHAT))
            )
            while not adapter.places.taken:
                await asyncio.sleep(0.005)
            adapter.places.closed = True
            async with session.post(CHAT.path, json=body_of(CHAT)) as response:
                assert response.status == 503
            async with session.get("/health") as response:
                assert response.status == 503
                assert (await response.json())["status"] == "ending"
        async with await under_way as response:
            assert response.status == 200
            assert (await response.json())["choices"][0]["message"]["content"] == "b"
    assert engine.ended == ["whole"]


async def test_drain_has_an_end() -> None:
    """What is not answered within the drain's time is cancelled in the engine."""
    engine = Scripted([60.0])
    async with aiohttp.ClientSession() as outside:
        async with served(engine, limits={"drain": "100ms"}) as (session, adapter):
            base = str(session._base_url).rstrip("/")
            late = asyncio.create_task(outside.post(f"{base}{CHAT.path}", json=body_of(CHAT)))
            while not adapter.places.taken:
                await asyncio.sleep(0.005)
        assert engine.ended == ["cancelled"]
        with pytest.raises(aiohttp.ClientError):
            await late
