"""One parity run of a rollout: opened, its shards asked by whoever is free, closed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from denv.rollout.engine.messages import OpenedRun, ParityOrder, Plain, ShardTask
    from denv.rollout.engine.retries import FIRM, PATIENT
    from denv.rollout.engine.sharding import some_at_once

ONE_DAY = timedelta(days=1)


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

        async def ask(shard: int) -> int:
            task = ShardTask(order.task, opened.shards, shard)
            done: int = await self._do("ask-shard", task, order, kind=int, retry=PATIENT)
            return done

        await some_at_once(ask, opened.to_ask, at_once=opened.at_once)
        closing = ShardTask(order.task, opened.shards)
        event: Plain = await self._do("close-parity", closing, order, kind=dict, retry=FIRM)
        return event

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
