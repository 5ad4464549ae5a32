"""What a schedule's workflow has done for it, on the store and the sides."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from denv.errors import RunCancelledError, UsageError
from denv.rollout.engine.beating import beating, stoppable
from denv.rollout.engine.schedule_messages import DueAsked, DueFound, FireAsked, FireDone
from denv.rollout.engine.schedules import full_id, matching_times
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.scheduled import fire
from denv.rollout.schedules.shots import Fired
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
        return [self.due, self.fire]

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
        order, due = asked.order, asked.due

        async def work(stop: asyncio.Event) -> Fired:
            return await fire(
                self.store,
                order.schedule,
                due.slot,
                kind="sentinel" if order.kind == "sentinel" else "full",
                missed=due.missed,
                due=due.due,
                why=asked.why,
                rebase=order.rebase,
                stop=stop,
                clock=self.clock,
            )

        async with beating():
            try:
                fired, _ = await stoppable(work)
            except UsageError as error:
                raise ApplicationError(str(error), non_retryable=_is_gone(error)) from None
            except RunCancelledError as error:
                raise ApplicationError(str(error)) from None
        await self.on_alarms()
        return FireDone(
            fired.kind,
            verdict=fired.verdict,
            run=fired.run,
            raised=list(fired.raised),
            escalate=list(fired.escalate),
            again=fired.again,
        )


def _is_gone(error: UsageError) -> bool:
    """Whether trying again is of no use; a run that another process holds is tried again."""
    return type(error) is UsageError
