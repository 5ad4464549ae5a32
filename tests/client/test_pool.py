"""Kept connections over real sockets: no call gets what belongs to another."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time

import pytest

from denv.client import http
from denv.client.http import AiohttpTransport
from denv.client.transport import HttpCall
from denv.records import Endpoint, Timeouts
from denv.runner.arrivals import StreamTransport

LIMITS = Timeouts(connect_s=2, first_byte_s=2, total_s=4)


def answer(text: bytes, status: bytes = b"200 OK") -> bytes:
    """Write an answer."""
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(text), text)


@contextlib.asynccontextmanager
async def serving(respond):
    """Serve each connection with ``respond(number, ask, writer)``; ``ask`` reads a request."""
    taken = []

    async def serve(reader, writer):
        taken.append(writer)
        number = len(taken)

        async def ask(*, whole=True):
            head = await reader.readuntil(b"\r\n\r\n")
            found = re.search(rb"(?i)content-length: (\d+)", head)
            assert found is not None
            length = int(found[1])
            return await reader.readexactly(length) if whole else length

        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await respond(number, ask, writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", taken
        for writer in taken:
            writer.close()


@pytest.fixture(params=["short", "session", "stream"])
async def ask(request, monkeypatch):
    """Give each of the ways of sending a body in turn."""
    monkeypatch.setattr(http, "is_tried", lambda: request.param == "short")
    base = "http://127.0.0.1/v1"
    streamed = request.param == "stream"
    transport = StreamTransport(Endpoint(base)) if streamed else AiohttpTransport(base)

    async def send(url, body):
        return await transport.send(
            HttpCall("POST", url, body=body, streamed=streamed, timeouts=LIMITS)
        )

    yield send
    await transport.close()


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
@pytest.mark.parametrize("size", [3_000_000, 12_000_000], ids=["in-system", "in-library"])
async def test_a_connection_with_an_unsent_body_is_not_used_again(ask, size):
    """Behind a body that nobody reads the next request would never be seen."""

    async def respond(number, ask, writer):
        if number == 1:
            await ask(whole=False)
            writer.write(answer(b"{}", b"429 Too Many Requests"))
            await asyncio.sleep(30)
        writer.write(answer(await ask()))

    async with serving(respond) as (url, taken):
        got = [await ask(url, body) for body in (b"x" * size, b"small")]
    assert [(one.status, one.fault) for one in got] == [(429, None), (200, None)]
    assert got[1].body == b"small"
    assert len(taken) == 2


STALE = answer(b"stale")


@pytest.mark.parametrize(
    ("at_once", "late"),
    [
        (STALE, b""),
        (b"\r\n" + STALE, b""),
        (b"", STALE),
        (b"", STALE[:20]),
        (b"", b"garbage"),
        (STALE[:20], STALE[20:]),
    ],
    ids=["whole", "line-first", "whole-late", "half-late", "garbage-late", "in-two"],
)
async def test_what_was_not_asked_for_is_nobodys_answer(ask, at_once, late):
    """What a server sends unasked is given to no later call, nor does it spoil one."""

    async def respond(_, ask, writer):
        while True:
            writer.write(answer(await ask()) + at_once)
            await asyncio.sleep(0.03)
            writer.write(late)

    async with serving(respond) as (url, taken):
        for text in (b"one", b"two", b"three"):
            got = await ask(url, text)
            assert (got.fault, got.body) == (None, text)
            await asyncio.sleep(0.08)
    assert len(taken) == 3


async def test_what_waits_in_the_socket_is_seen(ask):
    """While this program was busy elsewhere, what has come was not read yet."""

    async def respond(number, ask, writer):
        raw = writer.get_extra_info("socket")
        writer.write(answer(await ask()))
        if number == 1:
            # Written past the loop, in which the test stands still until its next call.
            later.append(lambda: raw._sock.send(answer(b"stale")))
        writer.write(answer(await ask()))

    later: list = []
    async with serving(respond) as (url, taken):
        assert (await ask(url, b"one")).body == b"one"
        later.pop()()
        time.sleep(0.02)
        assert (await ask(url, b"two")).body == b"two"
    assert len(taken) == 2


async def test_a_clean_connection_is_used_again(ask):
    """Nothing is given up without a reason: one connection serves them all."""

    async def respond(_, ask, writer):
        while True:
            writer.write(answer(await ask()))

    async with serving(respond) as (url, taken):
        for size in (5, 300_000, 5):
            got = await ask(url, b"x" * size)
            assert (got.fault, len(got.body)) == (None, size)
            await asyncio.sleep(0.01)
    assert len(taken) == 1
