"""A stage's workflow: carries out one rollout at a time, by the table, and then what follows it.

Each decision is written by one activity before anything of it is done. What is done then are the
actions that the state awaits; each is an activity or a workflow of its own, and answers with an
event. The state is the store's: a workflow that begins anew takes it up from there.
"""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from denv.rollout import states
    from denv.rollout.engine.messages import (
        Admitted,
        RolloutOrder,
        StageOrder,
        Status,
        StepGiven,
        StepTaken,
        Word,
    )
    from denv.rollout.engine.retries import PATIENT
    from denv.rollout.engine.stage_actions import StageActions
    from denv.rollout.engine.stage_clock import StageClock

MOST_EVENTS = 4_000
"""A workflow's history is begun anew at this length, long before the server's own limit."""

AGAINST = (states.Rollback, states.Superseded, states.Cancel)
"""What takes a release back."""

FORWARD = frozenset(states.Phase) - states.TERMINAL - states.BACK


@workflow.defn(name="rollout")
class StageWorkflow:
    """Rolls out one release after the other on one stage."""

    @workflow.init
    def __init__(self, given: StageOrder) -> None:
        self._order = given.order
        self._following = given.following
        self._events: deque[states.Event] = deque(map(states.event_from_json, given.arrived))
        self._clock = StageClock(
            self._events.append, deadline=given.deadline, batch=given.deadline_batch
        )
        self._actions = StageActions(given.order, self._events.append)
        self._early: list[tuple[Word, states.Event]] = []
        self._state: states.State | None = None
        self._ended = False

    @workflow.run
    async def run(self, given: StageOrder) -> str:
        """Carry out the rollout; give the phase that it ended in."""
        await self._take_up()
        while not self._ended:
            await workflow.wait_condition(lambda: bool(self._events or self._actions.broken))
            if self._actions.broken is not None:
                raise self._actions.broken
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
            performing=self._actions.names,
            deadline=self._clock.deadline,
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
        return self._state.phase in FORWARD

    def _hear(self, word: Word, event: states.Event) -> None:
        if word.rollout == self._order.rollout:
            self._events.append(event)
        elif self._state is None:  # it may be of the rollout that is taken up first
            self._early.append((word, event))

    # ------------------------------------------------------------ decisions

    @property
    def _now(self) -> states.State:
        if self._state is None:
            raise RuntimeError("the rollout was not taken up")
        return self._state

    async def _take_up(self) -> None:
        admitted: Admitted = await self._store_call("admit", self._order, Admitted)
        if admitted.first is not None:
            admitted = await self._take_up_first(admitted.first)
        self._order.plan = {}
        self._state = states.state_from_json(admitted.state)
        self._ended = admitted.ended
        self._events.extendleft(map(states.event_from_json, reversed(admitted.events)))
        for word, event in self._early:
            self._hear(word, event)
        if not self._ended:
            await self._tell_sinks()
            self._clock.keep(self._now)
            self._begin_awaited()

    async def _take_up_first(self, first: RolloutOrder) -> Admitted:
        """Take up a rollout that nobody carries out any more; what was ordered follows it."""
        ordered, self._order = self._order, first
        self._actions = StageActions(first, self._events.append)
        admitted: Admitted = await self._store_call("admit", first, Admitted)
        same = first.proof == ordered.proof
        if not admitted.ended and same and states.state_from_json(admitted.state).phase in FORWARD:
            return admitted  # it is what was ordered
        # What came later than the order stands: it has superseded that already.
        if self._following is None:
            self._following = ordered
            self._events.append(states.Superseded(by_release=ordered.release))
        return admitted

    async def _decide(self, event: states.Event) -> None:
        before = self._now
        step = states.next_state(before, event)
        taken: StepTaken = await self._store_call(
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
        await self._actions.stop_all_but(self._now.pending)
        self._clock.keep(self._now)
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
        if not self._actions.names and _is_long():
            workflow.continue_as_new(self._rest())
        self._begin_awaited()

    def _begin_awaited(self) -> None:
        answered = {getattr(event, "answers", None) for event in self._events}
        self._actions.begin(self._now.pending, answered=answered)

    def _rest(self) -> StageOrder:
        return StageOrder(
            order=self._order,
            following=self._following,
            arrived=[states.event_to_json(event) for event in self._events],
            deadline=self._clock.deadline,
            deadline_batch=self._clock.batch,
        )


def _is_long() -> bool:
    info = workflow.info()
    return info.is_continue_as_new_suggested() or info.get_current_history_length() > MOST_EVENTS
