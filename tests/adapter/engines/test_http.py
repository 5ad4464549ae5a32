"""Faults of the wire, by a stub: each is an EngineFault with its status, never an empty text."""

from __future__ import annotations

import asyncio
import json
import socket

import aiohttp
import pytest

from denv.adapter.engines import http as module
from denv.adapter.engines.http import EngineHttp
from denv.adapter.engines.llama_cpp import LlamaCpp
from denv.adapter.engines.protocol import EngineFault, Prompt, Sampling, Token
from denv.records import Secret
from tests.adapter.engines.stub import Stub, sse, stubbed, taken

EVENT = {
    "content": "Hi",
    "tokens": [5],
    "stop": False,
    "tokens_predicted": 1,
    "tokens_evaluated": 4,
}


async def fault(stub: Stub) -> EngineFault:
    """Complete, and give the fault that it ends with."""
    async with stubbed(stub) as http:
        with pytest.raises(EngineFault) as caught:
            await taken(LlamaCpp(http).complete(Prompt(ids=(1,)), Sampling(4)))
    return caught.value


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def test_nobody_listens():
    """A refused connection may be tried again; the message names no host."""
    http = EngineHttp(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(EngineFault, match="cannot be connected to") as caught:
        await http.get("/props")
    await http.close()
    assert (caught.value.status, caught.value.retry) == (None, True)
    assert "127.0.0.1" not in caught.value.message


@pytest.mark.parametrize(
    ("status", "retry"), [(400, False), (401, False), (404, False), (429, True), (500, False),
                          (502, True), (503, True)],
)  # fmt: skip
async def test_refusals(status, retry):
    """A refusal keeps its status and the engine's own words."""
    body = json.dumps({"error": {"message": "too long", "type": "x"}}).encode()
    found = await fault(Stub({"/completion": (status, body)}))
    assert (found.status, found.retry, found.message) == (status, retry, "too long")


async def test_a_refusal_that_is_no_json():
    """A page of a proxy between is quoted, and cut."""
    found = await fault(Stub({"/completion": (502, b"<html>" + b"x" * 5000)}))
    assert (found.status, found.retry) == (502, True)
    assert found.message.startswith("<html>")
    assert len(found.message) < 250


async def test_an_empty_refusal():
    """A refusal without a word says its status."""
    assert (await fault(Stub({"/completion": (503, b"")}))).message == "status 503"


async def test_an_error_in_the_stream():
    """An error that comes after the first token ends the completion."""
    late = {"error": {"code": 500, "message": "out of memory"}}
    found = await fault(Stub({"/completion": sse(EVENT, late)}))
    assert (found.status, found.message) == (500, "out of memory")


async def test_an_error_event():
    """An error may be an event of its own kind."""
    stream = b'error: {"code": 503, "message": "loading"}\n\n'
    found = await fault(Stub({"/completion": stream}))
    assert (found.status, found.retry, found.message) == (503, True, "loading")


async def test_a_stream_that_is_cut():
    """A connection that breaks in the middle may be tried again, after what came of it."""
    stub = Stub({"/completion": sse(EVENT, done=False)}, cut=True)
    async with stubbed(stub) as http:
        given = LlamaCpp(http).complete(Prompt(ids=(1,)), Sampling(4))
        assert await anext(given) == Token("Hi", b"Hi", id=5)
        with pytest.raises(EngineFault) as caught:
            await anext(given)
    assert caught.value.retry


async def test_events_that_are_no_json():
    """What is no JSON is a fault that shows it."""
    found = await fault(Stub({"/completion": b"data: {oops\n\n"}))
    assert "not JSON: {oops" in found.message


async def test_json_instead_of_a_stream():
    """A whole answer where a stream was asked for is read as its one document."""
    found = await fault(Stub({"/completion": {"error": {"message": "no", "code": 400}}}))
    assert (found.status, found.message) == (400, "no")


async def test_a_redirect_is_not_followed():
    """A key must not follow a redirect to another host."""
    found = await fault(Stub({"/completion": (302, b"")}))
    assert found.status == 302


async def test_events_are_bounded(monkeypatch):
    """An event without an end does not fill the memory."""
    monkeypatch.setattr(module, "MAX_EVENT_BYTES", 1000)
    found = await fault(Stub({"/completion": b"data: " + b"x" * 5000}))
    assert "larger than 1000 bytes" in found.message


async def test_bodies_are_bounded(monkeypatch):
    """A body without an end does not fill the memory."""
    monkeypatch.setattr(module, "MAX_BODY_BYTES", 1000)
    async with stubbed(Stub({"/props": {"x": "y" * 5000}})) as http:
        with pytest.raises(EngineFault, match="larger than 1000 bytes"):
            await http.get("/props")


async def test_an_engine_that_does_not_answer_in_time(monkeypatch):
    """A short question is not waited for without end."""
    monkeypatch.setattr(module, "_ASK", aiohttp.ClientTimeout(total=0.2))
    async with stubbed(Stub({"/props": b""}, open=True)) as http:
        with pytest.raises(EngineFault, match="in time") as caught:
            await http.get("/props")
    assert caught.value.retry


async def test_the_key_is_sent_as_a_bearer_token():
    """An engine's own key goes with each request."""
    stub = Stub({"/props": {}})
    async with stubbed(stub) as plain:
        http = EngineHttp(plain._url, key=Secret("k-1"))
        await http.get("/props")
        await http.close()
    assert stub.headers[0]["Authorization"] == "Bearer k-1"


async def test_each_request_has_its_own_connection():
    """No connection is used twice, so that none is stale."""
    stub = Stub({"/props": {}})
    async with stubbed(stub) as http:
        await http.get("/props")
        await http.get("/props")
        assert http._session is not None
        assert http._session.connector is not None
        assert http._session.connector.force_close


@pytest.mark.parametrize("how", ["closed", "cancelled"])
async def test_leaving_closes_the_connection_at_once(how):
    """Closing the generator, or cancelling its task, reaches the engine as a closed connection."""
    stub = Stub({"/completion": sse(EVENT, done=False)}, open=True)
    async with stubbed(stub) as http:
        given = LlamaCpp(http).complete(Prompt(ids=(1,)), Sampling(4))
        await anext(given)
        if how == "closed":
            await given.aclose()
        else:
            task = asyncio.create_task(taken(given))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        async with asyncio.timeout(10):
            await stub.left.wait()


async def test_a_stop_string_closes_the_connection():
    """Where a stop string is found the engine need not go on."""
    stub = Stub({"/completion": sse(EVENT, done=False)}, open=True)
    async with stubbed(stub) as http:
        await taken(LlamaCpp(http).complete(Prompt(ids=(1,)), Sampling(4, stop=("i",))))
        async with asyncio.timeout(10):
            await stub.left.wait()
