"""What clients and replicas send that is meant to do harm, with stubs."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from urllib.parse import urlsplit

import pytest

from denv.router import front
from denv.router.rebuild import rebuild
from tests.router.replicas import StubReplica, reply, running, table_of


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /v1/models HTTP/1.1\r\nHost: a\r\nX: planted\0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"planted\r\n\r\n",
    ],
    ids=["control", "two-lengths", "no-http"],
)
async def test_what_is_no_http_is_refused_in_the_apis_form(tmp_path, sent):
    """A head that cannot be read is a refusal like any other, which quotes nothing of it."""
    async with (
        StubReplica() as replica,
        running(tmp_path, table_of((replica.url, 1))) as router,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", _port(router.url))
        writer.write(sent)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        assert head.startswith(b"HTTP/1.0 400 ")
        assert b"\r\nServer: denv-router\r\n" in head
        assert json.loads(body)["error"]["code"] == "bad_request"
        assert b"planted" not in body
        assert await router.metric('refused_total{client="",code="bad_request"}') == 1
        assert not replica.seen


@pytest.mark.parametrize("rest", [b"", b"X-More: 1\r\nAuthorization: Bearer a-key-0123456789\r\n"])
async def test_a_body_in_chunks_ends_its_connection(tmp_path, monkeypatch, rest):
    """What stands behind the body is no header of the request that comes next."""
    monkeypatch.setenv("A_KEY", "a-key-0123456789")
    clients = [{"name": "a", "key-env": "A_KEY"}]
    first = (
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n"
        b"Authorization: Bearer a-key-0123456789\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + rest + b"\r\n"
    )
    async with (
        StubReplica() as replica,
        running(tmp_path, table_of((replica.url, 1)), clients=clients) as router,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", _port(router.url))
        writer.write(first + b"GET /v1/models HTTP/1.1\r\nHost: b\r\n\r\n")
        said = await reader.read()
        writer.close()
        assert said.startswith(b"HTTP/1.1 200 ")
        assert b"\r\nConnection: close\r\n" in said
        assert said.count(b"HTTP/1.1 ") == 1
        assert len(replica.seen) == 1


async def test_heads_without_an_answer_are_a_broken_replica(tmp_path):
    """A replica that sends heads of 1xx without end is broken, and keeps nobody waiting."""

    async def flood(_, writer):
        while True:
            writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100)
            await writer.drain()

    async def some(got, writer):
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3 + reply(got.body))

    async with StubReplica(flood) as bad, StubReplica(some) as good:
        async with running(tmp_path, table_of((bad.url, 1))) as router:
            status, body, _ = await router.chat()
            assert (status, json.loads(body)["error"]["code"]) == (502, "upstream_senseless")
        async with running(tmp_path, table_of((good.url, 1), version=2)) as router:
            assert (await router.chat())[0] == 200


async def test_a_large_body_is_made_anew_in_a_thread(tmp_path, monkeypatch):
    """While a body of many numbers is read, the others are answered."""
    others = threading.Event()

    def slow(route, body, **more):
        if len(body) >= front.LARGE_BODY:
            assert others.wait(30)
        return rebuild(route, body, **more)

    monkeypatch.setattr(front, "rebuild", slow)
    large = b'{"a":[' + b"0.5," * (front.LARGE_BODY // 4) + b"1]}"
    async with (
        StubReplica() as replica,
        running(tmp_path, table_of((replica.url, 1))) as router,
    ):
        asked = asyncio.create_task(router.chat(large))
        assert (await router.chat())[0] == 200
        others.set()
        assert (await asked)[:2] == (200, large)
        assert json.loads((await router.admin("/shapes"))[1])["requests"] == 2


async def test_a_body_that_nobody_reads_is_not_unpacked(tmp_path, monkeypatch):
    """A caller without a key has nothing unpacked, however small its packed body is."""
    unpacked = []
    monkeypatch.setattr("aiohttp.http_parser.DeflateBuffer", lambda *a, **k: unpacked.append(a))
    bomb = gzip.compress(b"x" * 10_000_000)
    (tmp_path / "key").write_text("k-one")
    (tmp_path / "key").chmod(0o600)
    async with (
        StubReplica() as replica,
        running(
            tmp_path,
            table_of((replica.url, 1)),
            clients=[{"name": "one", "key-file": "key"}],
        ) as router,
    ):
        assert (await router.chat(bomb, headers={"Content-Encoding": "gzip"}))[0] == 401
        assert not unpacked


def _port(url: str) -> int:
    return urlsplit(url).port or 0


HOST = b"HTTP/1.1\r\nHost: a\r\n"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (b"/v1/%63hat/completions", 404),
        (b"//v1/chat/completions", 404),
        (b"/v1/../v1/chat/completions", 404),
        (b"/v1/chat/completions/", 404),
        (b"/v1/models/%2e%2e/%2e%2e/admin", 404),
        (b"/v1/models/..%5c..%5cadmin", 404),
        (b"/v1/models/a%0d%0aX:%20b", 404),
    ],
)
async def test_a_path_has_one_spelling(tmp_path, path, status):
    """What a replica could read as another path reaches none."""
    async with (
        StubReplica() as replica,
        running(tmp_path, table_of((replica.url, 1)), health={"every": "60s"}) as router,
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", _port(router.url))
        writer.write(b"GET " + path + b" " + HOST + b"Connection: close\r\n\r\n")
        assert int((await reader.read()).split(b" ")[1]) == status
        writer.close()
        assert not replica.seen


@pytest.mark.parametrize("late", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsmuggled!"])
async def test_what_a_replica_says_unasked_is_nobodys_answer(tmp_path, late):
    """A second answer on a connection, at once or later, never reaches the next caller."""

    async def answer(got, writer):
        writer.write(reply(got.body) + late)
        await asyncio.sleep(0.02)
        writer.write(late)

    async with (
        StubReplica(answer) as replica,
        running(tmp_path, table_of((replica.url, 1)), health={"every": "60s"}) as router,
    ):
        for number in range(4):
            status, body, _ = await router.chat(b'{"n":%d}' % number)
            assert (status, body) == (200, b'{"n":%d}' % number)
            await asyncio.sleep(0.06)


async def test_a_redirect_leads_nowhere(tmp_path):
    """Neither the router nor a caller learns where a replica would send it, nor its cookies."""
    away = "Location: http://10.0.0.1/\r\nSet-Cookie: a=b\r\n"
    async with (
        StubReplica(
            lambda got, w: _written(w, reply(b"{}", status="302 Found", headers=away))
        ) as a,
        running(tmp_path, table_of((a.url, 1))) as router,
    ):
        status, _, headers = await router.chat()
        assert status == 302
        assert not {"Location", "Set-Cookie"} & set(headers)
        assert len(a.seen) == 1


async def _written(writer, raw):
    writer.write(raw)
