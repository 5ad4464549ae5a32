"""What passes the router and what does not, with stub replicas."""

from __future__ import annotations

import asyncio
import gzip
import json

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yarl import URL

from denv.router.rebuild import Target, rebuild
from denv.router.routes import find
from tests.router.replicas import CHAT, StubReplica, running, says, table_of, until

ORDER = ["Host", "User-Agent", "Accept", "Content-Type", "X-Request-Id", "Content-Length"]


async def test_a_request_is_made_anew(tmp_path):
    """Of the caller's request only the call and the body's content reach the replica."""
    async with StubReplica() as replica, running(tmp_path, table_of((replica.url, 1))) as router:
        body = b'{ "model":"m", "user":"jo", "temperature":0.70, "messages":[] }'
        headers = {"traceparent": "00-1", "x-tenant": "t", "Cookie": "c=1", "User-Agent": "me"}
        status, _, _ = await router.chat(body, headers=headers, path="chat/completions?tag=t")
        assert status == 200
        (got,) = replica.seen
        assert got.start == "POST /v1/chat/completions HTTP/1.1"
        assert [name for name, _ in got.headers] == ORDER
        assert dict(got.headers)["User-Agent"] == "denv-router"
        assert got.body == b'{"model":"m","temperature":0.7,"messages":[]}'


HEADERS = st.dictionaries(
    st.from_regex(r"[Xx]-[a-z]{1,12}|traceparent|Cookie|User-Agent|Accept|Origin", fullmatch=True),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30),
    max_size=6,
)


async def test_two_callers_become_one(tmp_path):
    """Whatever headers, spaces and escapes come, what a replica gets differs by the id alone."""
    loop = asyncio.get_running_loop()
    async with StubReplica() as replica, running(tmp_path, table_of((replica.url, 1))) as router:

        @settings(max_examples=40, suppress_health_check=list(HealthCheck))
        @given(HEADERS, st.sampled_from([None, 1, 4]), st.booleans())
        def ask(headers, indent, escaped):
            fields = {**CHAT, "stop": ["é"], "temperature": 0.5}
            body = json.dumps(fields, indent=indent, ensure_ascii=escaped).encode()
            asked = asyncio.run_coroutine_threadsafe(router.chat(body, headers=headers), loop)
            assert asked.result()[0] == 200

        await asyncio.to_thread(ask)
        seen = set()
        ids = set()
        for got in replica.seen:
            request_id = dict(got.headers)["X-Request-Id"]
            assert len(request_id) == 32
            ids.add(request_id)
            seen.add((got.head.replace(request_id.encode(), b"ID"), got.body))
        assert len(seen) == 1
        assert len(ids) == len(replica.seen) > 20


async def test_a_stream_passes_piece_by_piece(tmp_path):
    """Each piece reaches the caller before the next one is written, and the bytes are the same."""
    go_on = asyncio.Event()
    pieces = [b'data: {"a":1}\n\n', b'data: {"b":2}\n\n', b"data: [DONE]\n\n"]

    async def stream(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        writer.write(b"X-Served-By: b\r\nSet-Cookie: c\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in pieces:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await go_on.wait()
            go_on.clear()
        writer.write(b"0\r\n\r\n")

    async with (
        StubReplica(stream) as replica,
        running(tmp_path, table_of((replica.url, 1))) as router,
        router.session.post(f"{router.url}/chat/completions", json=CHAT) as response,
    ):
        assert response.headers["Content-Type"] == "text/event-stream"
        assert not {"X-Served-By", "Set-Cookie"} & set(response.headers)
        for piece in pieces:
            assert await response.content.readany() == piece
            go_on.set()
        assert await response.content.read() == b""


@pytest.mark.parametrize("status", ["400 Bad Request", "429 Too Many Requests", "500 Oh", "502 No"])
async def test_a_replicas_error_passes_as_it_is(tmp_path, status):
    """Status, body and Retry-After of an error are the replica's own, and it is asked once."""
    answer = says(b'{"error":"e"}', status=status, headers="Retry-After: 7\r\nServer: hidden\r\n")
    async with StubReplica(answer) as replica, running(tmp_path, table_of((replica.url, 1))) as r:
        got, body, headers = await r.chat()
        assert (got, body) == (int(status[:3]), b'{"error":"e"}')
        assert (headers["Retry-After"], headers["Server"]) == ("7", "denv-router")
        assert len(replica.seen) == 1


@pytest.mark.parametrize(
    ("path", "form"),
    [("completions", "x-request-id"), ("responses", "x-request-id"), ("messages", "request-id")],
)
async def test_all_formats_are_passed(tmp_path, path, form):
    """Each call goes to the same path; Messages carries the version that its API needs."""
    async with StubReplica() as replica, running(tmp_path, table_of((replica.url, 1))) as router:
        status, _, headers = await router.chat(path=path)
        assert status == 200
        assert form in headers
        assert replica.seen[0].start == f"POST /v1/{path} HTTP/1.1"
        assert ("anthropic-version" in dict(replica.seen[0].headers)) is (path == "messages")


async def test_models_are_asked_for(tmp_path):
    """The list and one model are passed on, an id in one form however it is escaped."""
    async with StubReplica() as replica, running(tmp_path, table_of((replica.url, 1))) as router:
        for path in ("models", "models/org%2Fa%2db?x=1", "models/org/a-b"):
            async with router.session.get(URL(f"{router.url}/{path}", encoded=True)) as response:
                assert response.status == 200
        starts = {got.start for got in replica.seen}
        assert starts == {"GET /v1/models/org/a-b HTTP/1.1"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "embeddings", 404),
        ("GET", "chat/completions", 405),
        ("POST", "models", 405),
        ("GET", "models/../../admin", 404),
        ("GET", "models/%2e%2e/x", 404),
        ("GET", "models/%0d%0aX:1", 404),
    ],
)
async def test_other_calls_are_refused_in_the_apis_form(tmp_path, method, path, status):
    """What is no call of the API never reaches a replica."""
    async with StubReplica() as replica, running(tmp_path, table_of((replica.url, 1))) as router:
        url = URL(f"{router.url}/{path}", encoded=True)
        async with router.session.request(method, url) as response:
            assert response.status == status
            error = (await response.json())["error"]
            assert set(error) == {"message", "type", "param", "code"}
        assert not replica.seen


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b'{"a":1,"a":2}', 400), (b"[1]", 400), (b'{"a":"' + b"x" * 3000 + b'"}', 413)],
)
async def test_bad_bodies_are_refused(tmp_path, body, status):
    """No half, doubled or too large body reaches a replica; Messages has its own form of error."""
    async with (
        StubReplica() as replica,
        running(tmp_path, table_of((replica.url, 1)), limits={"body": 2048}) as router,
    ):
        assert (await router.chat(body))[0] == status
        got, said, _ = await router.chat(body, path="messages")
        assert got == status
        assert json.loads(said)["type"] == "error"
        assert not replica.seen


async def test_a_body_in_pieces_and_packed(tmp_path):
    """A body may come chunked, or packed; what is too large once unpacked is refused."""

    async def pieces():
        for piece in (b'{"model"', b":", b'"m"}'):
            yield piece
            await asyncio.sleep(0.01)

    async with (
        StubReplica() as replica,
        running(tmp_path, table_of((replica.url, 1)), limits={"body": 2048}) as router,
    ):
        url = f"{router.url}/chat/completions"
        async with router.session.post(url, data=pieces()) as response:
            assert response.status == 200
        packed = {"Content-Encoding": "gzip"}
        assert (await router.chat(gzip.compress(b'{"model":"m"}'), headers=packed))[0] == 200
        bomb = gzip.compress(b'{"a":"' + b"x" * 100_000 + b'"}')
        assert (await router.chat(bomb, headers=packed))[0] == 413
        for broken in (gzip.compress(b"{}")[:-9], b"no gzip", gzip.compress(b"{}") + b"more"):
            assert (await router.chat(broken, headers=packed))[0] == 400
        assert (await router.chat(headers={"Content-Encoding": "br"}))[0] == 415
        assert [got.body for got in replica.seen] == [b'{"model":"m"}'] * 2


async def test_a_caller_that_goes_away_ends_the_request(tmp_path):
    """The replica's connection is closed at once, before an answer and in the middle of one."""
    started = asyncio.Event()

    async def hang(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        started.set()
        await asyncio.sleep(60)

    async def silent(_, writer):
        started.set()
        await asyncio.sleep(60)

    for answering in (hang, silent):
        started.clear()
        async with (
            StubReplica(answering) as replica,
            running(tmp_path, table_of((replica.url, 1))) as router,
        ):
            asking = asyncio.create_task(router.chat())
            await started.wait()
            asking.cancel()
            await until(lambda: replica.dropped == 1)
            assert b'"in_flight": 0' in (await router.admin("/health"))[1]


async def test_a_broken_answer_is_never_taken_for_a_whole_one(tmp_path):
    """A stream that breaks off in the middle ends without its last chunk, and so as an error."""

    async def half(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.transport.abort()

    async with (
        StubReplica(half) as replica,
        running(tmp_path, table_of((replica.url, 1))) as router,
    ):
        with pytest.raises(aiohttp.ClientPayloadError):
            await router.chat()
        assert len(replica.seen) == 1
        assert await router.metric('cut_total{why="cut"}') == 1


async def test_a_credential_goes_only_where_it_may(tmp_path):
    """A key is sent to the host that it was given for, and not to another."""
    key = tmp_path / "key"
    key.write_text("sk-up")
    key.chmod(0o600)
    async with StubReplica() as one, StubReplica() as two:
        entry = {"hosts": [f"http://127.0.0.1:{one.port}"], "key-file": "key"}
        async with running(
            tmp_path, table_of((one.url, 1), (two.url, 1)), upstream={"credentials": [entry]}
        ) as router:
            for _ in range(4):
                assert (await router.chat())[0] == 200
        assert {dict(got.headers).get("Authorization") for got in one.seen} == {"Bearer sk-up"}
        assert {dict(got.headers).get("Authorization") for got in two.seen} == {None}


SAFE = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)


@given(st.dictionaries(SAFE, SAFE | st.integers(), max_size=4))
def test_heads_do_not_depend_on_the_body_but_by_its_length(fields):
    """Two requests of one length have the same head, whatever they hold."""
    route, below = find("POST", "/v1/chat/completions")
    target = Target("http://a:8000/v1", user_agent="u", credential="k")
    body = json.dumps(fields).encode()
    made = rebuild(route, body, below=below, request_id="0" * 32, drop=())
    empty = rebuild(route, b"{}", below=below, request_id="0" * 32, drop=())
    length = f"Content-Length: {len(made.body)}".encode()
    assert target.head(made).replace(length, b"Content-Length: 2") == target.head(empty)
