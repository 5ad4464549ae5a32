"""One parity run of a rollout: opened, its shards asked by whoever is free, closed."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from denv.rollout.engine.messages import OpenedRun, ParityOrder, Plain, ShardTask

ONE_DAY = timedelta(days=1)
FIRM = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    maximum_interval=timedelta(seconds=15),
    maximum_attempts=8,
)
PATIENT = RetryPolicy(
    initial_interval=timedelta(seconds=0.5), maximum_interval=timedelta(seconds=15)
)


@workflow.defn(name="parity")
class ParityWorkflow:
    """Asks a suite's shards, some at once, and gives the event that the run ends with."""

    @workflow.run
    async def run(self, order: ParityOrder) -> Plain:
        """Open, ask, close."""
        opened: OpenedRun = await self._do(
            "open-parity", order.task, order, kind=OpenedRun, retry=FIRM
        )
        if opened.event is not None:
            return opened.event
        slots = asyncio.Semaphore(opened.at_once)
        await asyncio.gather(*(self._ask(order, opened, n, slots=slots) for n in opened.to_ask))
        closing = ShardTask(order.task, opened.shards)
        event: Plain = await self._do("close-parity", closing, order, kind=dict, retry=FIRM)
        return event

    async def _ask(
        self, order: ParityOrder, opened: OpenedRun, shard: int, *, slots: asyncio.Semaphore
    ) -> None:
        async with slots:
            task = ShardTask(order.task, opened.shards, shard)
            await self._do("ask-shard", task, order, kind=int, retry=PATIENT)

    async def _do(
        self, name: str, given: Any, order: ParityOrder, *, kind: type[Any], retry: RetryPolicy
    ) -> Any:
        return await workflow.execute_activity(
            name,
            given,
            result_type=kind,
            start_to_close_timeout=ONE_DAY,
            heartbeat_timeout=timedelta(seconds=order.heartbeat_s),
            retry_policy=retry,
        )
