"""The activities of a rollout's parity runs and looks: opened, shards asked, closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from denv.errors import DenvError, ResumeError, StoreError
from denv.rollout import states
from denv.rollout.engine.beating import beating, stoppable
from denv.rollout.engine.failing import failing_event, one_line, unproven
from denv.rollout.engine.kept_rollouts import action_of, is_awaited, read_rollout
from denv.rollout.engine.messages import OpenedRun, Plain, ShardTask, Task
from denv.rollout.engine.proofs import event_of, run_id, settings_of, stage_of
from denv.rollout.engine.sharding import shards_of, shards_to_plain
from denv.rollout.plan import Plan
from denv.runner import close_shards, open_shards, run_shard
from denv.store import RolloutRecord, SqlStore

NOT_AWAITED = "it is no longer awaited"


@dataclass(frozen=True, slots=True)
class ParityActivities:
    """What a parity run's workflow has done.

    A try that comes after its run is no longer awaited, as a look does that a person's word has
    overtaken, finds its rollout in another batch: it ends without asking anybody.
    """

    store: SqlStore

    @property
    def all(self) -> list[Callable[..., Any]]:
        """Give them for a worker."""
        return [self.open_parity, self.ask_shard, self.close_parity]

    @activity.defn(name="open-parity")
    async def open_parity(self, task: Task) -> OpenedRun:
        """Check both sides and write the run's row; a side that cannot be used is an event."""
        async with beating():
            record, plan, action = await self._read(task)
            if not is_awaited(record, action):
                return _no_run(failing_event(action, NOT_AWAITED))
            try:
                shards = await open_shards(
                    **await asyncio.to_thread(_asked, record, plan, action),
                    store=self.store,
                    shards=plan.rollout.shards or 1,
                    run_id=run_id(record.rollout, action),
                )
            except (StoreError, ResumeError):
                raise  # another try may do better
            except DenvError as error:
                return _no_run(_not_opened(plan, action, one_line(error)))
            return OpenedRun(
                shards=shards_to_plain(shards), to_ask=list(shards.to_ask), at_once=shards.at_once
            )

    @activity.defn(name="ask-shard")
    async def ask_shard(self, given: ShardTask) -> int:
        """Ask what is not answered yet of one shard."""
        async with beating():
            record, plan, action = await self._read(given.task)
            if not is_awaited(record, action):
                return 0
            asked = await asyncio.to_thread(_asked, record, plan, action)

            async def work(stop: asyncio.Event) -> int:
                end = await run_shard(
                    **asked,
                    plan=shards_of(given.shards),
                    shard=given.shard,
                    store=self.store,
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
            record, plan, action = await self._read(given.task)
            if not is_awaited(record, action):
                return states.event_to_json(failing_event(action, NOT_AWAITED))
            shards = shards_of(given.shards)
            report = await close_shards(
                **await asyncio.to_thread(_asked, record, plan, action),
                plan=shards,
                store=self.store,
            )
            event = await asyncio.to_thread(
                lambda: event_of(plan, action, report, store=self.store, down=shards.down)
            )
            return states.event_to_json(event)

    async def _read(self, task: Task) -> tuple[RolloutRecord, Plan, Any]:
        record, plan = await asyncio.to_thread(read_rollout, self.store, task.rollout)
        return record, plan, action_of(task)


def _asked(record: RolloutRecord, plan: Plan, action: Any) -> dict[str, Any]:
    """Read all that a run is made of; in a thread, since suites may be large."""
    batch = states.state_from_json(record.state).batch
    return {
        "suite": plan.suite.load(),
        "stage": stage_of(plan, action, batch=batch),
        "reference": plan.reference.endpoint(),
        "settings": settings_of(plan, action, rollout=record.rollout),
    }


def _no_run(event: states.Event) -> OpenedRun:
    return OpenedRun(event=states.event_to_json(event))


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
