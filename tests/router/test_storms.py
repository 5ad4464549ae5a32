"""Clients that leave or hardly read, permits shown again, and a collector that is away."""

from __future__ import annotations

import asyncio
import logging
import random
import time

from denv.permits import HEADER, grant
from denv.router.log import LOGGER
from denv.router.settings import Tracing
from denv.router.tracing import Tracer
from tests.router.replicas import StubReplica, reply, running, table_of, until


async def test_clients_that_leave_leave_nothing(tmp_path):
    """Hundreds that go away at any moment keep no place, and no task stays of them."""

    async def slow(got, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        await asyncio.sleep(60)

    dice = random.Random(11)
    request = b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n" + b" " * 18
    request += b"{}"
    async with (
        StubReplica(slow) as a,
        running(tmp_path, table_of((a.url, 1)), limits={"in-flight": 50}) as router,
    ):
        port = int(router.url.rpartition(":")[2].removesuffix("/v1"))

        async def leave():
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request[: dice.choice([20, 70, len(request), len(request)])])
            await asyncio.sleep(dice.random() / 2)
            writer.transport.abort()

        await asyncio.gather(*(leave() for _ in range(300)))
        a.answering = lambda got, writer: _at_once(writer)
        assert (await router.chat())[0] == 200
        await until(lambda: _connections() <= 2, within_s=30)  # this one, and the admin's
        assert await router.metric("in_flight") == 0
        assert await router.metric('replica_in_flight{replica="a"}') == 0
        assert await router.metric("waiting") == 0


def _connections() -> int:
    tasks = [str(task.get_coro()) for task in asyncio.all_tasks()]
    return sum("RequestHandler.start" in task for task in tasks)


async def _at_once(writer):
    writer.write(reply(b"{}"))


async def test_a_permit_that_is_shown_again_is_bound_as_before(tmp_path):
    """Within its time it leads to its replica alone, needs the key, and is then refused."""
    (tmp_path / "secret").write_text("s" * 32)
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "key").write_text("k-one")
    (tmp_path / "key").chmod(0o600)
    async with StubReplica() as a, StubReplica() as b:
        async with running(
            tmp_path,
            table_of((a.url, 1), (b.url, 0)),
            clients=[{"name": "one", "key-file": "key"}],
            **{"permit-secret": {"key-file": "secret"}},
        ) as router:
            permit = grant(b"s" * 32, replica="b", now=time.time(), nonce="n" * 12, lasts_s=2.0)
            keyed = {"Authorization": "Bearer k-one", HEADER: permit}
            assert (await router.chat(headers=keyed))[0] == 200
            assert (await router.chat(headers=keyed))[0] == 200
            assert (await router.chat(headers={HEADER: permit}))[0] == 401
            await asyncio.sleep(2.1)
            assert (await router.chat(headers=keyed))[0] == 403
        assert (len(a.seen), len(b.seen)) == (0, 2)


async def test_a_collector_that_is_away_holds_nothing_up(tmp_path, caplog):
    """Requests are answered, the router ends soon, and the log says it in the log's own form."""
    async with StubReplica() as a:
        tracer = Tracer(Tracing.model_validate({"endpoint": "http://127.0.0.1:9/v1/traces"}))
        async with running(tmp_path, table_of((a.url, 1)), tracer=tracer) as router:
            began = time.monotonic()
            for _ in range(50):
                assert (await router.chat())[0] == 200
            assert time.monotonic() - began < 10
            ending = time.monotonic()
        assert time.monotonic() - ending < 15
    told = [record for record in caplog.records if "Connection refused" in str(vars(record))]
    assert LOGGER.name in {record.name for record in told}
    # pytest listens at a logger that hands nothing on, too, once another test has made one of it.
    assert logging.getLogger("opentelemetry").propagate is False
