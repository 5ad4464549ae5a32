"""What a stage's workflow does of its own: each awaited action, until its answer comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError, is_cancelled_exception
from temporalio.workflow import ActivityCancellationType, ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from denv.rollout import states
    from denv.rollout.engine.failing import failing_event
    from denv.rollout.engine.messages import ParityOrder, Plain, RolloutOrder, Task
    from denv.rollout.engine.retries import FIRM, PATIENT

ONE_DAY = timedelta(days=1)
CHANGING = (states.StartReplicas, states.SetWeights, states.RestoreWeights, states.StopReplicas)
"""What changes the world: it has come to its end before anything else is begun."""


class StageActions:
    """The actions of a rollout that are under way; ``broken`` is what ended one badly."""

    def __init__(self, order: RolloutOrder, tell: Callable[[states.Event], None]) -> None:
        self._order, self._tell = order, tell
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self.broken: Exception | None = None

    @property
    def names(self) -> list[str]:
        """What is under way."""
        return [task.get_name() for task in self._tasks.values()]

    def begin(self, pending: Collection[Any], *, answered: Collection[int | None]) -> None:
        """Begin what is pending and not under way, but for what is answered already."""
        for action in pending:
            if action.number not in self._tasks and action.number not in answered:
                self._tasks[action.number] = asyncio.create_task(
                    self._perform(action), name=action.type
                )

    async def stop_all_but(self, pending: Collection[Any]) -> None:
        """Stop what is no longer awaited, and wait for what changes the world."""
        awaited = {action.number for action in pending}
        stale = [task for number, task in self._tasks.items() if number not in awaited]
        for task in stale:
            task.cancel()
        if stale:
            await asyncio.gather(*stale, return_exceptions=True)

    async def _perform(self, action: Any) -> None:
        try:
            self._tell(await self._answer(action))
        except (ActivityError, ChildWorkflowError):
            raise  # cancelled
        except Exception as error:  # noqa: BLE001 - raised where the workflow waits
            self.broken = error
        finally:
            self._tasks.pop(action.number, None)

    async def _answer(self, action: Any) -> states.Event:
        if isinstance(action, states.Wait):
            await asyncio.sleep(action.seconds)
            return states.RetryDue(answers=action.number)
        task = Task(self._order.rollout, states.action_to_json(action))
        try:
            plain = await self._carried_out(action, task)
        except (ActivityError, ChildWorkflowError) as error:
            if is_cancelled_exception(error):
                raise
            return failing_event(action, _reason(error))
        return states.event_from_json(plain)

    async def _carried_out(self, action: Any, task: Task) -> Plain:
        if isinstance(action, states.RunParity | states.Look):
            plain: Plain = await workflow.execute_child_workflow(
                "parity",
                ParityOrder(task, self._order.heartbeat_s),
                id=f"parity/{self._order.rollout}/{action.number}",
                result_type=dict,
                parent_close_policy=ParentClosePolicy.REQUEST_CANCEL,
            )
            return plain
        # A look that fails here says nothing of the release; no watch, no baked time.
        watching = isinstance(action, states.Watch)
        done: Plain = await workflow.execute_activity(
            action.type,
            task,
            result_type=dict,
            start_to_close_timeout=ONE_DAY,
            heartbeat_timeout=timedelta(seconds=self._order.heartbeat_s),
            retry_policy=PATIENT if watching else FIRM,
            cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED
            if isinstance(action, CHANGING)
            else ActivityCancellationType.TRY_CANCEL,
        )
        return done


def _reason(error: BaseException) -> str:
    cause = error.__cause__
    text = str(cause if cause is not None else error).split("\n", 1)[0]
    return f"the work could not be done: {text[:300]}"
