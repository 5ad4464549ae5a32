"""A slot of a schedule: which it is, what was missed, and the run that makes up for all."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey

with workflow.unsafe.imports_passed_through():
    from denv.rollout.engine.schedule_messages import (
        DueAsked,
        DueFound,
        FireAsked,
        FireDone,
        ScheduleOrder,
    )

NOMINAL = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
HEARTBEAT_S = 30.0
LONGEST = timedelta(days=7)
PATIENT = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=60))


@workflow.defn(name="schedule")
class ScheduleWorkflow:
    """Does one slot; a sentinel that is not calm is followed by a full run."""

    @workflow.run
    async def run(self, order: ScheduleOrder) -> FireDone:
        """Find out what is due, and do it."""
        done = await self._fire(order)
        if not done.escalate:
            return done
        full = ScheduleOrder(order.schedule)
        return await self._fire(full, why=done.escalate)

    async def _fire(self, order: ScheduleOrder, *, why: list[str] | None = None) -> FireDone:
        reasons = why or []
        started = workflow.info().start_time.timestamp()
        asked = DueAsked(order, _nominal(), started, reasons)
        due: DueFound = await _do("schedule-due", asked, DueFound, longest=timedelta(minutes=2))
        if due.done:
            return FireDone(order.kind, again=True)
        # What is due is in the history now: however often the run is taken up, it is one slot's.
        given = FireAsked(order, due, reasons)
        done: FireDone = await _do("schedule-fire", given, FireDone, longest=LONGEST)
        return done


def _nominal() -> float:
    """Give the time that the server has planned this for, or that it was asked for by hand."""
    planned = workflow.info().typed_search_attributes.get(NOMINAL)
    return (planned or workflow.info().start_time).timestamp()


async def _do(name: str, given: Any, kind: type[Any], *, longest: timedelta) -> Any:
    return await workflow.execute_activity(
        name,
        given,
        result_type=kind,
        start_to_close_timeout=longest,
        heartbeat_timeout=timedelta(seconds=HEARTBEAT_S),
        retry_policy=PATIENT,
    )
