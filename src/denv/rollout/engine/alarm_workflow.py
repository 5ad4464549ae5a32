"""One alarm to one sink: told until it is taken, told again while it is open, then resolved."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from denv.rollout.engine.messages import AlarmOrder, Delivered, DeliveryGiven

PATIENT = RetryPolicy(
    initial_interval=timedelta(seconds=0.5), maximum_interval=timedelta(seconds=60)
)
LOOK_AGAIN_S = 300.0
"""Without a sign from anybody the store is looked at this often."""

MOST_EVENTS = 4_000


@workflow.defn(name="alarm")
class AlarmWorkflow:
    """Brings one alarm to one sink; a sink that is down delays nothing else."""

    def __init__(self) -> None:
        self._changed = False

    @workflow.signal
    def changed(self) -> None:
        """Look at the store now: the alarm was raised again or resolved."""
        self._changed = True

    @workflow.run
    async def run(self, order: AlarmOrder) -> None:
        """Deliver until the alarm is resolved and the sink knows it."""
        again = False
        while True:
            self._changed = False
            done = await workflow.execute_activity(
                "deliver-alarm",
                DeliveryGiven(order.alarm, order.sink, again),
                result_type=Delivered,
                start_to_close_timeout=timedelta(minutes=5),
                heartbeat_timeout=timedelta(seconds=order.heartbeat_s),
                retry_policy=PATIENT,
            )
            if done.over and not self._changed:
                return
            again = await self._waited(done)
            if workflow.info().get_current_history_length() > MOST_EVENTS:
                workflow.continue_as_new(order)

    async def _waited(self, done: Delivered) -> bool:
        """Wait for the next try or a sign; True where the alarm is to be fired once more."""
        wait_s = LOOK_AGAIN_S if done.wait_s is None else done.wait_s
        try:
            await workflow.wait_condition(lambda: self._changed, timeout=wait_s)
        except asyncio.TimeoutError:  # noqa: UP041 - Temporal's own is this one
            return done.error is None and done.wait_s is not None
        return False
