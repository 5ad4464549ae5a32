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
        FullOpened,
        FullShard,
        ScheduleOrder,
    )
    from denv.rollout.engine.sharding import some_at_once

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
        # A slot that an earlier version of this program has begun is done as it did it.
        if order.kind != "sentinel" and workflow.patched("full-runs-in-shards"):
            return await self._full(given)
        done: FireDone = await _do("schedule-fire", given, FireDone, longest=LONGEST)
        return done

    async def _full(self, given: FireAsked) -> FireDone:
        """Open a full run, have its shards asked by whoever is free, and weigh it."""
        opened: FullOpened = await _do("schedule-open", given, FullOpened, longest=LONGEST)
        if opened.done is not None:
            return opened.done

        async def ask(shard: int) -> str:
            one = FullShard(given, opened.shards, opened.rebase, shard)
            refused: str = await _do("schedule-shard", one, str, longest=LONGEST)
            return refused

        refused = await some_at_once(ask, opened.to_ask, at_once=opened.at_once)
        said = [why for why in dict.fromkeys(refused) if why]
        end = FullShard(given, opened.shards, opened.rebase, refused=said)
        done: FireDone = await _do("schedule-close", end, FireDone, longest=LONGEST)
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
