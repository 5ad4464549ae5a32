"""The activities of alarms: each sink that is owed something is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from temporalio import activity
from temporalio.client import Client

from denv.alarms import deliver_once, make_sink, resend, wait_s
from denv.errors import DeliveryError
from denv.rollout.engine.beating import beating
from denv.rollout.engine.messages import AlarmOrder, Delivered, DeliveryGiven
from denv.rollout.engine.patience import heartbeat_s
from denv.rollout.secrets import secrets_about
from denv.store import AlarmRecord, DeliveryRecord, DeliveryState, SqlStore


@dataclass(frozen=True, slots=True)
class AlarmActivities:
    """What an alarm's workflow has done; workflows for alarms are started on ``queue``."""

    store: SqlStore
    client: Client
    queue: str

    @property
    def all(self) -> list[Callable[..., Any]]:
        """Give them for a worker."""
        return [self.tell_sinks, self.deliver_alarm]

    @activity.defn(name="tell-sinks")
    async def tell_sinks(self, rollout: str) -> int:
        """See that each sink that is owed something has a workflow that tells it."""
        async with beating():
            return await tell_all_sinks(self.client, self.store, queue=self.queue)

    @activity.defn(name="deliver-alarm")
    async def deliver_alarm(self, given: DeliveryGiven) -> Delivered:
        """Tell one sink what it is owed of one alarm, or fire once more while it is open."""
        async with beating():
            alarm = await asyncio.to_thread(self.store.alarms.get_alarm, given.alarm)
            rows = await asyncio.to_thread(self.store.alarms.deliveries, given.alarm)
            mine = [row for row in rows if row.sink == given.sink]
            if alarm is None or not mine:
                return Delivered(over=True, wait_s=None)
            return await self._deliver(given, alarm, mine=mine)

    async def _deliver(
        self, given: DeliveryGiven, alarm: AlarmRecord, *, mine: list[DeliveryRecord]
    ) -> Delivered:
        hidden = await asyncio.to_thread(secrets_about, self.store, alarm)
        try:
            sink = make_sink(mine[-1].settings, hidden=hidden)
            told = await deliver_once(self.store.alarms, alarm, sink, clock=time.time)
            if given.again and not told:
                await resend(self.store.alarms, given.alarm, sink)
        except DeliveryError as error:
            tried = max((row.attempts for row in mine), default=0)
            return Delivered(over=False, wait_s=wait_s(tried), error=str(error))
        over = await asyncio.to_thread(self._is_over, given)
        return Delivered(over=over, wait_s=sink.resend_s)

    def _is_over(self, given: DeliveryGiven) -> bool:
        alarm = self.store.alarms.get_alarm(given.alarm)
        if alarm is None:
            return True
        waiting = (
            each.sink
            for each in self.store.alarms.deliveries(alarm.alarm)
            if each.state is DeliveryState.WAITING
        )
        return alarm.resolved is not None and given.sink not in waiting


async def tell_all_sinks(client: Client, store: SqlStore, *, queue: str) -> int:
    """See that each delivery that waits has its workflow; one that runs is told to look."""
    waiting = await asyncio.to_thread(store.alarms.waiting_deliveries)
    pairs = sorted({(each.alarm, each.sink) for each in waiting})
    for alarm, sink in pairs:
        await client.start_workflow(
            "alarm",
            AlarmOrder(alarm, sink, heartbeat_s()),
            id=f"alarm/{alarm}/{sink}",
            task_queue=queue,
            start_signal="changed",
        )
    return len(pairs)
