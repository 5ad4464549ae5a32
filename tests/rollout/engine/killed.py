"""A rollout that is killed again and again, and what must be true of it in the end.

One rollout a test: a release that passes its first parity run, gets traffic, and turns bad while
it bakes. Whatever dies comes back after a pause, and dies again at a later boundary.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from itertools import count

import pytest
from temporalio.service import RPCError

from denv.errors import HarnessError
from denv.rollout.engine.address import find_serving
from denv.rollout.engine.connection import Connection
from denv.rollout.engine.server import ServerSettings, embedded
from denv.store import open_store
from tests.rollout.engine.staging import LATE_CANCEL, Engine, Releases

KILLS = 12
PAUSE_S = 0.7
"""Downtime after each kill, none of which may count as baked."""

AT = (1, 2, 4, 3, 6, 5, 8, 2, 7, 4, 3, 9)
"""At which crossing of its life each process dies; the odd ones mostly before a write."""

CONCURRENCY = 8

MARKS = [pytest.mark.timeout(600), LATE_CANCEL]


@dataclass
class Lives:
    """The lives of the processes that were killed: when each began and ended."""

    spans: list[tuple[float, float]] = field(default_factory=list)
    kills: list[float] = field(default_factory=list)


class Book:
    """Compares, each time that something has died, what was paid for with what is in the store."""

    def __init__(self, folder, model):
        self._path, self._model = folder / "denv.sqlite3", model
        self._cut = set()
        self.cuts = []

    def look(self):
        """Note what was in flight: the model got it, and the store does not have it."""
        paid = {call.id: call.asked for call in self._model.calls if is_case(call)}
        journaled, going = self._journaled()
        fresh = set(paid) - set(journaled) - self._cut
        # What is in flight was never journaled before: of the run that goes on no case is paid
        # for that has its answer.
        twice = {paid[each] for each in fresh} & {paid[each] for each in going if each in paid}
        assert not twice
        self._cut |= fresh
        self.cuts.append(len(fresh))
        return set(journaled) & set(paid), set(paid)

    def _journaled(self):
        """Give the ids of all journaled answers, and those of runs that have not ended."""
        journaled, going = set(), set()
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as connection:
            runs = connection.execute("SELECT run, state FROM runs").fetchall()
        store = open_store(self._path.parent)
        for run, state in runs:
            answers = store.answers(run, 0, 100).items()
            ids = {json.loads(a.exchange.body)["id"] for key, a in answers if key.side == "stage"}
            journaled |= ids
            going |= ids if state == "running" else set()
        store.close()
        return journaled, going


def is_case(call):
    """Tell a case from what a side is asked before."""
    return call.asked.startswith("number")


class Killer:
    """Starts processes that die at a crossing, one after the other; ``on_death`` is called."""

    def __init__(self, process, task, notes, on_death=lambda: None):
        self._process, self._task, self.notes = process, task, notes
        self._on_death = on_death
        self.lives = Lives()
        self._pid = None

    async def go_on(self):
        """Start one after the other; the last one lives."""
        for n in count():
            at = AT[n % len(AT)] if n < KILLS else 10**9
            began, ended, by = await self._one({**self._task, "at": at})
            self.lives.spans.append((began, ended))
            if by != 9:
                return
            self.lives.kills.append(ended)
            await asyncio.sleep(PAUSE_S)
            self._on_death()

    async def live(self):
        """Start one that lives until it is ended; give the signal that ended it."""
        return (await self._one({**self._task, "at": 10**9}))[2]

    async def _one(self, task):
        self._process.stdin.write(json.dumps(task).encode() + b"\n")
        await self._process.stdin.drain()
        born = json.loads(await self._process.stdout.readline())
        self._pid = born["pid"]
        died = json.loads(await self._process.stdout.readline())
        self._pid = None
        return born["began"], died["ended"], died["signal"]

    def labels(self):
        """Give where the kills happened."""
        return self.notes.read_text().splitlines() if self.notes.exists() else []

    def end(self, number=signal.SIGTERM):
        """End the one that lives, if one does."""
        if self._pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, number)


@asynccontextmanager
async def killer(tmp_path, *, on_death=lambda: None, **task):
    """Give a killer with everything loaded."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.rollout.engine.killing"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    notes = tmp_path / "kills.txt"
    made = Killer(process, {"notes": str(notes), **task}, notes, on_death)
    try:
        yield made
    finally:
        made.end(signal.SIGKILL)
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


async def prepare(tmp_path, models, store, *, kills):
    """Promote a first release undisturbed; give the releases and a second one that turns bad."""
    releases = Releases(tmp_path, stage=await models(), reference=await models())
    folder = tmp_path / "home"
    async with (
        embedded(ServerSettings(folder)) as server,
        Engine(server.connection, store, folder, queue=f"killed-{kills}") as engine,
    ):
        first = await engine.start(
            releases.write("r1", bake="0s", parity_every=None, batches=["100%"])
        )
        assert (await engine.end(first)).phase == "promoted"
    fresh = await models()
    path = releases.write(
        "r2",
        bake="60s",
        parity_every="400ms",
        look_cases=12,
        batches=["10%", "100%"],
        deadline="10m",
        replicas=[{"name": "fresh", "url": fresh.url}],
    )
    releases.fresh = fresh
    return releases, path


def check(store, rollout, releases, killed, book):
    """Hold what must be true however often something died."""
    record = store.rollouts.get_rollout(rollout)
    decisions = store.rollouts.decisions(rollout)
    rules = [decision.rule for decision in decisions]
    assert record.phase == "rolled-back", rules
    # One rollback: the weights were restored by one decision, and hold.
    restores = [a for d in decisions for a in d.actions if a["type"] == "restore-weights"]
    assert len(restores) == 1
    assert releases.weights() == {"r1": 1.0, "r2": 0.0}
    # One alarm, of one identity, however often its sink was told.
    alarms = store.alarms.list_alarms()
    assert [(alarm.kind, alarm.repeats) for alarm in alarms] == [("parity-fail", 0)]
    assert {told["identity"] for told in releases.heard()} <= {alarms[0].identity}
    check_answers(book, killed)
    check_bake(decisions, killed)


def check_answers(book, killed):
    """No answer is lost, and no more was paid for again than a kill cut off."""
    journaled, paid = book.look()
    *at_kills, at_the_end = book.cuts
    assert len(at_kills) == len(killed.kills)
    assert max(at_kills, default=0) <= CONCURRENCY, at_kills
    assert at_the_end == 0  # what ended well, and Temporal's own deaths, cut nothing off
    assert len(paid) == len(journaled) + sum(at_kills)


def check_bake(decisions, killed):
    """Hold that no more was baked than something was alive to see."""
    began = next(d.at for d in decisions if d.next_phase == "baking")
    ended = next(d.at for d in decisions if d.phase == "baking" and d.next_phase != "baking")
    baked_s = sum(d.event["observed_s"] for d in decisions if d.event["type"] == "watched")
    alive_s = sum(max(0.0, min(to, ended) - max(since, began)) for since, to in killed.spans)
    assert baked_s <= alive_s + 0.1


async def run_killed(tmp_path, store, releases, path, **task):
    """Carry out the second release's rollout while everything dies again and again."""
    queue = f"killed-{task['kills']}"
    book = Book(tmp_path / "home", releases.fresh)
    task |= {"queue": queue, "folder": str(tmp_path / "home")}
    async with killer(tmp_path, on_death=book.look, **task) as made:
        going = asyncio.create_task(made.go_on())
        connection = await reached(tmp_path / "home", task)
        engine = Engine(connection, store, tmp_path / "home", queue=queue)
        rollout = await started(engine, path)
        await engine.reach(rollout, "baking")
        releases.fresh.wrong = True
        await engine.end(rollout)
        await engine.until(releases.told, lambda: "the alarm was not told")
        made.end()
        await going
    print(made.labels(), book.cuts)
    check(store, rollout, releases, made.lives, book)
    return made


async def reached(folder, task):
    """Wait until there is a Temporal server to speak to."""
    if "temporal" in task:
        return Connection(task["temporal"])
    while (serving := find_serving(folder)) is None:
        await asyncio.sleep(0.05)
    return Connection(serving.temporal)


async def started(engine, path):
    """Start the rollout, again where the server was just being killed."""
    while True:
        try:
            return await engine.start(path)
        except (HarnessError, RPCError):
            await asyncio.sleep(0.2)
            serving = find_serving(engine.folder)
            if serving is not None:
                engine.connection = Connection(serving.temporal)
