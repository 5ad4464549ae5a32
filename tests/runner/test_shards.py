"""Runs by several processes: one report, no answer lost, none paid for twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from dataclasses import asdict, replace

import pytest

from denv.errors import ResumeError, UsageError
from denv.records import Endpoint
from denv.report import write_json
from denv.runner import Settings, close_shards, open_shards, portion, run_parity, run_shard
from denv.runner import shards as sharded_runs
from denv.runner.portion import split
from denv.runner.shards import _share
from denv.store import open_store
from tests import suites
from tests.runner.sharding import CONCURRENCY, side
from tests.runner.test_kill import comparable, counts, echoing, journal
from tests.stubs import StubServer, answers

CASES = 2_000
SHARDS = 8


def parts(stage, reference, store, **settings):
    """Give what every call of one run is told alike."""
    return {
        "stage": side(stage.url),
        "reference": side(reference.url),
        "settings": Settings(**settings),
        "store": store,
    }


def written(report, path):
    """Write a report where ``comparable`` reads it."""
    write_json(report, path)
    return comparable(path)


async def in_shards(suite, shards, **given):
    """Open, ask every shard, close."""
    plan = await open_shards(suite, shards=shards, **given)
    for shard in plan.to_ask:
        await run_shard(suite, plan=plan, shard=shard, **given)
    return await close_shards(suite, plan=plan, **given)


async def worker(home, suite, stage, reference, plan):
    """Start a process that asks free shards until none is left."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.runner.sharding",
        *map(str, (home, suite.path, stage.url, reference.url)),
        json.dumps(asdict(plan)),
        env={**os.environ, "DENV_HOME": str(home)},
        stderr=asyncio.subprocess.PIPE,
    )


@pytest.mark.slow
async def test_killed_process_is_taken_over_and_the_report_is_the_same(tmp_path, store):
    """Of two processes one is killed halfway; the other ends the run as one alone would."""
    suite = suites.load(tmp_path, suites.numbered(CASES))
    home = tmp_path / "home"
    async with StubServer(echoing(wrong_each=7)) as stage, StubServer(echoing()) as reference:
        given = parts(stage, reference, store)
        plan = await open_shards(suite, shards=SHARDS, at_once=2, run_id="shared", **given)
        killed, other = [await worker(home, suite, stage, reference, plan) for _ in range(2)]
        while len(journal(home)[1]) < CASES:  # of both sides together: half of all answers
            assert killed.returncode is None
            assert other.returncode is None
            await asyncio.sleep(0.01)
        os.kill(killed.pid, signal.SIGKILL)
        await killed.wait()
        on_disk = journal(home)[1]
        before = {"stage": counts(stage), "reference": counts(reference)}
        _, errors = await other.communicate()
        assert other.returncode == 0, errors.decode()
        for name, stub in (("stage", stage), ("reference", reference)):
            asked = counts(stub)
            assert len(asked) == CASES
            repeated = {content for content, n in asked.items() if n > 1}
            assert len(repeated) <= CONCURRENCY // 2  # two at once share the slots
            again = {content for content, n in asked.items() if n > before[name][content] > 0}
            assert not again & {f"number {case};" for where, case in on_disk if where == name}
        report = await close_shards(suite, plan=plan, **given)
        alone = open_store(tmp_path / "alone")
        unbroken = await run_parity(suite, **{**given, "store": alone})
        alone.close()
    assert written(report, tmp_path / "a.json") == written(unbroken, tmp_path / "b.json")
    assert report.head["kinds"]["exact"]["fail"] == sum(n % 7 == 0 for n in range(CASES))


@pytest.mark.parametrize("shards", [1, 3, 50])
async def test_any_number_of_shards_gives_the_report_of_one(tmp_path, store, serve, shards):
    """Drawn cases, repeats and mixed kinds too: the report is that of an unsharded run."""
    suite = suites.load(tmp_path, suites.numbered(40))
    stage, reference = await serve(echoing(wrong_each=5)), await serve(echoing())
    given = parts(stage, reference, store, repeats=2, only=tuple(range(0, 40, 3)))
    sharded = await in_shards(suite, shards, **given)
    whole = await run_parity(suite, **given)
    assert written(sharded, tmp_path / "a.json") == written(whole, tmp_path / "b.json")
    assert sharded.head["suite"] == {
        "name": suite.name, "sha256": suite.sha256, "cases": 40, "drawn": 14,
    }  # fmt: skip


async def test_only_drawn_cases_are_asked(tmp_path, store, serve):
    """Each drawn case is asked once, no other is, and the report says it is no whole suite."""
    suite = suites.load(tmp_path, suites.numbered(30))
    stub = await serve(echoing())
    report = await run_parity(suite, **parts(stub, stub, store, only=(29, 3, 17)))
    assert set(counts(stub)) == {"number 3;", "number 17;", "number 29;"}
    assert report.head["kinds"]["exact"]["planned"] == report.head["kinds"]["exact"]["pass"] == 3
    assert any("3 drawn cases of the suite's 30" in limit for limit in report.head["limits"])


@pytest.mark.parametrize("only", [(), (1, 1), (-1,), (30,)])
async def test_cases_that_cannot_be_drawn(tmp_path, store, serve, only):
    """None, one twice, and one that the suite has not are refused before anything is sent."""
    suite = suites.load(tmp_path, suites.numbered(30))
    stub = await serve(echoing())
    with pytest.raises(UsageError, match="cases to ask"):
        await run_parity(suite, **parts(stub, stub, store, only=only))
    assert not stub.seen


async def test_a_shard_is_asked_by_one_at_a_time(tmp_path, store, serve):
    """While a shard is asked nobody else asks it, closes the run, or takes it as a whole."""
    suite = suites.load(tmp_path, suites.numbered(20))
    stub = await serve(echoing())
    given = parts(stub, stub, store)
    plan = await open_shards(suite, shards=2, **given)
    refused = "carried out by another process"
    with store.claim_shard(plan.run, *plan.shards[0]):
        with pytest.raises(ResumeError, match=f"cases 0 to 9, is being {refused}"):
            await run_shard(suite, plan=plan, shard=0, **given)
        with pytest.raises(ResumeError, match=refused):
            await close_shards(suite, plan=plan, **given)
        with pytest.raises(ResumeError, match=refused):
            await run_parity(suite, resume=plan.run, **given)
        end = await run_shard(suite, plan=plan, shard=1, **given)
        assert (end.done, end.planned) == (10, 10)
    await run_shard(suite, plan=plan, shard=0, **given)
    assert (await close_shards(suite, plan=plan, **given)).head["verdict"] == "pass"


async def test_open_and_close_may_be_repeated(tmp_path, store, serve):
    """A retry of either finds the run as it is: nothing is asked, the report is the same one."""
    suite = suites.load(tmp_path, suites.numbered(10))
    stub = await serve(echoing())
    given = parts(stub, stub, store)
    plan = await open_shards(suite, shards=2, run_id="r", **given)
    assert await open_shards(suite, shards=2, run_id="r", **given) == plan
    for shard in plan.to_ask:
        await run_shard(suite, plan=plan, shard=shard, **given)
        await run_shard(suite, plan=plan, shard=shard, **given)
    first = await close_shards(suite, plan=plan, **given)
    assert set(counts(stub).values()) == {2}  # once for each side
    again = await close_shards(suite, plan=plan, **given)
    write_json(first, tmp_path / "a.json")
    write_json(again, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


async def test_a_missing_shard_is_no_pass(tmp_path, store, serve):
    """Closed too early the run is inconclusive; cancelled it is cancelled; it can go on."""
    suite = suites.load(tmp_path, suites.numbered(20))
    stub = await serve(echoing())
    given = parts(stub, stub, store)
    plan = await open_shards(suite, shards=2, run_id="r", **given)
    await run_shard(suite, plan=plan, shard=0, **given)
    report = await close_shards(suite, plan=plan, **given)
    assert (report.head["verdict"], report.head["unanswered"]) == ("inconclusive", 10)
    plan = await open_shards(suite, shards=2, run_id="r", **given)
    report = await close_shards(suite, plan=plan, cancelled=True, **given)
    assert report.head["verdict"] == "cancelled"
    plan = await open_shards(suite, shards=4, run_id="r", **given)
    for shard in plan.to_ask:
        await run_shard(suite, plan=plan, shard=shard, **given)
    report = await close_shards(suite, plan=plan, **given)
    assert report.head["verdict"] == "pass"
    assert set(counts(stub).values()) == {2}


async def test_asked_again_is_only_what_was_not_answered(tmp_path, store, serve):
    """Opened again by its id, a run asks the cases that the reference left, and no failure."""
    suite = suites.load(tmp_path, suites.numbered(12))
    broken = True

    def flaky(request, n):
        content = request["messages"][-1]["content"]
        if broken and content in {"number 2;", "number 9;"}:
            return answers.error(500, "broken")
        return answers.completion(content)

    stage, reference = await serve(echoing(wrong_each=5)), await serve(flaky)
    given = parts(stage, reference, store)
    plan = await open_shards(suite, shards=3, run_id="r", **given)
    for shard in plan.to_ask:
        await run_shard(suite, plan=plan, shard=shard, **given)
    first = await close_shards(suite, plan=plan, **given)
    assert first.head["unanswered"] == 2
    broken = False
    before = counts(reference)
    plan = await open_shards(suite, shards=3, run_id="r", **given)
    for shard in plan.to_ask:
        await run_shard(suite, plan=plan, shard=shard, **given)
    second = await close_shards(suite, plan=plan, **given)
    assert counts(reference) - before == {"number 2;": 1, "number 9;": 1}
    assert second.head["unanswered"] == 0
    assert second.head["kinds"]["exact"]["fail"] == first.head["kinds"]["exact"]["fail"] == 3


async def test_a_side_that_is_down_is_closed_at_once(tmp_path, store, serve):
    """No shard is asked; the verdict is that of the same run in one process."""
    suite = suites.load(tmp_path, suites.numbered(10))
    stage, reference = (
        await serve(lambda request, n: answers.error(503, "down")),
        await serve(echoing()),
    )
    given = parts(stage, reference, store)
    plan = await open_shards(suite, shards=2, **given)
    assert plan.to_ask == ()
    with pytest.raises(ResumeError, match="stage is down"):
        await run_shard(suite, plan=plan, shard=0, **given)
    report = await close_shards(suite, plan=plan, **given)
    whole = await run_parity(suite, **given)
    assert written(report, tmp_path / "a.json") == written(whole, tmp_path / "b.json")
    assert report.head["verdict"] == "fail"
    assert counts(stage) == {}


async def test_what_one_shard_learned_the_report_shows(tmp_path, store, serve):
    """A field that a side refused to one process is in the notes of all and in the report."""
    suite = suites.load(tmp_path, suites.numbered(6))

    def strict(request, n):
        if "seed" in request and request["messages"][-1]["content"] == "number 4;":
            return answers.error(400, "Unsupported parameter: 'seed'")
        return answers.completion(request["messages"][-1]["content"])

    stage, reference = await serve(strict), await serve(echoing())
    given = parts(stage, reference, store)
    plan = await open_shards(suite, shards=6, **given)
    for shard in reversed(plan.to_ask):
        await run_shard(suite, plan=plan, shard=shard, **given)
    report = await close_shards(suite, plan=plan, **given)
    assert report.head["stage"]["dropped_fields"] == ["seed"]
    assert report.head["reference"]["dropped_fields"] == []
    assert "seed" not in stage.seen[-1].json  # the later shards knew it


@pytest.mark.parametrize("read", ["between", "whole"])
async def test_reading_a_large_suite_holds_up_no_sign_of_life(
    tmp_path, store, serve, monkeypatch, read
):
    """While a shard's cases are counted the event loop goes on."""
    suite = suites.load(tmp_path, suites.numbered(10))
    stub = await serve(echoing())
    given = parts(stub, stub, store, only=(1, 2, 3))
    plan = await open_shards(suite, shards=1, **given)
    ticks, passed = [], []
    where = sharded_runs if read == "between" else portion
    counting = getattr(where, read)

    async def tick():
        while True:
            ticks.append(1)
            await asyncio.sleep(0.01)

    def slow(*of, **named):
        before = len(ticks)
        time.sleep(0.5)
        passed.append(len(ticks) - before)
        return counting(*of, **named)

    monkeypatch.setattr(where, read, slow)
    ticking = asyncio.create_task(tick())
    await run_shard(suite, plan=plan, shard=0, **given)
    ticking.cancel()
    assert passed
    assert min(passed) > 1


def test_slots_and_pace_are_shared():
    """Shards that are asked at once together take no more than the endpoint allows."""
    endpoint = Endpoint(url="http://127.0.0.1:1/v1", concurrency=8, rate=10.0)
    assert _share(endpoint, 4) == replace(endpoint, concurrency=2, rate=2.5)
    assert _share(endpoint, 100).concurrency == 1


def test_shards_cover_each_case_once(tmp_path):
    """The ranges join without a gap, and differ by one case at the most."""
    suite = suites.load(tmp_path, suites.numbered(11))
    for shards in (1, 2, 3, 10, 11, 12):
        ranges = split(suite, None, shards=shards)
        assert [i for a, b in ranges for i in range(a, b + 1)] == list(range(11))
        sizes = {b - a + 1 for a, b in ranges}
        assert max(sizes) - min(sizes) <= 1
    assert split(suite, (7, 2, 9), shards=2) == ((2, 2), (7, 9))
