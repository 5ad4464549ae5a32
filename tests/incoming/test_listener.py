"""How long callers may take, and how many there may be, on real sockets."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

import pytest
from aiohttp import web

from denv.incoming import Bounds, Listener, listener, room_for

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
QUICK = 0.2


async def answer(request: web.BaseRequest) -> web.Response:
    if request.path == "/large":
        return web.Response(body=bytes(32_000_000))
    return web.Response(text=(await request.read()).decode() or "well")


def unreadable(_: web.BaseRequest, status: int) -> web.Response:
    response = web.Response(status=status, text="no")
    response.force_close()
    return response


@asynccontextmanager
async def listening(*, connections: int = 100, head_s: float = QUICK) -> AsyncIterator[int]:
    """Listen, and give the port."""
    server = Listener(
        answer,
        unreadable=unreadable,
        logger=logging.getLogger("tests.silent"),
        bounds=Bounds(connections, head_s),
    )
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def dribble(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Send a byte now and then, until the other side has had enough."""
    for byte in data:
        writer.write(bytes([byte]))
        await asyncio.sleep(QUICK / 4)


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    writer.write(GET)
    return (await reader.readuntil(b"\r\n\r\n")) + await reader.readexactly(4)


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await asyncio.wait_for(reader.read(), 5) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("first", [b"", GET])
async def test_a_head_that_dribbles_is_ended(first):
    """Byte by byte, on a new connection or a kept one, it is 408, and the connection ends."""
    async with listening() as port, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        if first:
            assert await ask(reader, writer)
        sending = asyncio.create_task(dribble(writer, b"GET / HTTP/1.1\r\nHost: " + b"a" * 500))
        said = await reader.read()
        assert said.startswith(b"HTTP/1.0 408 ")
        assert said.endswith(b"no")
        sending.cancel()
        writer.close()


async def test_a_head_that_stops_is_ended():
    """One byte and then nothing is a head that does not come."""
    async with listening() as port, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"P")
        assert (await reader.read()).startswith(b"HTTP/1.0 408 ")
        writer.close()


@pytest.mark.parametrize("between", [b"", b"\r\n", b"\r\n\r\n"])
async def test_an_idle_connection_is_kept(between):
    """A time without a request is no slow head, nor are empty lines after a body."""
    async with listening() as port, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            assert (await ask(reader, writer)).endswith(b"well")
            writer.write(between)
            await asyncio.sleep(2 * QUICK)
        writer.close()


async def test_a_head_in_two_pieces_in_time_is_answered():
    """The bound is for a head alone: neither its body nor its answer has it."""
    async with listening() as port, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nConte")
        await asyncio.sleep(QUICK / 4)
        writer.write(b"nt-Length: 10\r\n\r\n")
        await dribble(writer, b"0123456789")
        assert (await reader.readuntil(b"0123456789")).startswith(b"HTTP/1.1 200 ")
        writer.close()


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket"])
async def test_an_upgrade_that_is_offered_ends_the_connection(protocol):
    """The caller hears that it is not kept, and does not wait for an answer to its next request."""
    async with listening() as port, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        offer = b"Upgrade: " + protocol + b"\r\nConnection: Upgrade\r\n\r\n"
        writer.write(GET.replace(b"\r\n\r\n", b"\r\n" + offer) + GET)
        said = await reader.read()
        assert said.startswith(b"HTTP/1.1 200 ")
        assert b"\r\nConnection: close\r\n" in said
        assert said.count(b"HTTP/1.1 ") == 1
        writer.close()


@pytest.mark.parametrize("coding", [b"gzip, chunked", b"identity, chunked", b"chunked, identity"])
async def test_other_transfer_codings_are_refused(coding):
    """What another server may read in another way is not read at all."""
    async with listening() as port, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + coding
        writer.write(head + b"\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + GET)
        said = await reader.read()
        assert said.split(b" ")[1] == b"400"
        assert said.count(b"HTTP/1.") == 1
        writer.close()


async def test_those_that_only_stand_open_make_room():
    """Beyond the bound the oldest connection without a request is closed for a new one."""
    async with listening(connections=3, head_s=60) as port, asyncio.timeout(5):
        open_ = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        assert (await ask(*open_[0])).endswith(b"well")
        more = await asyncio.open_connection("127.0.0.1", port)
        assert (await ask(*more)).endswith(b"well")
        assert await is_closed(open_[0][0])
        assert (await ask(*open_[1])).endswith(b"well")
        assert (await ask(*open_[2])).endswith(b"well")
        for _, writer in [*open_, more]:
            writer.close()


async def test_a_flood_of_open_connections_keeps_nobody_out():
    """Whoever asks at once is answered, however many others open connections and wait."""
    async with listening(connections=20, head_s=60) as port, asyncio.timeout(8):
        flood = [await asyncio.open_connection("127.0.0.1", port) for _ in range(200)]
        for _, writer in flood:
            writer.write(b"GET / HT")
        for _ in range(5):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert (await ask(reader, writer)).endswith(b"well")
            writer.close()
        for _, writer in flood:
            writer.close()


async def test_requests_that_run_are_not_ended_for_others():
    """Where all connections have a request, the new one is closed."""
    async with listening(connections=2) as port, asyncio.timeout(5):
        open_ = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        for _, writer in open_:
            writer.write(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1")
        await asyncio.sleep(0.1)
        reader, refused = await asyncio.open_connection("127.0.0.1", port)
        assert await is_closed(reader)
        refused.close()
        for own, writer in open_:
            writer.write(b"2")
            assert (await own.readuntil(b"\r\n\r\n12")).startswith(b"HTTP/1.1 200 ")
            writer.close()


@pytest.mark.parametrize("kept", [b"", b"Connection: close\r\n"])
async def test_who_does_not_read_is_not_waited_for(monkeypatch, kept):
    """An answer of which nothing is read for a time is cut."""
    monkeypatch.setattr(listener, "UNREAD_S", QUICK)
    async with listening() as port, asyncio.timeout(8):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        reading = cast(asyncio.ReadTransport, writer.transport)
        reading.pause_reading()
        writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\n" + kept + b"\r\n")
        await asyncio.sleep(4 * QUICK)
        reading.resume_reading()
        with suppress(ConnectionResetError):
            assert len(await reader.read()) < 32_000_000
        writer.close()


async def test_who_reads_slowly_gets_all(monkeypatch):
    """As long as something is read, the rest is kept."""
    monkeypatch.setattr(listener, "UNREAD_S", QUICK)
    async with listening() as port, asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        got = 0
        while piece := await reader.read(2_000_000):
            got += len(piece)
            await asyncio.sleep(QUICK / 20)
        assert got == 32_000_000
        writer.close()


@pytest.mark.parametrize(
    ("limits", "raised", "room"),
    [
        ((1024, 1_048_576), 4096 * 2 + 128, 4096),
        ((1024, 1024), 1024, 448),
        ((100_000, 100_000), None, 4096),
        ((16, 16), 16, 1),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), None, 4096),
    ],
)
def test_there_is_room_for_as_many_as_files(monkeypatch, limits, raised, room):
    """Each connection may need a second one to whoever answers; both are files."""
    made = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: made.append(both))
    assert room_for(4096) == room
    assert made == ([] if raised is None else [(raised, limits[1])])


async def test_a_drain_takes_its_time_once():
    """What does not end by itself is cut when the time is over, not after as long again."""
    begun, ended = asyncio.Event(), []

    async def endless(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        begun.set()
        try:
            while True:
                await response.write(b"x")
                await asyncio.sleep(0.01)
        finally:
            ended.append(asyncio.get_running_loop().time())

    server = Listener(
        endless,
        unreadable=unreadable,
        logger=logging.getLogger("tests.silent"),
        bounds=Bounds(100, QUICK),
    )
    runner = web.ServerRunner(server, shutdown_timeout=3.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    _, writer = await asyncio.open_connection("127.0.0.1", runner.addresses[0][1])
    writer.write(GET)
    await begun.wait()
    started = asyncio.get_running_loop().time()
    await runner.cleanup()
    assert 3.0 <= ended[0] - started < 5.0
    writer.close()
