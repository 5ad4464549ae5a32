"""The activities of a rollout: taken up, decided, and each action of the table performed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.exceptions import ApplicationError

from denv.errors import DenvError, ResumeError, StoreError
from denv.rollout import states
from denv.rollout.engine.admitting import admit
from denv.rollout.engine.beating import HeartbeatMemory, beating, stoppable
from denv.rollout.engine.commits import commit_of
from denv.rollout.engine.failing import failing_event, one_line
from denv.rollout.engine.kept_rollouts import action_of, read_rollout
from denv.rollout.engine.messages import (
    Admitted,
    Plain,
    RolloutOrder,
    StepGiven,
    StepTaken,
    Task,
)
from denv.rollout.engine.performing import PERFORMED, perform
from denv.rollout.engine.work import Work
from denv.store import SqlStore


@dataclass(frozen=True, slots=True)
class RolloutActivities:
    """What a stage's workflow has done; ``folder`` is that of the data."""

    store: SqlStore
    folder: Path

    @property
    def all(self) -> list[Callable[..., Any]]:
        """Give them for a worker."""
        return [self.admit, self.commit, *(self._performer(kind) for kind in PERFORMED)]

    @activity.defn(name="admit")
    async def admit(self, order: RolloutOrder) -> Admitted:
        """Take a rollout up."""
        async with beating():
            return await asyncio.to_thread(admit, order, self.store.rollouts, at=time.time())

    @activity.defn(name="commit")
    async def commit(self, given: StepGiven) -> StepTaken:
        """Write a decision with all that follows from it, or find it written."""
        async with beating():
            return await asyncio.to_thread(self._commit, given)

    def _commit(self, given: StepGiven) -> StepTaken:
        step = states.step_from_json(given.step)
        record, plan = read_rollout(self.store, given.rollout)
        if record.seq >= step.state.steps:
            return StepTaken(dict(record.state), ended=record.ended is not None)
        resolves = any(isinstance(each, states.ResolveAlarms) for each in step.actions)
        found = self.store.alarms.list_alarms(only_open=True, most=1000) if resolves else ()
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
        self.store.rollouts.commit_step(given.rollout, commit)
        return StepTaken(states.state_to_json(step.state), ended=given.ended)

    def _performer(self, kind: type[Any]) -> Callable[..., Any]:
        """Give the activity that performs one kind of action."""
        name = kind.__dataclass_fields__["type"].default

        @activity.defn(name=name)
        async def performed(task: Task) -> Plain:
            async with beating() as memory:
                return states.event_to_json(await self._performed(task, memory))

        return performed

    async def _performed(self, task: Task, memory: HeartbeatMemory) -> states.Event:
        record, plan = await asyncio.to_thread(read_rollout, self.store, task.rollout)
        action = action_of(task)

        async def work(stop: asyncio.Event) -> states.Event:
            return await perform(Work(record, plan, action, self.store, self.folder, memory, stop))

        try:
            event, stopped = await stoppable(work)
        except (StoreError, ResumeError):
            raise  # another try may do better
        except DenvError as error:
            return failing_event(action, one_line(error))
        if stopped and isinstance(event, states.GoldenUnproven | states.IncumbentNotProven):
            raise ApplicationError("the worker is shutting down")
        return event
