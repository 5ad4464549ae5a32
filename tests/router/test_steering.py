"""Which replica is asked: weights, retries, ejection, permits and new tables, with stubs."""

from __future__ import annotations

import asyncio
import json
import os
import time

import pytest

from denv import permits
from tests.router.replicas import CHAT, StubReplica, reply, running, says, table_of, until

SECRET = "s" * 32


async def test_weights_are_kept(tmp_path):
    """Each replica gets its share, one of weight 0 nothing."""
    async with StubReplica() as a, StubReplica() as b, StubReplica() as c:
        table = table_of((a.url, 0.25), (b.url, 0.75), (c.url, 0))
        async with running(tmp_path, table) as router:
            for _ in range(40):
                assert (await router.chat())[0] == 200
        assert [len(one.seen) for one in (a, b, c)] == [10, 30, 0]


async def test_a_replica_that_refuses_is_passed_over(tmp_path):
    """A connection that fails is tried at another replica, and no caller notices."""
    async with StubReplica() as a, StubReplica() as b:
        table = table_of((a.url, 0.5), (b.url, 0.5))
        checks = {"every": "1h", "failures": 3}
        async with running(tmp_path, table, health=checks) as router:
            await until(lambda: a.checked == b.checked == 1)
            await a.stop()
            for _ in range(20):
                assert (await router.chat())[0] == 200
            assert len(b.seen) == 20
            assert await router.metric('ejections_total{by="requests",replica="a"}') == 1
            assert await router.metric('retries_total{replica="a",why="connect"}') == 3


async def test_a_503_is_tried_elsewhere_under_a_new_id(tmp_path):
    """A replica that is overloaded is passed over; the other gets the same but for the id."""
    async with StubReplica(says(b"{}", status="503 Busy")) as a, StubReplica() as b:
        async with running(tmp_path, table_of((a.url, 0.5), (b.url, 0.5))) as router:
            for _ in range(4):
                assert (await router.chat())[0] == 200
        ids = [dict(got.headers)["X-Request-Id"] for got in (*a.seen, *b.seen)]
        assert len(set(ids)) == len(ids)
        assert len({got.body for got in (*a.seen, *b.seen)}) == 1


async def test_the_last_503_is_the_answer(tmp_path):
    """Where every replica is overloaded, what the last one says is passed on."""
    busy = says(b'{"busy":1}', status="503 Busy", headers="Retry-After: 9\r\n")
    async with (
        StubReplica(busy) as a,
        StubReplica(busy) as b,
        running(tmp_path, table_of((a.url, 0.5), (b.url, 0.5))) as router,
    ):
        status, body, headers = await router.chat()
        assert (status, body, headers["Retry-After"]) == (503, b'{"busy":1}', "9")
        assert len(a.seen) + len(b.seen) == 2


async def test_nothing_is_sent_again_once_an_answer_has_begun(tmp_path):
    """After the first byte of an answer a failure is passed on, and no other is asked."""

    async def half(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.transport.abort()

    async with StubReplica(half) as a, StubReplica(half) as b:
        async with running(tmp_path, table_of((a.url, 0.5), (b.url, 0.5))) as router:
            with pytest.raises(Exception, match="payload"):
                await router.chat()
        assert len(a.seen) + len(b.seen) == 1


async def test_checks_eject_and_take_back(tmp_path):
    """Checks take a replica out, 503 is said where it was the last, checks bring it back."""
    up = True

    async def checked(got, writer):
        status = "200 OK" if up or "/checked" not in got.start else "500 Down"
        writer.write(reply(b"{}", status=status))

    checks = {"path": "/checked", "every": "20ms", "failures": 2, "passes": 2}
    async with (
        StubReplica(checked) as replica,
        running(tmp_path, table_of((replica.url, 1)), health=checks) as router,
    ):
        up = False
        async with asyncio.timeout(10):
            while (await router.chat())[0] != 503:
                # An answer counts as a check that passed: some checks must fail between two.
                await asyncio.sleep(0.3)
        status, body, headers = await router.chat()
        assert json.loads(body)["error"]["code"] == "no_healthy_replica"
        assert headers["Retry-After"] == "1"
        assert (await router.admin("/health"))[0] == 503
        up = True
        async with asyncio.timeout(10):
            while (status := (await router.chat())[0]) != 200:
                await asyncio.sleep(0.02)
        assert status == 200


def permit_for(replica: str, *, secret: str = SECRET, now: float | None = None) -> dict[str, str]:
    at = time.time() if now is None else now
    word = permits.grant(secret.encode(), replica=replica, now=at, nonce="n" * 12)
    return {permits.HEADER: word}


async def permitted(tmp_path, table, **settings):
    (tmp_path / "permit").write_text(SECRET)
    (tmp_path / "permit").chmod(0o600)
    return running(tmp_path, table, **{"permit-secret": {"key-file": "permit"}}, **settings)


async def test_a_permit_steers_and_leaves_no_trace(tmp_path, caplog):
    """A permitted request goes to its replica, is logged, and looks like any other."""
    caplog.set_level("INFO", logger="denv.router")
    async with StubReplica() as a, StubReplica() as b:
        async with await permitted(tmp_path, table_of((a.url, 1), (b.url, 0))) as router:
            for _ in range(5):
                status, _, headers = await router.chat(headers=permit_for("b"))
                assert (status, headers["denv-replica"]) == (200, "b")
            assert await router.metric('permitted_total{replica="b"}') == 5
            _, _, headers = await router.chat()
            assert "denv-replica" not in headers
            status, _, headers = await router.chat(headers=permit_for("a"))
            assert (status, headers["denv-replica"]) == (200, "a")
        assert (len(a.seen), len(b.seen)) == (2, 5)
        shapes = set()
        for got in (*a.seen, *b.seen):
            fields = dict(got.headers)
            head = got.head.decode().replace(fields["X-Request-Id"], "ID")
            shapes.add((head.replace(fields["Host"], "HOST"), got.body))
        assert len(shapes) == 1
    said = [r.fields for r in caplog.records if r.getMessage() == "permitted"]
    assert [(one["nonce"], one["replica"]) for one in said[:2]] == [("n" * 12, "b")] * 2


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: {permits.HEADER: "dp1:x"}, "form"),
        (lambda: permit_for("a", secret="t" * 32), "signed"),
        (lambda: permit_for("a", now=1000.0), "expired"),
        (lambda: permit_for("elsewhere"), "not in the table"),
    ],
)
async def test_a_bad_permit_is_refused(tmp_path, made, why):
    """A permit that is not valid is 403, and never balanced like any other request."""
    async with StubReplica() as a, await permitted(tmp_path, table_of((a.url, 1))) as router:
        status, body, _ = await router.chat(headers=made())
        assert status == 403
        assert why in json.loads(body)["error"]["message"]
        assert not a.seen


async def test_without_a_secret_there_are_no_permits(tmp_path):
    """A router without a permit secret refuses each permit."""
    async with StubReplica() as a, running(tmp_path, table_of((a.url, 1))) as router:
        assert (await router.chat(headers=permit_for("a")))[0] == 403


async def test_a_permitted_request_stays_at_its_replica(tmp_path):
    """It is asked once, as a replica sees any request once; where that is out it is 503."""

    async def busy(got, writer):
        status = "503 Busy" if got.start.startswith("POST") else "200 OK"
        writer.write(reply(b"{}", status=status))

    async with StubReplica(busy) as a, StubReplica() as b:
        table = table_of((a.url, 0.5), (b.url, 0.5))
        checks = {"every": "1h", "failures": 1}
        async with await permitted(tmp_path, table, health=checks) as router:
            status, _, headers = await router.chat(headers=permit_for("a"))
            assert (status, headers["denv-replica"], len(a.seen)) == (503, "a", 1)
            await a.stop()
            assert (await router.chat(headers=permit_for("a")))[0] in {502, 503}
            assert (await router.chat(headers=permit_for("a")))[0] == 503
        assert not b.seen


async def test_a_new_table_takes_effect_between_requests(tmp_path):
    """While tables change under load every answer is that of its own request, and none is lost."""

    async def slow_echo(got, writer):
        await asyncio.sleep(0.002)
        writer.write(reply(got.body))

    async with StubReplica(slow_echo) as a, StubReplica(slow_echo) as b:
        async with running(tmp_path, table_of((a.url, 1), (b.url, 0))) as router:
            versions = iter(range(2, 1000))
            stop = asyncio.Event()

            async def swap():
                while not stop.is_set():
                    version = next(versions)
                    rows = ((a.url, version % 2), (b.url, 1 - version % 2))
                    router.use(table_of(*rows, version=version))
                    while not stop.is_set() and await router.metric("table_version") != version:
                        await asyncio.sleep(0.02)

            async def ask(worker):
                for n in range(60):
                    token = f"{worker}-{n}"
                    status, body, _ = await router.chat({**CHAT, "token": token})
                    assert (status, json.loads(body)["token"]) == (200, token)
                    await asyncio.sleep(0.02)

            swapping = asyncio.create_task(swap())
            await asyncio.gather(*map(ask, range(8)))
            stop.set()
            await swapping
        assert len(a.seen) + len(b.seen) == 480
        assert a.seen
        assert b.seen


async def test_a_running_request_is_not_touched_by_a_new_table(tmp_path):
    """A replica that is not in the new table finishes what it had."""
    go_on = asyncio.Event()

    async def wait(got, writer):
        await go_on.wait()
        writer.write(reply(got.body))

    async with (
        StubReplica(wait) as a,
        StubReplica() as b,
        running(tmp_path, table_of((a.url, 1))) as router,
    ):
        asking = asyncio.create_task(router.chat())
        await until(lambda: len(a.seen) == 1)
        router.use(table_of((b.url, 1), version=2))
        async with asyncio.timeout(10):
            while b'"table": 2' not in (await router.admin("/health"))[1]:
                await asyncio.sleep(0.05)
        go_on.set()
        assert (await asking)[0] == 200


async def test_a_broken_file_changes_nothing(tmp_path):
    """A file that is no table, or an older one, is said to be so and not used."""
    async with StubReplica() as a, running(tmp_path, table_of((a.url, 1), version=5)) as router:
        for text, why in (
            (b"{", "no strict JSON"),
            (table_of((a.url, 0), version=4).to_json(), "older"),
            (table_of((a.url, -1), version=9).to_json(), "from 0 to 1"),
            (table_of((a.url, 1.5), version=9).to_json(), "from 0 to 1"),
            (table_of((a.url, 1), version=2**64).to_json(), "the version is not from 0"),
            (_changed(a.url, '"replica": "a"', '"replica": ""'), "no name of a replica"),
            (_changed(a.url, '"weight": 1', f'"weight": {10**400}'), "beyond measure"),
        ):
            (tmp_path / "weights.json").write_bytes(text)
            async with asyncio.timeout(10):
                while why not in (said := (await router.admin("/health"))[1].decode()):
                    await asyncio.sleep(0.05)
            assert '"table": 5' in said
            assert (await router.chat())[0] == 200
        assert await router.metric("table_faults_total") == 6


async def test_what_is_no_file_holds_nothing_up(tmp_path):
    """A pipe or a folder in the table's place is told, and requests are answered as before."""
    async with StubReplica() as a, running(tmp_path, table_of((a.url, 1), version=5)) as router:
        file = tmp_path / "weights.json"
        for put in (os.mkfifo, os.mkdir):
            file.unlink()
            put(file)
            async with asyncio.timeout(10):
                while "it is no regular file" not in (await router.admin("/health"))[1].decode():
                    await asyncio.sleep(0.05)
            assert (await router.chat())[0] == 200
            if file.is_dir():
                file.rmdir()
        file.write_bytes(table_of((a.url, 1), version=6).to_json())
        async with asyncio.timeout(10):
            while b'"table": 6' not in (await router.admin("/health"))[1]:
                await asyncio.sleep(0.05)


def _changed(url: str, old: str, new: str) -> bytes:
    """Write a newer table in which something stands differently."""
    text = table_of((url, 1), version=9).to_json().decode()
    assert old in text
    return text.replace(old, new).encode()
