"""A stage's workflow: carries out one rollout at a time, by the table, and then what follows it.

Each decision is written by one activity before anything of it is done. What is done then are the
actions that the state awaits; each is an activity or a workflow of its own, and answers with an
event. The state is the store's: a workflow that begins anew takes it up from there.
"""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ChildWorkflowError, is_cancelled_exception
from temporalio.workflow import ActivityCancellationType, ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from denv.rollout import states
    from denv.rollout.engine.failing import failing_event
    from denv.rollout.engine.messages import (
        Admitted,
        ParityOrder,
        Plain,
        RolloutOrder,
        StageOrder,
        Status,
        StepGiven,
        StepTaken,
        Task,
        Word,
    )

ONE_DAY = timedelta(days=1)
PATIENT = RetryPolicy(
    initial_interval=timedelta(seconds=0.5), maximum_interval=timedelta(seconds=15)
)
FIRM = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    maximum_interval=timedelta(seconds=15),
    maximum_attempts=8,
)
CHANGING = (states.StartReplicas, states.SetWeights, states.RestoreWeights, states.StopReplicas)
"""What changes the world: it has come to its end before anything else is begun."""

MOST_EVENTS = 4_000
"""A workflow's history is begun anew at this length, long before the server's own limit."""

AGAINST = (states.Rollback, states.Superseded, states.Cancel)
"""What takes a release back."""

UNPROVEN = frozenset(
    {
        states.Phase.STARTING,
        states.Phase.HEALTH,
        states.Phase.GOLDEN,
        states.Phase.PARITY,
        states.Phase.HOLDING,
    }
)


@workflow.defn(name="rollout")
class StageWorkflow:
    """Rolls out one release after the other on one stage."""

    @workflow.init
    def __init__(self, given: StageOrder) -> None:
        self._order = given.order
        self._following = given.following
        self._events: deque[states.Event] = deque(map(states.event_from_json, given.arrived))
        self._deadline = given.deadline
        self._deadline_batch = given.deadline_batch
        self._clock: asyncio.Task[None] | None = None
        self._performing: dict[int, asyncio.Task[None]] = {}
        self._state: states.State | None = None
        self._ended = False
        self._broken: Exception | None = None

    @workflow.run
    async def run(self, given: StageOrder) -> str:
        """Carry out the rollout; give the phase that it ended in."""
        await self._take_up()
        while not self._ended:
            await workflow.wait_condition(lambda: bool(self._events) or self._broken is not None)
            if self._broken is not None:
                raise self._broken
            await self._decide(self._events.popleft())
            self._go_on()
        if self._following is not None:
            workflow.continue_as_new(StageOrder(order=self._following))
        return self._now.phase.value

    # ------------------------------------------------------------ what others say

    @workflow.signal
    def promote(self, word: Word) -> None:
        """End the bake now."""
        self._hear(word, states.Promote(by=word.by))

    @workflow.signal
    def rollback(self, word: Word) -> None:
        """Take the release back."""
        self._hear(word, states.Rollback(by=word.by, reason=word.reason))

    @workflow.signal
    def cancel(self, word: Word) -> None:
        """Cancel the rollout."""
        self._hear(word, states.Cancel(by=word.by))

    @workflow.signal
    def supersede(self, order: RolloutOrder) -> None:
        """End this rollout for the sake of another; told twice, or of itself, nothing changes."""
        waiting = self._following
        told = {self._order.rollout, None if waiting is None else waiting.rollout}
        if order.rollout in told or self._is_wanted(order.proof):
            return
        self._following = order
        self._events.append(states.Superseded(by_release=order.release))

    @workflow.query
    def status(self) -> Status:
        """Tell what is being done."""
        state = self._state
        return Status(
            rollout=self._order.rollout,
            steps=state.steps if state else 0,
            phase=state.phase.value if state else states.Phase.PENDING.value,
            performing=[task.get_name() for task in self._performing.values()],
            deadline=self._deadline,
            following=self._following.rollout if self._following else None,
            proof=self._order.proof,
            following_proof=self._following.proof if self._following else None,
        )

    def _is_wanted(self, proof: str) -> bool:
        """Tell whether what waits, or else what is under way, is to prove just this."""
        if self._following is not None:
            return self._following.proof == proof
        if self._order.proof != proof or any(isinstance(one, AGAINST) for one in self._events):
            return False
        if self._state is None:
            return bool(self._order.plan)  # new, not taken up again from wherever it stands
        return self._state.phase not in states.TERMINAL | states.BACK

    def _hear(self, word: Word, event: states.Event) -> None:
        if word.rollout == self._order.rollout:
            self._events.append(event)

    # ------------------------------------------------------------ decisions

    @property
    def _now(self) -> states.State:
        if self._state is None:
            raise RuntimeError("the rollout was not taken up")
        return self._state

    async def _take_up(self) -> None:
        admitted = await self._store_call("admit", self._order, Admitted)
        self._order.plan = {}
        self._state = states.state_from_json(admitted.state)
        self._ended = admitted.ended
        self._events.extendleft(map(states.event_from_json, reversed(admitted.events)))
        if not self._ended:
            await self._tell_sinks()
            self._keep_time()
            self._perform_awaited()

    async def _decide(self, event: states.Event) -> None:
        before = self._now
        step = states.next_state(before, event)
        taken = await self._store_call(
            "commit",
            StepGiven(
                rollout=self._order.rollout,
                phase=before.phase.value,
                event=states.event_to_json(event),
                step=states.step_to_json(step),
                ended=step.state.ended,
            ),
            StepTaken,
        )
        # What stands in the store holds, also where a newer table would decide otherwise.
        self._state = states.state_from_json(taken.state)
        self._ended = taken.ended
        self._refuse_following()
        await self._stop_unawaited()
        self._keep_time()
        if any(isinstance(one, states.RaiseAlarm | states.ResolveAlarms) for one in step.actions):
            await self._tell_sinks()

    def _refuse_following(self) -> None:
        """Let nothing follow a rollback that is incomplete, except what asks to only now."""
        asks = any(isinstance(event, states.Superseded) for event in self._events)
        if self._now.phase is states.Phase.ROLLBACK_INCOMPLETE and not asks:
            self._following = None

    async def _tell_sinks(self) -> None:
        await self._store_call("tell-sinks", self._order.rollout, int)

    async def _store_call(self, name: str, given: Any, kind: type[Any]) -> Any:
        return await workflow.execute_activity(
            name,
            given,
            result_type=kind,
            start_to_close_timeout=timedelta(minutes=5),
            heartbeat_timeout=timedelta(seconds=self._order.heartbeat_s),
            retry_policy=PATIENT,
        )

    def _go_on(self) -> None:
        """Begin what the state awaits, in a new history where this one has grown long."""
        if self._ended:
            return
        if not self._performing and self._long():
            workflow.continue_as_new(self._rest())
        self._perform_awaited()

    def _long(self) -> bool:
        info = workflow.info()
        return info.is_continue_as_new_suggested() or (
            info.get_current_history_length() > MOST_EVENTS
        )

    def _rest(self) -> StageOrder:
        return StageOrder(
            order=self._order,
            following=self._following,
            arrived=[states.event_to_json(event) for event in self._events],
            deadline=self._deadline,
            deadline_batch=self._deadline_batch,
        )

    # ------------------------------------------------------------ the batch's time

    def _keep_time(self) -> None:
        """Have a clock run while the batch is not proven; each batch has its time anew."""
        state = self._now
        if state.phase not in UNPROVEN or self._ended:
            self._stop_clock()
            return
        if self._deadline is None or self._deadline_batch != state.batch:
            self._stop_clock()
            self._deadline = workflow.time() + state.terms.deadline_s
            self._deadline_batch = state.batch
        if self._clock is None:
            self._clock = asyncio.create_task(self._run_clock(state.batch))

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
        self._clock = self._deadline = None

    async def _run_clock(self, batch: int) -> None:
        left_s = (self._deadline or 0.0) - workflow.time()
        if left_s > 0:
            await asyncio.sleep(left_s)
        self._events.append(states.Deadline(batch=batch))

    # ------------------------------------------------------------ actions

    def _perform_awaited(self) -> None:
        answered = {getattr(event, "answers", None) for event in self._events}
        for action in self._now.pending if not self._ended else ():
            if action.number not in self._performing and action.number not in answered:
                self._performing[action.number] = asyncio.create_task(
                    self._perform(action), name=action.type
                )

    async def _stop_unawaited(self) -> None:
        """Stop what the state no longer awaits, and wait for what changes the world."""
        awaited = {action.number for action in self._now.pending}
        stale = [task for number, task in self._performing.items() if number not in awaited]
        for task in stale:
            task.cancel()
        if stale:
            await asyncio.gather(*stale, return_exceptions=True)

    async def _perform(self, action: Any) -> None:
        try:
            self._events.append(await self._answer(action))
        except (ActivityError, ChildWorkflowError):
            raise  # cancelled
        except Exception as error:  # noqa: BLE001 - raised where the workflow waits
            self._broken = error
        finally:
            self._performing.pop(action.number, None)

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
