"""Bodies that are packed, broken, large or never come, and the paths that take them."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from urllib.parse import urlsplit

import pytest

from denv.records import Secret
from tests.adapter.asking import CHAT, FORMATS, MESSAGES, body_of, error_of, served
from tests.adapter.scripted import Scripted, said

DONE = said(["a</think>b"])
KEY = "sk-adapter-0123456789"


async def raw(session, sent: bytes, *, until: bytes = b"") -> bytes:
    """Send bytes, and give what comes until the end, or until something has come."""
    reader, writer = await asyncio.open_connection("127.0.0.1", session._base_url.port)
    writer.write(sent)
    try:
        async with asyncio.timeout(10):
            return await (reader.readuntil(until) if until else reader.read())
    finally:
        writer.close()


@pytest.mark.parametrize(("packing", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_packed_bodies_are_read(packing, pack):
    """A packed request is answered as the plain one is."""
    engine = Scripted(DONE)
    async with served(engine) as (session, _):
        for format_ in FORMATS:
            body = pack(json.dumps(body_of(format_)).encode())
            headers = {"Content-Encoding": packing, "Content-Type": "application/json"}
            async with session.post(format_.path, data=body, headers=headers) as response:
                assert response.status == 200
    assert len(engine.asked) == len(FORMATS)


@pytest.mark.parametrize(
    ("packing", "body", "status"),
    [
        ("gzip", gzip.compress(b"x" * 50_000_000), 413),
        ("gzip", b"no gzip at all", 400),
        ("gzip", gzip.compress(b"{}")[:-3], 400),
        ("gzip", b"", 400),
        ("br", b"{}", 415),
        ("gzip, gzip", b"{}", 415),
    ],
    ids=["bomb", "none", "cut", "empty", "br", "twice"],
)
async def test_packed_bodies_that_are_refused(packing, body, status):
    """What unpacks to too much, not at all, or is packed otherwise is told in the API's form."""
    engine = Scripted()
    async with served(engine, limits={"body-bytes": 100_000}) as (session, _):
        headers = {"Content-Encoding": packing, "Content-Type": "application/json"}
        async with session.post(CHAT.path, data=body, headers=headers) as response:
            assert response.status == status
            assert response.content_type == "application/json"
            await error_of(response)
    assert not engine.asked


async def test_nothing_is_unpacked_or_invited_before_the_key_is_known(monkeypatch):
    """Without a key a packed body is not unpacked, and one that waits to be sent is not invited."""
    unpacked = []
    monkeypatch.setattr("aiohttp.http_parser.DeflateBuffer", lambda *a, **k: unpacked.append(a))
    bomb = gzip.compress(b"x" * 10_000_000)
    engine = Scripted(DONE)
    async with served(engine, keys=[Secret(KEY)]) as (session, _):
        headers = {"Content-Encoding": "gzip"}
        async with session.post(CHAT.path, data=bomb, headers=headers) as response:
            assert response.status == 401
        assert not unpacked
        body = json.dumps(body_of(CHAT)).encode()
        head = f"POST {CHAT.path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n"
        waits = f"{head}Expect: 100-continue\r\nConnection: close\r\n"
        got = await raw(session, f"{waits}\r\n".encode(), until=b"\r\n\r\n")
        assert got.startswith(b"HTTP/1.1 401 ")
        keyed = f"{waits}Authorization: Bearer {KEY}\r\n\r\n".encode()
        assert await raw(session, keyed, until=b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        whole = await raw(session, keyed + body)
        assert whole.count(b"100 Continue") <= 1
        assert b"HTTP/1.1 200 OK" in whole


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense planted\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nX: planted\0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
    ],
    ids=["no-http", "control", "two-lengths"],
)
async def test_what_is_no_http_is_refused_in_the_apis_form(sent):
    """A head that cannot be read is an error like any other, which quotes nothing of it."""
    async with served(Scripted()) as (session, _):
        head, _, body = (await raw(session, sent)).partition(b"\r\n\r\n")
    assert head.split()[1] == b"400"
    assert b"application/json" in head
    assert json.loads(body)["error"]["type"] == "invalid_request_error"
    assert b"planted" not in head + body


async def test_paths_of_the_official_api():
    """DeepSeek's own paths, and targets with a host, lead to the same APIs as those under /v1."""
    engine = Scripted(DONE)
    async with served(engine) as (session, _):
        for path, format_ in (("/chat/completions", CHAT), ("/anthropic/v1/messages", MESSAGES)):
            async with session.post(path, json=body_of(format_)) as response:
                assert response.status == 200
                kind = "chat.completion" if format_ is CHAT else "message"
                document = await response.json()
                assert kind in {document.get("object"), document.get("type")}
        async with session.get("/models") as response:
            assert len((await response.json())["data"]) == 2
        async with session.get("/models/DeepSeek-V4-Pro") as response:
            assert (await response.json())["id"] == "DeepSeek-V4-Pro"
        host = urlsplit(str(session._base_url)).netloc
        target = (
            f"GET http://{host}/v1/models HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        assert (await raw(session, target.encode())).startswith(b"HTTP/1.1 200 ")
