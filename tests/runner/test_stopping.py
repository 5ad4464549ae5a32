"""A run that is stopped: what is in flight is paid for, so it is waited for and journaled."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import suppress

import pytest

from denv.records import Endpoint
from denv.runner import Settings, drive, open_shards, run_parity, run_shard
from tests import suites
from tests.stubs import StubServer, answers

SLOTS = 3


class Gate:
    """A handler that holds every answer to a case until it is opened."""

    def __init__(self):
        self.asked = []
        self.full, self.open = asyncio.Event(), asyncio.Event()

    async def _answer(self, request):
        content = request["messages"][-1]["content"]
        if content.startswith("number"):
            self.asked.append(content)
            if len(self.asked) == SLOTS:
                self.full.set()
            await self.open.wait()
        return answers.completion(content)

    def __call__(self, request, n):
        return self._answer(request)


def side(stub):
    """Give a side with few slots."""
    return Endpoint(url=stub.url, model="m", concurrency=SLOTS)


async def test_what_is_in_flight_is_journaled_and_nothing_more_is_sent(tmp_path, store, serve):
    """Stopped with 3 of 20 in flight: these 3 are kept, asked once, and no fourth is sent."""
    gate = Gate()
    stage, reference = await serve(gate), await serve()
    suite = suites.load(tmp_path, suites.numbered(20))
    given = {"stage": side(stage), "reference": side(reference), "store": store}
    stop = asyncio.Event()
    running = asyncio.create_task(run_parity(suite, **given, stop=stop))
    await gate.full.wait()
    stop.set()
    await asyncio.sleep(0.1)
    assert not running.done()
    gate.open.set()
    report = await asyncio.wait_for(running, 5)
    assert report.head["verdict"] == "cancelled"
    kept = store.answers(report.head["run"], 0, 19)
    assert len([key for key in kept if key.side == "stage"]) == len(gate.asked) == SLOTS
    again = await run_parity(suite, **given, resume=report.head["run"])
    assert again.head["verdict"] == "pass"
    assert sorted(gate.asked) == sorted({f"number {n};" for n in range(20)})


async def test_what_does_not_come_is_given_up(tmp_path, store, serve, monkeypatch):
    """A server that never answers holds nobody up: after the time of grace the run ends."""
    monkeypatch.setattr(drive, "GRACE_S", 0.2)
    gate = Gate()
    stage, reference = await serve(gate), await serve()
    suite = suites.load(tmp_path, suites.numbered(20))
    stop = asyncio.Event()
    running = asyncio.create_task(
        run_parity(suite, stage=side(stage), reference=side(reference), store=store, stop=stop)
    )
    await gate.full.wait()
    began = time.monotonic()
    stop.set()
    assert (await running).head["verdict"] == "cancelled"
    assert time.monotonic() - began < 3
    gate.open.set()


async def test_a_store_that_fails_meanwhile_is_told(tmp_path, store, serve, monkeypatch):
    """An answer in flight that cannot be journaled is no cancelled run but an error."""
    gate = Gate()
    stage, reference = await serve(gate), await serve()
    suite = suites.load(tmp_path, suites.numbered(20))
    given = {"stage": side(stage), "reference": side(reference), "store": store}
    plan = await open_shards(suite, **given, settings=Settings(), shards=1)
    stop = asyncio.Event()
    running = asyncio.create_task(
        run_shard(suite, **given, settings=Settings(), plan=plan, shard=0, stop=stop)
    )
    await gate.full.wait()

    def broken(*_):
        raise OSError("the disk is full")

    await asyncio.sleep(0.1)
    monkeypatch.setattr(type(store), "append", broken)
    stop.set()
    gate.open.set()
    with pytest.raises(OSError, match="the disk is full"):
        await asyncio.wait_for(running, 5)


async def test_shards_at_once_take_no_more_than_the_slots(tmp_path, store, serve):
    """Of 10 shards only 3 are asked at a time where an endpoint has 3 slots."""
    stub = await serve()
    suite = suites.load(tmp_path, suites.numbered(20))
    given = {"stage": side(stub), "reference": side(stub), "store": store}
    plan = await open_shards(suite, **given, settings=Settings(), shards=10)
    assert (len(plan.shards), plan.at_once) == (10, SLOTS)


@pytest.mark.slow
async def test_a_second_interrupt_ends_it_at_once(tmp_path):
    """The first says that it finishes what is in flight; the second does not wait for it."""
    suite = suites.write(tmp_path, suites.numbered(20))
    gate = Gate()
    async with StubServer(gate) as stage, StubServer() as reference:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "denv", "parity", "run", "--suite", str(suite)),
            *("--stage", stage.url, "--reference", reference.url, "--concurrency", str(SLOTS)),
            *("--json", str(tmp_path / "report.json")),
            env={**os.environ, "DENV_HOME": str(tmp_path / "home")},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        await asyncio.wait_for(gate.full.wait(), 60)
        process.send_signal(signal.SIGINT)
        said = b""
        assert process.stdout is not None
        while b"once more gives it up" not in said:
            said += await asyncio.wait_for(process.stdout.read(1000), 20)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        with suppress(TimeoutError):
            rest, _ = await asyncio.wait_for(process.communicate(), 10)
            said += rest
        gate.open.set()
    assert process.returncode == 130, said.decode()
    assert time.monotonic() - began < 4
    assert b"Traceback" not in said
    with suppress(FileNotFoundError):
        assert json.loads((tmp_path / "report.json").read_text())["verdict"] == "cancelled"
