"""A full run of a schedule: opened, its shards asked by whoever is free, and weighed."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from denv.records import Verdict
from denv.rollout.plan import Plan
from denv.rollout.schedules.book import Book, find
from denv.rollout.schedules.detecting import Detectors
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.looking import AlarmKind, Looked, bounds_of, drift_of, has_floor, look
from denv.rollout.schedules.rerun import Beside, lay_beside
from denv.rollout.schedules.shots import FORM, Commit, Fired, Shot
from denv.rollout.schedules.timing import Timing
from denv.runner import Settings, ShardPlan, close_shards, open_shards, run_shard
from denv.runner.progress import Watch
from denv.runner.searching import KillableSearch
from denv.store import Resolve, SqlStore
from denv.verdict import effective_rates

BASELINE_REPEATS = 3
"""A baseline asks each case so often at least, to know how far a side agrees with itself."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A run that was opened; with ``rebase`` it is to become the baseline."""

    shards: ShardPlan
    rebase: bool


class FullRun:
    """The full run of one slot; several processes may each have one, and ask other shards.

    Raises
    ------
    UsageError
        There is no such schedule.
    """

    def __init__(
        self, store: SqlStore, shot: Shot, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._store, self._shot, self._clock = store, shot, clock
        self._record = find(store, shot.schedule)
        self._plan = Plan.from_json(json.dumps(self._record.plan))
        self._timing = Timing.from_json(self._record.spec)
        self._book = Book(store, shot, plan=self._plan, clock=clock)

    async def open(self) -> Opened:
        """Check both sides and write the run's row; the same slot goes on with its run.

        Raises
        ------
        ResumeError
            Another process has this run: the slot is to be tried again.
        UsageError
            A side will not take what it is to be asked.
        """
        rebase = self._shot.rebase or self._record.baseline is None
        shards = await open_shards(
            **await asyncio.to_thread(self._asked, rebase=rebase),
            shards=self._plan.rollout.shards or 1,
            run_id=self._run_id(rebase=rebase),
        )
        return Opened(shards, rebase)

    async def ask(
        self, opened: Opened, shard: int, *, stop: asyncio.Event, on_beat: Watch | None = None
    ) -> None:
        """Ask what is not answered yet of one shard, until ``stop`` is set.

        Raises
        ------
        ResumeError
            Another process asks this shard.
        UsageError
            A side will not take what it is asked.
        """
        await run_shard(
            **await asyncio.to_thread(self._asked, rebase=opened.rebase),
            plan=opened.shards,
            shard=shard,
            stop=stop,
            on_beat=on_beat,
        )

    async def close(self, opened: Opened) -> Fired:
        """Judge the run, weigh it with all before it, and write what follows."""
        rebase = opened.rebase
        report = await close_shards(
            **await asyncio.to_thread(self._asked, rebase=rebase),
            plan=opened.shards,
        )
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

    async def not_asked(self, why: str) -> Fired:
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

    def _asked(self, *, rebase: bool) -> dict[str, Any]:
        """Read all that a run is made of; in a thread, since suites may be large."""
        return {
            "suite": self._plan.suite.load(),
            "stage": self._plan.stage_served(),
            "reference": self._plan.reference.endpoint(),
            "settings": _settings(self._plan, rebase=rebase),
            "store": self._store,
        }

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
    return replace(plan.proof_settings(), repeats=repeats, max_age_s=None)
