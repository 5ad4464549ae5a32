"""A schedule's book: each firing is written with its alarms, and with what was learned from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from denv.alarms import identity_of, sinks_of
from denv.errors import ResumeError, UsageError
from denv.records import Json
from denv.rollout.plan import Plan
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.looking import AlarmKind
from denv.rollout.schedules.shots import Commit, Shot
from denv.store import Firing, Raise, ScheduleRecord, SqlStore

CLAIM_WAIT_S = 0.05
CLAIM_TRIES = 200
MAX_SUMMARY = 1000


class Book:
    """Writes one firing of a schedule."""

    def __init__(
        self, store: SqlStore, shot: Shot, *, plan: Plan, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._shot = shot
        self._plan = plan
        self._clock = clock

    def record(self) -> ScheduleRecord:
        """Give the schedule as it is now."""
        return find(self._store, self._shot.schedule)

    def written(self) -> Firing | None:
        """Give this firing where it was written before."""
        shot = self._shot
        history = self._store.schedules.history(shot.schedule, since=shot.slot)
        same = (each for each in history if (each.slot, each.kind) == (shot.slot, shot.kind))
        return next(same, None)

    def row(
        self,
        kind: str,
        *,
        verdict: str | None = None,
        run: str | None = None,
        document: Mapping[str, Json],
    ) -> Firing:
        """Make a row of the history."""
        shot = self._shot
        return Firing(shot.schedule, shot.slot, kind, self._clock(), verdict, run, document)

    def identity(self, kind: AlarmKind) -> str:
        """Give the identity of a kind of alarm of this schedule."""
        digest = f"{self._plan.release_digest}/schedule/{self._shot.schedule}"
        return identity_of(kind.value, stage=self._plan.stage.url, digest=digest)

    def alarm(self, kind: AlarmKind, text: str, *, run: str | None) -> Raise:
        """Make an alarm; the same slot raises it once."""
        shot, plan = self._shot, self._plan
        return Raise(
            once=f"schedule/{shot.schedule}/{shot.slot:.3f}/{kind}",
            identity=self.identity(kind),
            kind=kind.value,
            stage=plan.stage.url,
            release=plan.release,
            summary=text if len(text) <= MAX_SUMMARY else f"{text[: MAX_SUMMARY - 1]}…",
            at=self._clock(),
            run=run,
            details={"schedule": shot.schedule, "slot": said(shot.slot)},
            sinks=sinks_of(plan.sinks),
        )

    async def commit(self, change: Callable[[Learned], Commit]) -> bool:
        """Write all at once, over what other firings have learned meanwhile."""

        def write() -> bool:
            commit = change(Learned.of(self.record()))
            return self._store.schedules.commit_firing(
                commit.firing,
                detector=commit.learned.to_json(),
                baseline=commit.baseline,
                raised=commit.raised,
                resolved=commit.resolved,
            )

        return await alone(self._store, self._shot.schedule, write)


def find(store: SqlStore, schedule: str) -> ScheduleRecord:
    """Give a schedule.

    Raises
    ------
    UsageError
        There is none of this name.
    """
    record = store.schedules.get_schedule(schedule)
    if record is None:
        raise UsageError(f"there is no schedule {schedule!r}")
    return record


async def alone(store: SqlStore, schedule: str, write: Callable[[], bool]) -> bool:
    """Change a schedule's row while nobody else does.

    Raises
    ------
    ResumeError
        Somebody else does so for seconds.
    """
    for _ in range(CLAIM_TRIES):
        try:
            with store.claim(f"schedule-{schedule}"):
                return await asyncio.to_thread(write)
        except ResumeError:
            await asyncio.sleep(CLAIM_WAIT_S)
    raise ResumeError(f"schedule {schedule} is being changed by another process")


def said(seconds: float) -> str:
    """Write a time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
