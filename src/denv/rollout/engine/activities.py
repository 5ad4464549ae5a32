"""The activities: what workflows have done in the store and in the world."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from denv.alarms import deliver_once, make_sink, resend, wait_s
from denv.errors import DeliveryError, DenvError, ResumeError, StoreError
from denv.rollout import states
from denv.rollout.engine.admitting import admit
from denv.rollout.engine.beating import beating, stoppable
from denv.rollout.engine.commits import commit_of
from denv.rollout.engine.failing import failing_event, unproven
from denv.rollout.engine.messages import (
    Admitted,
    AlarmOrder,
    Delivered,
    DeliveryGiven,
    OpenedRun,
    Plain,
    RolloutOrder,
    ShardTask,
    StepGiven,
    StepTaken,
    Task,
)
from denv.rollout.engine.patience import heartbeat_s
from denv.rollout.engine.performing import PERFORMED, Work, perform
from denv.rollout.engine.proofs import event_of, run_id, settings_of, stage_of
from denv.rollout.plan import Plan
from denv.runner import ShardPlan, close_shards, open_shards, run_shard
from denv.store import DeliveryState, RolloutRecord, SqlStore


class Activities:
    """All activities of one worker, on one store."""

    def __init__(self, store: SqlStore, *, folder: Path, client: Client, queue: str) -> None:
        self._store = store
        self._folder = folder
        self._client = client
        self._queue = queue

    def all(self) -> Sequence[Callable[..., Any]]:
        """Give the functions that a worker registers."""
        return [
            self.admit,
            self.commit,
            self.tell_sinks,
            self.deliver_alarm,
            self.open_parity,
            self.ask_shard,
            self.close_parity,
            *(self._performer(kind) for kind in PERFORMED),
        ]

    # ------------------------------------------------------------ the store

    @activity.defn(name="admit")
    async def admit(self, order: RolloutOrder) -> Admitted:
        """Take a rollout up."""
        async with beating():
            return await asyncio.to_thread(admit, order, self._store.rollouts, at=time.time())

    @activity.defn(name="commit")
    async def commit(self, given: StepGiven) -> StepTaken:
        """Write a decision with all that follows from it, or find it written."""
        async with beating():
            return await asyncio.to_thread(self._commit, given)

    def _commit(self, given: StepGiven) -> StepTaken:
        step = states.step_from_json(given.step)
        record, plan = self._read(given.rollout)
        if record.seq >= step.state.steps:
            return StepTaken(dict(record.state), ended=record.ended is not None)
        resolves = any(isinstance(each, states.ResolveAlarms) for each in step.actions)
        found = self._store.alarms.list_alarms(only_open=True, most=1000) if resolves else ()
        commit = commit_of(
            record,
            plan,
            step=step,
            phase=given.phase,
            event=given.event,
            ended=given.ended,
            at=time.time(),
            open_alarms=found,
        )
        self._store.rollouts.commit_step(given.rollout, commit)
        return StepTaken(states.state_to_json(step.state), ended=given.ended)

    def _read(self, rollout: str) -> tuple[RolloutRecord, Plan]:
        record = self._store.rollouts.get_rollout(rollout)
        if record is None:
            raise StoreError(f"there is no rollout {rollout}")
        return record, Plan.from_json(json.dumps(record.plan))

    # ------------------------------------------------------------ alarms

    @activity.defn(name="tell-sinks")
    async def tell_sinks(self, rollout: str) -> int:
        """See that each sink that is owed something has a workflow that tells it."""
        async with beating():
            return await tell_all_sinks(self._client, self._store, queue=self._queue)

    @activity.defn(name="deliver-alarm")
    async def deliver_alarm(self, given: DeliveryGiven) -> Delivered:
        """Tell one sink what it is owed of one alarm, or fire once more while it is open."""
        async with beating():
            return await self._deliver(given)

    async def _deliver(self, given: DeliveryGiven) -> Delivered:
        alarm = await asyncio.to_thread(self._store.alarms.get_alarm, given.alarm)
        if alarm is None:
            return Delivered(over=True, wait_s=None)
        rows = await asyncio.to_thread(self._store.alarms.deliveries, given.alarm)
        mine = [row for row in rows if row.sink == given.sink]
        if not mine:
            return Delivered(over=True, wait_s=None)
        try:
            sink = make_sink(mine[-1].settings)
            told = await deliver_once(self._store.alarms, alarm, sink, clock=time.time)
            if given.again and not told:
                await resend(self._store.alarms, given.alarm, sink)
        except DeliveryError as error:
            tried = max((row.attempts for row in mine), default=0)
            return Delivered(over=False, wait_s=wait_s(tried), error=str(error))
        over = await asyncio.to_thread(self._is_over, given)
        return Delivered(over=over, wait_s=sink.resend_s)

    def _is_over(self, given: DeliveryGiven) -> bool:
        alarm = self._store.alarms.get_alarm(given.alarm)
        if alarm is None:
            return True
        waiting = (
            each.sink
            for each in self._store.alarms.deliveries(alarm.alarm)
            if each.state is DeliveryState.WAITING
        )
        return alarm.resolved is not None and given.sink not in waiting

    # ------------------------------------------------------------ actions

    def _performer(self, kind: type[Any]) -> Callable[..., Any]:
        name = kind.__dataclass_fields__["type"].default

        @activity.defn(name=name)
        async def performed(task: Task) -> Plain:
            async with beating() as memory:
                record, plan = await asyncio.to_thread(self._read, task.rollout)
                action = states.action_from_json(task.action)

                async def work(stop: asyncio.Event) -> states.Event:
                    return await perform(
                        Work(record, plan, action, self._store, self._folder, memory, stop)
                    )

                try:
                    event, stopped = await stoppable(work)
                except (StoreError, ResumeError):
                    raise  # another try may do better
                except DenvError as error:
                    return states.event_to_json(failing_event(action, _line(error)))
                if stopped and isinstance(event, states.GoldenUnproven | states.IncumbentNotProven):
                    raise ApplicationError("the worker is shutting down")
                return states.event_to_json(event)

        return performed

    # ------------------------------------------------------------ parity

    @activity.defn(name="open-parity")
    async def open_parity(self, task: Task) -> OpenedRun:
        """Check both sides and write the run's row; a side that cannot be used is an event."""
        async with beating():
            record, plan = await asyncio.to_thread(self._read, task.rollout)
            action: Any = states.action_from_json(task.action)
            try:
                shards = await open_shards(
                    await asyncio.to_thread(plan.suite.load),
                    **self._sides(record, plan, action),
                    store=self._store,
                    shards=plan.rollout.shards or 1,
                    run_id=run_id(record.rollout, action),
                )
            except (StoreError, ResumeError):
                raise
            except DenvError as error:
                event = _not_opened(plan, action, _line(error))
                return OpenedRun(event=states.event_to_json(event))
            return OpenedRun(
                shards=asdict(shards), to_ask=list(shards.to_ask), at_once=shards.at_once
            )

    @activity.defn(name="ask-shard")
    async def ask_shard(self, given: ShardTask) -> int:
        """Ask what is not answered yet of one shard."""
        async with beating():
            record, plan = await asyncio.to_thread(self._read, given.task.rollout)
            action: Any = states.action_from_json(given.task.action)
            suite = await asyncio.to_thread(plan.suite.load)
            sides = self._sides(record, plan, action)

            async def work(stop: asyncio.Event) -> int:
                end = await run_shard(
                    suite,
                    **sides,
                    plan=_shard_plan(given.shards),
                    shard=given.shard,
                    store=self._store,
                    stop=stop,
                )
                return end.done

            done, stopped = await stoppable(work)
            if stopped:
                raise ApplicationError("the worker is shutting down")
            return done

    @activity.defn(name="close-parity")
    async def close_parity(self, given: ShardTask) -> Plain:
        """Judge the run and give the event that it ends with."""
        async with beating():
            record, plan = await asyncio.to_thread(self._read, given.task.rollout)
            action: Any = states.action_from_json(given.task.action)
            shards = _shard_plan(given.shards)
            report = await close_shards(
                await asyncio.to_thread(plan.suite.load),
                **self._sides(record, plan, action),
                plan=shards,
                store=self._store,
            )
            event = await asyncio.to_thread(
                lambda: event_of(plan, action, report, store=self._store, down=shards.down)
            )
            return states.event_to_json(event)

    def _sides(self, record: RolloutRecord, plan: Plan, action: Any) -> dict[str, Any]:
        batch = states.state_from_json(record.state).batch
        return {
            "stage": stage_of(plan, action, batch=batch),
            "reference": plan.reference.endpoint(),
            "settings": settings_of(plan, action, rollout=record.rollout),
        }


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


def _shard_plan(plain: Plain) -> ShardPlan:
    return ShardPlan(
        run=plain["run"],
        shards=tuple((first, last) for first, last in plain["shards"]),
        at_once=plain["at_once"],
        down=plain["down"],
        rate_limited=tuple(plain["rate_limited"]),
    )


def _not_opened(plan: Plan, action: Any, why: str) -> states.Event:
    if isinstance(action, states.RunParity):
        return unproven(
            action.number,
            why,
            run=action.again or "",
            proof=plan.proof_digest,
            unanswered=plan.suite.cases,
        )
    return failing_event(action, why)


def _line(error: Exception) -> str:
    return "; ".join(str(error).split("\n"))[:500]
