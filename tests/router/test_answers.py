"""What a replica answers that no caller should be given as it is, with stubs."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.router.replicas import StubReplica, running, table_of


def writes(raw: bytes):
    async def answer(_, writer):
        writer.write(raw)

    return answer


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: a\x01b",
        b"HTTP/1.1 200 OK\r\nRetry-After: 1\x7f",
        b"HTTP/1.1 200 OK\r\nContent-Type: a\0b",
        b"HTTP/1.1 200 OK\r\nContent-Type: a\rb",
        b"HTTP/1.1 600 Odd",
        b"HTTP/1.1 999 Odd",
        b"HTTP/1.1 099 Odd",
        b"HTTP/1.1 99 Odd",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x",
    ],
)
async def test_an_answer_that_makes_no_sense_is_502(tmp_path, head):
    """It is told in the API's form, counted for its replica, and asked for once alone."""
    closing = b"" if b"Encoding" in head else b"\r\nContent-Length: 0"
    async with (
        StubReplica(writes(head + closing + b"\r\n\r\n")) as a,
        running(tmp_path, table_of((a.url, 1))) as router,
    ):
        status, body, headers = await router.chat()
        assert (status, json.loads(body)["error"]["code"]) == (502, "upstream_senseless")
        assert "not HTTP that can be passed on" in json.loads(body)["error"]["message"]
        assert headers["Content-Type"] == "application/json"
        assert await router.metric('senseless_total{replica="a"}') == 1
        assert await router.metric('refused_total{client="anonymous",code="upstream_senseless"}')
        assert len(a.seen) == 1


async def test_a_folded_header_is_one_line(tmp_path):
    """Folding over lines is undone, as RFC 9112 (5.2) asks of those in between."""
    folded = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain;\r\n  charset=utf-8\r\n"
    async with (
        StubReplica(writes(folded + b"Content-Length: 2\r\n\r\nok")) as a,
        running(tmp_path, table_of((a.url, 1))) as router,
    ):
        status, body, headers = await router.chat()
        assert (status, body) == (200, b"ok")
        assert headers["Content-Type"].split() == ["text/plain;", "charset=utf-8"]


@pytest.mark.parametrize("host", ["http://example.com", "HTTPS://example.com:8443"])
async def test_a_target_with_a_host_is_a_target(tmp_path, host):
    """A request whose target is absolute is answered as one of its path alone."""
    async with (
        StubReplica() as a,
        running(tmp_path, table_of((a.url, 1))) as router,
    ):
        port = int(router.url.rpartition(":")[2].removesuffix("/v1"))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST {host}/v1/chat/completions?x=1 HTTP/1.1\r\nHost: example.com\r\n"
        writer.write(f"{head}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}".encode())
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
        writer.close()
        assert a.seen[0].start == "POST /v1/chat/completions HTTP/1.1"
