"""What a schedule's workflow has done for it, on the store and the sides."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from denv.errors import ResumeError, RunCancelledError, UsageError
from denv.rollout.engine.beating import beating, stoppable
from denv.rollout.engine.schedule_messages import (
    DueAsked,
    DueFound,
    FireAsked,
    FireDone,
    FullOpened,
    FullShard,
)
from denv.rollout.engine.schedules import full_id, matching_times
from denv.rollout.engine.sharding import shards_of, shards_to_plain
from denv.rollout.schedules.full import FullRun, Opened
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.scheduled import begin, fire
from denv.rollout.schedules.shots import Fired, Shot
from denv.store import SqlStore


async def _nobody() -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class ScheduleActivities:
    """The activities; ``on_alarms`` is awaited when alarms may have been raised or resolved."""

    store: SqlStore
    client: Client
    on_alarms: Callable[[], Awaitable[None]] = _nobody
    clock: Callable[[], float] = time.time

    @property
    def all(self) -> list[Callable[..., Any]]:
        """Give them for a worker."""
        return [self.due, self.fire, self.open, self.ask, self.close]

    @activity.defn(name="schedule-due")
    async def due(self, asked: DueAsked) -> DueFound:
        """Find the slots since the last one that is done, by the server's own calculation.

        They are one firing's: the latest is done, the others were missed. A slot that an earlier
        firing has made up for is done already.
        """
        order = asked.order
        if order.kind == "sentinel":
            return DueFound(asked.nominal, due=False)
        record = await asyncio.to_thread(self.store.schedules.get_schedule, order.schedule)
        if record is None:  # removed while this was on its way
            return DueFound(asked.nominal, done=True)
        done_to = Learned.of(record).done_to or record.created
        now = max(self.clock(), asked.nominal, asked.started)  # clocks differ between machines
        slots = await matching_times(self.client, full_id(order.schedule), after=done_to, to=now)
        if slots:
            return DueFound(slots[-1], missed=slots[:-1])
        if asked.nominal <= done_to and not asked.why and not order.rebase:
            return DueFound(asked.nominal, done=True)
        return DueFound(asked.nominal, due=False)

    @activity.defn(name="schedule-fire")
    async def fire(self, asked: FireAsked) -> FireDone:
        """Do a slot; a process that dies is followed by one that goes on with its run."""
        shot = _shot(asked)

        async def work(stop: asyncio.Event) -> Fired:
            return await fire(
                self.store,
                shot.schedule,
                shot.slot,
                kind=shot.kind,
                missed=shot.missed,
                due=shot.due,
                why=shot.why,
                rebase=shot.rebase,
                stop=stop,
                clock=self.clock,
            )

        async with beating():
            with _retried():
                fired, _ = await stoppable(work)
        return await self._told(fired)

    # ------------------------------------------------------------ full runs

    @activity.defn(name="schedule-open")
    async def open(self, asked: FireAsked) -> FullOpened:
        """Open a slot's full run, or find the slot done, or that a side will not be asked."""
        shot = _shot(asked)
        async with beating():
            with _retried():
                found = await begin(self.store, shot, clock=self.clock)
                if found is not None:
                    return FullOpened(done=await self._told(found))
                run = FullRun(self.store, shot, clock=self.clock)
            try:
                opened = await run.open()
            except ResumeError as error:  # another process has this run: it is tried again
                raise ApplicationError(str(error)) from None
            except UsageError as error:
                return FullOpened(done=await self._told(await run.not_asked(str(error))))
        await self.on_alarms()
        shards = opened.shards
        return FullOpened(
            shards=shards_to_plain(shards),
            to_ask=list(shards.to_ask),
            at_once=shards.at_once,
            rebase=opened.rebase,
        )

    @activity.defn(name="schedule-shard")
    async def ask(self, given: FullShard) -> str:
        """Ask what is not answered yet of one shard; say why a side would not take it."""
        with _retried():
            run = FullRun(self.store, _shot(given.asked), clock=self.clock)

        async def work(stop: asyncio.Event) -> str:
            try:
                await run.ask(_opened(given), given.shard, stop=stop)
            except ResumeError as error:
                raise ApplicationError(str(error)) from None
            except UsageError as error:
                return str(error)
            return ""

        async with beating():
            refused, stopped = await stoppable(work)
        if stopped:
            raise ApplicationError("the worker is shutting down")
        return refused

    @activity.defn(name="schedule-close")
    async def close(self, given: FullShard) -> FireDone:
        """Weigh the run with all before it, and write what follows from it."""
        async with beating():
            with _retried():
                run = FullRun(self.store, _shot(given.asked), clock=self.clock)
                if given.refused:
                    fired = await run.not_asked("\n".join(given.refused))
                else:
                    fired = await run.close(_opened(given))
        return await self._told(fired)

    async def _told(self, fired: Fired) -> FireDone:
        """Have sinks told, and give what became of it."""
        await self.on_alarms()
        return FireDone(
            fired.kind,
            verdict=fired.verdict,
            run=fired.run,
            raised=list(fired.raised),
            escalate=list(fired.escalate),
            again=fired.again,
        )


def _shot(asked: FireAsked) -> Shot:
    order, due = asked.order, asked.due
    return Shot(
        order.schedule,
        due.slot,
        "sentinel" if order.kind == "sentinel" else "full",
        missed=tuple(due.missed),
        due=due.due,
        why=tuple(asked.why),
        rebase=order.rebase,
    )


def _opened(given: FullShard) -> Opened:
    return Opened(shards_of(given.shards), given.rebase)


@contextmanager
def _retried() -> Iterator[None]:
    """Have all tried again but what is of no use, as with a schedule that is gone."""
    try:
        yield
    except UsageError as error:
        gone = type(error) is UsageError  # a run that another process holds is another kind
        raise ApplicationError(str(error), non_retryable=gone) from None
    except RunCancelledError as error:
        raise ApplicationError(str(error)) from None
