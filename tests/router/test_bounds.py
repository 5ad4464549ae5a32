"""Limits, the queue, time-outs and the end of a router, with stubs."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import aiohttp
import pytest

from denv.router import front
from denv.router.rebuild import rebuild
from tests.router.replicas import CHAT, StubReplica, reply, running, table_of, until


class Gated:
    """Answers only once it is let go on."""

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def __call__(self, got, writer):
        await self.open.wait()
        writer.write(reply(got.body))


def key_file(folder: Path, name: str, key: str) -> str:
    (folder / name).write_text(key)
    (folder / name).chmod(0o600)
    return name


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def test_each_key_has_its_own_limits(tmp_path):
    """A client at its limit is told 429 and when to ask again; the others go on."""
    gated = Gated()
    clients = [
        {"name": "one", "key-file": key_file(tmp_path, "one", "k-one"), "concurrency": 1},
        {"name": "two", "key-file": key_file(tmp_path, "two", "k-two"), "rate": 0.001},
    ]
    async with (
        StubReplica(gated) as a,
        running(tmp_path, table_of((a.url, 1)), clients=clients) as router,
    ):
        first = asyncio.create_task(router.chat(headers=bearer("k-one")))
        await until(lambda: len(a.seen) == 1)
        status, body, headers = await router.chat(headers=bearer("k-one"))
        assert (status, headers["Retry-After"]) == (429, "1")
        assert json.loads(body)["error"]["code"] == "concurrency_limit"
        gated.open.set()
        assert (await first)[0] == 200
        assert (await router.chat(headers=bearer("k-one")))[0] == 200
        assert (await router.chat(headers=bearer("k-two")))[0] == 200
        status, body, headers = await router.chat(headers=bearer("k-two"))
        assert (status, int(headers["Retry-After"]) > 900) == (429, True)
        assert (await router.chat())[0] == 401
        assert await router.metric('refused_total{client="two",code="rate_limit"}') == 1


async def test_the_queue_has_a_bound_and_an_order(tmp_path):
    """Beyond the places requests wait in order; beyond the queue they are told 503."""
    gated = Gated()
    limits = {"in-flight": 1, "queue": 2}
    async with StubReplica(gated) as a:
        async with running(tmp_path, table_of((a.url, 1)), limits=limits) as router:
            asked = []
            for n in range(3):
                asked.append(asyncio.create_task(router.chat({**CHAT, "n": n})))
                if n == 0:
                    await until(lambda: len(a.seen) == 1)
                else:
                    async with asyncio.timeout(10):
                        while await router.metric("waiting") < n:
                            await asyncio.sleep(0.01)
            status, body, headers = await router.chat()
            assert (status, headers["Retry-After"]) == (503, "1")
            assert json.loads(body)["error"]["code"] == "queue_full"
            gated.open.set()
            assert [(await one)[0] for one in asked] == [200] * 3
        assert [got.json["n"] for got in a.seen] == [0, 1, 2]


async def test_one_that_waits_and_goes_away_leaves_its_place(tmp_path):
    """A caller that is gone from the queue takes no place from those behind it."""
    gated = Gated()
    limits = {"in-flight": 1, "queue": 5}
    async with (
        StubReplica(gated) as a,
        running(tmp_path, table_of((a.url, 1)), limits=limits) as router,
    ):
        first = asyncio.create_task(router.chat())
        await until(lambda: len(a.seen) == 1)
        gone = asyncio.create_task(router.chat())
        last = asyncio.create_task(router.chat({**CHAT, "last": True}))
        async with asyncio.timeout(10):
            while await router.metric("waiting") < 2:
                await asyncio.sleep(0.01)
        gone.cancel()
        async with asyncio.timeout(10):
            while await router.metric("waiting") > 1:
                await asyncio.sleep(0.01)
        gated.open.set()
        assert (await first)[0] == (await last)[0] == 200
        assert len(a.seen) == 2


@pytest.mark.parametrize(
    ("timeouts", "limits", "status", "code"),
    [
        ({"first-byte": "200ms"}, {}, 504, "upstream_timeout"),
        ({"total": "200ms"}, {}, 504, "total_timeout"),
        ({}, {"in-flight": 1, "queue-timeout": "200ms"}, 503, "queue_timeout"),
    ],
)
async def test_each_wait_has_its_limit(tmp_path, timeouts, limits, status, code):
    """A replica that hangs, a request that lasts, a queue that stands: each is told apart."""
    gated = Gated()
    async with (
        StubReplica(gated) as a,
        running(tmp_path, table_of((a.url, 1)), timeouts=timeouts, limits=limits) as router,
    ):
        holds = None
        if limits:
            holds = asyncio.create_task(router.chat())
            await until(lambda: len(a.seen) == 1)
        got, body, _ = await router.chat()
        assert (got, json.loads(body)["error"]["code"]) == (status, code)
        if holds is None:
            await until(lambda: a.dropped == 1)
        gated.open.set()
        if holds is not None:
            assert (await holds)[0] == 200


async def test_a_body_that_does_not_come_is_not_waited_for(tmp_path):
    """A caller that sends half a body is told 408, and its connection is closed."""
    async with (
        StubReplica() as a,
        running(tmp_path, table_of((a.url, 1)), timeouts={"body": "200ms"}) as router,
    ):
        port = int(router.url.split(":")[2].split("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408")
        writer.close()


async def test_the_time_for_a_body_ends_when_it_has_come(tmp_path, monkeypatch):
    """Making a large body anew may take longer than its coming may: that is not the caller's."""

    def slow(*arguments, **more):
        time.sleep(0.6)
        return rebuild(*arguments, **more)

    monkeypatch.setattr(front, "rebuild", slow)
    large = {**CHAT, "large": "x" * front.LARGE_BODY}
    async with (
        StubReplica() as a,
        running(tmp_path, table_of((a.url, 1)), timeouts={"body": "200ms"}) as router,
    ):
        assert (await router.chat(large))[0] == 200


async def test_a_stream_that_stands_still_is_cut(tmp_path):
    """When no piece comes for the idle time, the answer ends as a broken one."""

    async def stall(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        await asyncio.sleep(60)

    async with (
        StubReplica(stall) as a,
        running(tmp_path, table_of((a.url, 1)), timeouts={"idle": "200ms"}) as router,
    ):
        with pytest.raises(aiohttp.ClientPayloadError):
            await router.chat()
        await until(lambda: a.dropped == 1)
        assert await router.metric('cut_total{why="idle"}') == 1


async def test_a_caller_that_does_not_read_holds_the_replica_back(tmp_path):
    """What a caller does not read stays with the replica, and not in the router's memory."""
    written = 0

    async def flood(got, writer):
        nonlocal written
        if got.start.startswith("GET"):
            writer.write(reply(b"{}"))
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()
            written += 65536

    async with StubReplica(flood) as a, running(tmp_path, table_of((a.url, 1))) as router:
        port = int(router.url.split(":")[2].split("/")[0])
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
        before = -1
        async with asyncio.timeout(20):
            while not written or written != before:
                before = written
                await asyncio.sleep(0.5)
        assert written < 64 * 1024 * 1024
        writer.transport.abort()
        await until(lambda: a.dropped == 1)


async def _listens(url: str) -> bool:
    port = int(url.split(":")[2].split("/", maxsplit=1)[0])
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return False
    writer.close()
    return True


async def test_drain_finishes_what_is_in_flight(tmp_path):
    """Once it is stopped the router takes no more, and ends after the last answer."""
    gated = Gated()
    async with (
        StubReplica(gated) as a,
        running(tmp_path, table_of((a.url, 1)), drain="20s") as router,
    ):
        asking = asyncio.create_task(router.chat())
        await until(lambda: len(a.seen) == 1)
        router.stop.set()
        async with asyncio.timeout(10):
            while await _listens(router.url):
                await asyncio.sleep(0.01)
        status, body = await router.admin("/health")
        assert (status, json.loads(body)["status"]) == (503, "draining")
        assert not asking.done()
        gated.open.set()
        assert (await asking)[0] == 200
        await asyncio.wait_for(asyncio.shield(router.task), 10)


async def test_drain_cuts_what_lasts_too_long(tmp_path):
    """What has not ended within the time of the drain is cut, at the replica too."""
    gated = Gated()
    async with StubReplica(gated) as a:
        async with running(tmp_path, table_of((a.url, 1)), drain="200ms") as router:
            asking = asyncio.create_task(router.chat())
            await until(lambda: len(a.seen) == 1)
            router.stop.set()
            with pytest.raises(aiohttp.ClientError):
                await asking
        await until(lambda: a.dropped == 1)


async def test_connections_are_kept_and_shared(tmp_path):
    """Requests of different callers go out on the same kept connections."""
    clients = [
        {"name": name, "key-file": key_file(tmp_path, name, f"k-{name}")} for name in ("a", "b")
    ]
    async with (
        StubReplica() as a,
        running(tmp_path, table_of((a.url, 1)), clients=clients, health={"every": "1h"}) as router,
    ):
        await until(lambda: a.checked == 1)
        for _ in range(5):
            for name in ("a", "b"):
                assert (await router.chat(headers=bearer(f"k-{name}")))[0] == 200
        assert len(a.opened) == 1
