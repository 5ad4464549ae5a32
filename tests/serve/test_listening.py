"""Listening: on a free port, told when taken, patient with nobody who does not speak."""

from __future__ import annotations

import asyncio
import signal
import time

import aiohttp
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

import denv.serve.listening as listening_module
from denv.errors import HarnessError
from denv.serve.listening import MOST_HEAD_BYTES, listening


async def said(request: Request) -> PlainTextResponse:
    await asyncio.sleep(float(request.query_params.get("wait", "0")))
    return PlainTextResponse(f"{request.method} {request.url.path}")


APP = Starlette(routes=[Route("/{rest:path}", said)])


async def spoken(url: str, text: bytes) -> bytes:
    """Say something on a connection, and give all that comes until it is closed."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(text)
    async with asyncio.timeout(20):
        found = await reader.read()
    writer.close()
    return found


async def test_it_answers_without_telling_what_it_is():
    """A free port is taken; no answer names the server, and HEAD has no body."""
    async with listening(APP, host="127.0.0.1", port=0) as url, aiohttp.ClientSession() as session:
        async with session.get(f"{url}/a") as answer:
            assert (answer.status, await answer.text()) == (200, "GET /a")
            assert "Server" not in answer.headers
        text = b"HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        head = await spoken(url, text)
        assert head.startswith(b"HTTP/1.1 200")
        assert head.endswith(b"\r\n\r\n")


async def test_an_address_that_is_taken_is_told():
    """The error names it; so does that of a name that no address has."""
    async with listening(APP, host="127.0.0.1", port=0) as url:
        port = int(url.rpartition(":")[2])
        with pytest.raises(HarnessError, match=rf"127\.0\.0\.1:{port} cannot be listened on"):
            async with listening(APP, host="127.0.0.1", port=port):
                pass
    async with listening(APP, host="127.0.0.1", port=port):
        pass  # which is free again
    with pytest.raises(HarnessError, match=r"192\.0\.2\.1:0 cannot be listened on"):
        async with listening(APP, host="192.0.2.1", port=0):
            pass


async def test_signals_stay_whose_they_were():
    """Handlers of signals are those from before, while it serves and after."""
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    async with listening(APP, host="127.0.0.1", port=0):
        assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


async def test_it_ends_soon_whoever_waits():
    """What is quickly answered is answered at the end; what is not is cut after two seconds."""
    async with aiohttp.ClientSession() as session:
        async with listening(APP, host="127.0.0.1", port=0) as url:
            quick = asyncio.create_task(session.get(f"{url}/?wait=0.5"))
            slow = asyncio.create_task(session.get(f"{url}/?wait=60"))
            await asyncio.sleep(0.3)
            began = time.monotonic()
        assert time.monotonic() - began < 10
        assert (await quick).status == 200
        with pytest.raises(aiohttp.ClientError):
            (await slow).raise_for_status()


async def test_who_says_nothing_or_not_all_is_left(monkeypatch):
    """A connection without a whole head is closed after a while, however often it says a byte."""
    monkeypatch.setattr(listening_module, "HEAD_S", 0.5)
    async with listening(APP, host="127.0.0.1", port=0) as url:
        assert await spoken(url, b"") == b""
        assert await spoken(url, b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ") == b""
        kept = b"GET /?wait=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert (await spoken(url, kept)).startswith(b"HTTP/1.1 200")


async def test_heads_are_bounded():
    """A head that is too large, or none at all, is 400 and the end of the connection."""
    async with listening(APP, host="127.0.0.1", port=0) as url:
        large = b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * (2 * MOST_HEAD_BYTES)
        twice = b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"
        for text in (large, b"nothing of HTTP\r\n\r\n", twice):
            assert (await spoken(url, text)).startswith(b"HTTP/1.1 4")
        end = b"\r\nConnection: close\r\n\r\n"
        for begin in (b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"GET /?", b"GET /"):
            whole = begin + b"a" * MOST_HEAD_BYTES
            whole += end if b"Host" in begin else b" HTTP/1.1\r\nHost: x" + end
            assert (await spoken(url, whole)).startswith(b"HTTP/1.1 400"), begin


async def test_what_does_not_start_is_an_error():
    """An application that breaks down as it starts ends nothing but itself."""

    def broken(_: object) -> object:
        raise RuntimeError("broken")

    with pytest.raises(HarnessError, match="could not be started"):
        async with listening(Starlette(lifespan=broken), host="127.0.0.1", port=0):  # type: ignore[arg-type]
            pass
