"""The short way of a POST: what goes out is what the library's session would send."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from denv.client import posting
from denv.client.http import AiohttpTransport
from denv.client.transport import HttpCall
from denv.records import FaultKind
from tests.stubs import StubServer

BODY = b'{"model": "stub", "messages": [{"role": "user", "content": "Hi"}]}'
HEADERS = {"Content-Type": "application/json", "accept": "application/json", "X-A": "ü"}


@pytest.fixture
async def transport():
    """Give a transport and close it."""
    made = AiohttpTransport()
    yield made
    await made.close()


def post(base: str, **options) -> HttpCall:
    """Write a chat call to a base URL."""
    options.setdefault("body", BODY)
    return HttpCall("POST", f"{base}/chat/completions?q=%C3%BC", **options)


async def test_the_request_is_the_one_that_the_session_would_send(transport):
    """Path, body and all headers are those of the library's own client, names apart in case."""
    async with StubServer() as stub:
        call = post(stub.url, headers=HEADERS)
        await transport.send(call)
        async with (
            aiohttp.ClientSession(headers={"Accept-Encoding": "gzip, deflate"}) as session,
            session.post(call.url, data=BODY, headers=HEADERS),
        ):
            ours, theirs = stub.seen
    assert ours.body == theirs.body == BODY
    assert ours.path == theirs.path
    assert _sorted(ours.headers) == _sorted(theirs.headers)


def _sorted(headers) -> list[tuple[str, str]]:
    return sorted((name.lower(), value) for name, value in headers.items())


@pytest.mark.parametrize("value", ["a\r\nX-B: 1", "a\nX-B: 1", "a\rb", "a\0b"])
async def test_a_header_cannot_smuggle_in_another(transport, value):
    """A value with a line break or NUL is refused before anything is sent."""
    async with StubServer() as stub:
        got = await transport.send(post(stub.url, headers={"X-A": value}))
        assert not stub.seen
    assert got.fault.kind is FaultKind.PROTOCOL


async def test_a_large_body_is_sent_whole(transport):
    """What no socket takes at once, here 1 MB, still comes whole."""
    body = b'{"messages": "' + b"x" * 1_000_000 + b'"}'
    async with StubServer() as stub:
        got = await transport.send(post(stub.url, body=body))
        assert got.fault is None
        assert stub.seen[0].body == body


async def test_interim_answers_are_passed_over(transport):
    """The answer is the one after 100 and 103; the connection stays for the next call."""
    asked = 0

    async def serve(reader, writer):
        nonlocal asked
        while head := await reader.readuntil(b"\r\n\r\n"):
            assert head.startswith(b"POST /v1/chat/completions")
            await reader.readexactly(len(BODY))
            asked += 1
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    async def quiet(reader, writer):
        try:
            await serve(reader, writer)
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(quiet, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    async with server:
        got = [await transport.send(post(base)) for _ in range(2)]
        await transport.close()
    assert [(one.status, one.body) for one in got] == [(200, b"{}"), (200, b"{}")]
    assert asked == 2


@pytest.mark.parametrize("tried", [(), ("0.0.",)])
async def test_with_another_release_of_the_library_its_session_asks(transport, monkeypatch, tried):
    """What the library does not document is used only with releases with which it was tried."""
    monkeypatch.setattr(posting, "TRIED", tried)

    async def never(self, *_, **__):
        raise AssertionError("the short way was taken")

    monkeypatch.setattr(posting.PostRoute, "post", never)
    async with StubServer() as stub:
        got = await transport.send(post(stub.url, headers=HEADERS))
    assert got.status == 200


def test_the_pinned_release_is_one_with_which_it_was_tried():
    """The short way is not lost unseen when the pins are renewed."""
    assert posting.is_tried()
