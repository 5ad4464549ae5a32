"""One firing of a schedule: a sentinel's look or a full run, and all that follows from it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from denv.errors import (
    ResumeError,
    RunCancelledError,
    UsageError,
)
from denv.records import Endpoint, Json, Side, Verdict
from denv.report import Report
from denv.rollout.plan import Plan
from denv.rollout.schedules.book import Book, find, said
from denv.rollout.schedules.detecting import Detectors
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.looking import AlarmKind, Looked, bounds_of, drift_of, has_floor, look
from denv.rollout.schedules.rerun import Beside, lay_beside
from denv.rollout.schedules.sentinel import Sentinel, run_sentinel
from denv.rollout.schedules.shots import FORM, Commit, Fired, Kind, Shot
from denv.rollout.schedules.timing import Timing
from denv.runner import Settings, close_shards, open_shards, run_shard
from denv.runner.progress import Watch
from denv.runner.searching import KillableSearch
from denv.store import Raise, Resolve, SqlStore
from denv.verdict import effective_rates

BASELINE_REPEATS = 3
"""A baseline asks each case so often at least, to know how far a side agrees with itself."""


async def fire(
    store: SqlStore,
    schedule: str,
    slot: float,
    *,
    kind: Kind = "full",
    missed: Sequence[float] = (),
    due: bool = True,
    why: Sequence[str] = (),
    rebase: bool = False,
    stop: asyncio.Event | None = None,
    on_beat: Watch | None = None,
    clock: Callable[[], float] = time.time,
) -> Fired:
    """Do what a schedule's slot asks for, once.

    Parameters
    ----------
    store
        Where schedules, runs and alarms are kept.
    schedule, slot
        The schedule's name, and the slot in Unix seconds.
    kind
        ``sentinel`` for the cheap look, ``full`` for a run of the whole suite.
    missed
        Earlier slots that nothing was done for: they are told of, and this firing serves for all.
    due, why, rebase
        See :class:`Shot`.
    stop
        Set it to end early; the same slot fired again goes on where it was.
    on_beat
        Called every second of a full run.
    clock
        Gives Unix seconds.

    Raises
    ------
    UsageError
        There is no such schedule.
    RunCancelledError
        ``stop`` was set.
    HarnessError
        The harness itself could not run; the slot is not done.
    """
    shot = Shot(schedule, slot, kind, tuple(missed), due, tuple(why), rebase)
    firing = _Firing(store, shot, stop=stop or asyncio.Event(), on_beat=on_beat, clock=clock)
    return await firing.go()


class _Firing:
    def __init__(
        self,
        store: SqlStore,
        shot: Shot,
        *,
        stop: asyncio.Event,
        on_beat: Watch | None,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._shot = shot
        self._stop = stop
        self._on_beat = on_beat
        self._clock = clock
        self._record = find(store, shot.schedule)
        self._plan = Plan.from_json(json.dumps(self._record.plan))
        self._timing = Timing.from_json(self._record.spec)
        self._book = Book(store, shot, plan=self._plan, clock=clock)

    async def go(self) -> Fired:
        before = await asyncio.to_thread(self._book.written)
        if before is not None:
            escalates = before.document.get("escalates")
            why = tuple(before.document["why"]) if escalates else ()
            return Fired(self._shot.kind, before.verdict, before.run, escalate=why, again=True)
        if self._shot.kind == "sentinel":
            return await self._sentinel()
        if self._shot.missed:
            await self._book.commit(self._missed)
        return await self._full()

    # -------------------------------------------------------------- missed slots

    def _missed(self, learned: Learned) -> Commit:
        missed = self._shot.missed
        document = {"form": FORM, "count": len(missed), "first": missed[0], "last": missed[-1]}
        row = self._book.row("missed", document=document)
        return Commit(row, learned, raised=[self._missed_alarm()])

    def _missed_alarm(self) -> Raise:
        missed = self._shot.missed
        first, last = (said(one) for one in (missed[0], missed[-1]))
        span = (
            f"the slot of {first}"
            if len(missed) == 1
            else f"{len(missed)} slots, {first} to {last}"
        )
        summary = (
            f"schedule {self._shot.schedule}: nothing ran for {span}; one run makes up for all"
        )
        return self._book.alarm(AlarmKind.MISSED, summary, run=None)

    # -------------------------------------------------------------- sentinel

    async def _sentinel(self) -> Fired:
        found = await run_sentinel(
            self._plan,
            memory=Learned.of(self._record).sentinel,
            store=self._store,
            tokens=self._timing.sentinel_tokens,
            stop=self._stop,
        )
        escalating: list[bool] = []

        def write(learned: Learned) -> Commit:
            escalates = not found.calm and not learned.escalated
            escalating.append(escalates)
            row = self._book.row(
                "sentinel",
                verdict=found.verdict,
                run=found.measure,
                document=_sentinel_document(found, escalates=escalates),
            )
            after = replace(
                learned, sentinel=found.memory, escalated=learned.escalated or escalates
            )
            return Commit(row, after)

        written = await self._book.commit(write)
        escalate = found.why if escalating[-1] and written else ()
        return Fired("sentinel", found.verdict, found.measure, escalate=escalate)

    # -------------------------------------------------------------- full run

    async def _full(self) -> Fired:
        rebase = self._shot.rebase or self._record.baseline is None
        try:
            report = await self._asked(rebase=rebase)
        except ResumeError:  # another process has this run: the slot is tried again
            raise
        except UsageError as error:
            return await self._not_asked(str(error))
        run = str(report.head["run"])
        beside = await self._beside(run if rebase else str(self._record.baseline), run)
        bounds = bounds_of(beside, effective_rates(self._plan.thresholds, self._plan.suite.kinds))
        accepted = rebase and has_floor(bounds)
        fresh = Detectors.start(bounds, between=self._timing.looks_between) if accepted else None

        def draw(learned: Learned) -> Looked:
            return look(
                report.head,
                beside=beside,
                drift=None if rebase else drift_of(beside),
                detectors=fresh or learned.detectors,
                fail_alarm=self._timing.fail_alarm,
            )

        return await self._conclude(draw, run, baseline=run if accepted else None, tried=rebase)

    async def _asked(self, *, rebase: bool) -> Report:
        """Ask both sides anew; the same slot goes on with its run."""
        suite = self._plan.suite.load()
        settings = _settings(self._plan, rebase=rebase)
        sides: dict[str, Any] = {
            "stage": self._endpoint(Side.STAGE),
            "reference": self._endpoint(Side.REFERENCE),
            "settings": settings,
            "store": self._store,
        }
        opened = await open_shards(suite, shards=1, run_id=self._run_id(rebase=rebase), **sides)
        for shard in range(0 if opened.down else len(opened.shards)):
            await run_shard(
                suite, plan=opened, shard=shard, stop=self._stop, on_beat=self._on_beat, **sides
            )
        if self._stop.is_set():
            raise RunCancelledError(f"cancelled; run {opened.run} goes on where it was")
        return await close_shards(suite, plan=opened, **sides)

    def _endpoint(self, side: Side) -> Endpoint:
        planned = self._plan.stage if side is Side.STAGE else self._plan.reference
        return planned.endpoint()

    def _run_id(self, *, rebase: bool) -> str:
        """Name the slot's run, the same whenever it is fired again."""
        made = crc32(f"{self._record.created}/{rebase}".encode()) & 0xFFFFFF
        stamp = datetime.fromtimestamp(self._shot.slot, UTC).strftime("%Y%m%d-%H%M%S")
        return f"{self._shot.schedule}-{stamp}-{made:06x}"

    async def _beside(self, baseline: str, run: str) -> Beside:
        with closing(KillableSearch()) as search:
            return await asyncio.to_thread(
                lambda: lay_beside(
                    self._plan.suite.load(),
                    baseline=baseline,
                    run=run,
                    store=self._store,
                    search=search,
                )
            )

    async def _not_asked(self, why: str) -> Fired:
        """Write down, and tell, that a side would not take what it was asked."""
        summary = f"error: {why}".replace("\n", "; ")

        def draw(learned: Learned) -> Looked:
            return Looked(
                verdict=Verdict.ERROR.value,
                detectors=learned.detectors,
                alarms={AlarmKind.UNPROVEN: summary},
                over=frozenset(),
                document={"reasons": [why]},
            )

        return await self._conclude(draw, None, baseline=None, tried=False)

    async def _conclude(
        self,
        draw: Callable[[Learned], Looked],
        run: str | None,
        *,
        baseline: str | None,
        tried: bool,
    ) -> Fired:
        """Weigh the run with all before it, and write what follows from it."""
        found: list[Looked] = []

        def write(learned: Learned) -> Commit:
            looked = draw(learned)
            found.append(looked)
            return self._full_commit(looked, learned, run, baseline=baseline, tried=tried)

        written = await self._book.commit(write)
        looked = found[-1]
        raised = [kind.value for kind in looked.alarms]
        raised += [AlarmKind.MISSED.value] if self._shot.missed else []
        return Fired(
            "full", looked.verdict, run, raised=tuple(raised if written else ()), again=not written
        )

    def _full_commit(
        self,
        looked: Looked,
        learned: Learned,
        run: str | None,
        *,
        baseline: str | None,
        tried: bool,
    ) -> Commit:
        shot = self._shot
        document = {
            "form": FORM,
            **looked.document,
            "why": list(shot.why),
            "missed": len(shot.missed),
            "baseline": baseline is not None,
            "no_baseline": tried and baseline is None,
            "alarms": {kind.value: text for kind, text in looked.alarms.items()},
        }
        after = replace(learned, detectors=looked.detectors)
        over = set(looked.over)
        if baseline is not None:  # the sentinel is to know the sides as they are now
            after = replace(after, sentinel={})
            over.add(AlarmKind.DRIFT)
        if shot.due and not shot.missed:
            over.add(AlarmKind.MISSED)
        return Commit(
            self._book.row("full", verdict=looked.verdict, run=run, document=document),
            after.after(shot.slot) if shot.due else after,
            baseline=baseline,
            raised=[self._book.alarm(kind, text, run=run) for kind, text in looked.alarms.items()],
            resolved=[
                Resolve(self._book.identity(kind), at=self._clock()) for kind in sorted(over)
            ],
        )


def _settings(plan: Plan, *, rebase: bool) -> Settings:
    """Ask the reference anew as well; a baseline asks several times."""
    repeats = max(plan.repeats, BASELINE_REPEATS) if rebase else plan.repeats
    return replace(plan.settings(), repeats=repeats, max_age_s=None)


def _sentinel_document(found: Sentinel, *, escalates: bool) -> dict[str, Json]:
    return {"form": FORM, "why": list(found.why), "escalates": escalates, **found.document}
