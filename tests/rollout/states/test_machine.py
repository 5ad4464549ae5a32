"""Whatever happens in whatever order: nothing unproven is promoted, nothing failed has traffic.

A shell is simulated that crashes, repeats, comes late, and is told by people to stop. The same
machine is then given tables that are broken on purpose, each of which it must find out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import Phase as Stage
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from denv.records import Verdict
from denv.rollout.states import (
    AlarmKind,
    Begin,
    Cancel,
    Deadline,
    Event,
    Latch,
    ParityEnded,
    Phase,
    Promote,
    RaiseAlarm,
    Rollback,
    State,
    Step,
    StopReplicas,
    Superseded,
    Unhealthy,
    Watched,
    WeightsNotRestored,
    WeightsRestored,
    next_state,
)
from denv.rollout.states.table import TABLE
from tests.rollout.states.situations import DIGEST, terms
from tests.rollout.states.world import OUTCOMES, Next, World, altered

BATCHES = ((Fraction(1),), (Fraction(1, 10), Fraction(1, 2), Fraction(1)))
BAKES = ((0.0, None), (60.0, None), (60.0, 20.0), (50.0, 20.0))

LUCKY = 8
"""One end in so many may be another than the good one, else few rollouts would get far."""


def by_its_row(state: State, event: Event) -> Step:
    """Give the table's step, which is decided by a rule that its row declares."""
    step = next_state(state, event)
    late = {"ignored-stale", "ignored-other-answer"}
    assert step.rule in {*TABLE[state.phase, type(event)].rules, *late}
    return step


class Machine(RuleBasedStateMachine):
    """One rollout after the other of the same release, whose latch they share."""

    step: Next = staticmethod(by_its_row)
    weakness: str | None = None

    @initialize(
        batches=st.sampled_from(BATCHES),
        bake=st.sampled_from(BAKES),
        has_incumbent=st.booleans(),
        attempts=st.integers(1, 3),
    )
    def starts(self, batches, bake, has_incumbent, attempts):
        self.terms = terms(
            batches=batches,
            bake_s=bake[0],
            parity_every_s=bake[1],
            has_incumbent=has_incumbent,
            attempts=attempts,
        )
        self.world = World(State(terms=self.terms), self.step)

    @precondition(lambda self: self.world.state.phase is Phase.PENDING)
    @rule()
    def begins(self):
        was_latched = self.world.latched
        step = self.world.tell(Begin(latched=was_latched))
        assert not (was_latched and step.state.phase is not Phase.REFUSED)

    @precondition(lambda self: self.world.state.pending)
    @rule(data=st.data())
    def is_answered(self, data):
        """Bring some awaited action to an end, most often a good one."""
        action = data.draw(st.sampled_from(self.world.state.pending))
        ends = OUTCOMES[action.type]
        lot = data.draw(st.integers(0, LUCKY - 1))
        outcome = data.draw(st.sampled_from(ends)) if lot == 0 else ends[0]
        if lot in {1, 2, 3} and self.weakness in ends:
            outcome = self.weakness
        self.world.tell(self.world.perform(action, outcome))

    @precondition(lambda self: self.world.state.pending)
    @rule(times=st.integers(1, 5))
    def goes_on_well(self, times):
        for _ in range(times):
            if self.world.state.pending and self.world.state.phase is not Phase.PARITY:
                self.world.tell(self.world.perform(self.world.state.pending[0], "good"))
                self.world.check()

    @precondition(lambda self: self.world.state.pending)
    @rule(data=st.data())
    def crashes_before_it_is_told(self, data):
        """Do an action, let nobody hear of it, and do it again after the crash."""
        action = data.draw(st.sampled_from(self.world.state.pending))
        lost = self.world.perform(action, "good")
        self.world.crash()
        self.world.tell(self.world.perform(action, "good"))
        self.world.tell(lost)

    @precondition(lambda self: self.world.told)
    @rule(data=st.data())
    def hears_again(self, data):
        """Tell an event late, or twice."""
        self.world.tell(data.draw(st.sampled_from(self.world.told[-12:])))

    @rule(lot=st.integers(0, 11))
    def is_meddled_with(self, lot):
        batch = self.world.state.batch
        wanted = (
            Rollback(by="ann"),
            Cancel(by="ann"),
            Superseded(by_release="r9"),
            Deadline(batch=batch),
            Promote(by="ann"),
        )
        self.world.tell(wanted[lot] if lot < len(wanted) else Deadline(batch=batch - 1))

    @precondition(lambda self: self.world.state.ended and not self.world.promoted)
    @rule()
    def is_followed(self):
        """Begin a newer rollout, as the engine does once the one before it has ended."""
        assert self.world.traffic == 0, "no newer rollout while traffic is on a failed one"
        latched = self.world.latched or self.world.state.failed
        self.world = World(State(terms=self.terms), self.step, latched=latched)

    @invariant()
    def holds(self):
        if hasattr(self, "world"):
            self.world.check()


Machine.TestCase.settings = settings(
    max_examples=100,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestMachine = Machine.TestCase


def good_end(world: World) -> None:
    """Let everything end well."""
    world.tell(Begin())
    while world.state.pending:
        world.tell(world.perform(world.state.pending[0], "good"))
        world.check()


@pytest.mark.parametrize("batches", BATCHES)
@pytest.mark.parametrize("bake", BAKES)
def test_a_good_release_is_promoted(batches, bake):
    """The machine's world lets a good release through: it does not hold because nothing moves."""
    fixed = terms(batches=batches, bake_s=bake[0], parity_every_s=bake[1])
    world = World(State(terms=fixed), next_state)
    good_end(world)
    assert world.promoted
    assert world.alarms == []


# ---------------------------------------------------------------- tables broken on purpose


def hears(change: Callable[[State, Event], Event]) -> Next:
    """Give a table that hears another event than the one that came."""
    return lambda state, event: next_state(state, change(state, event))


def inconclusive_passes(state: State, event: Event) -> Event:
    """Take what is not decided for a pass."""
    if isinstance(event, ParityEnded) and event.verdict is Verdict.INCONCLUSIVE:
        return replace(event, verdict=Verdict.PASS)
    return event


def cancelled_passes(state: State, event: Event) -> Event:
    """Take a cancelled run for a pass."""
    if isinstance(event, ParityEnded) and event.verdict is Verdict.CANCELLED:
        return replace(event, verdict=Verdict.PASS)
    return event


def digest_is_not_read(state: State, event: Event) -> Event:
    """Take whatever a run compared for what was to be proven."""
    if isinstance(event, ParityEnded):
        return replace(event, proof_digest=DIGEST)
    return event


def weights_are_not_read_back(state: State, event: Event) -> Event:
    """Believe that the weights are restored."""
    if isinstance(event, WeightsNotRestored):
        return WeightsRestored(answers=event.answers)
    return event


def downtime_is_baked(state: State, event: Event) -> Event:
    """Count time in which the release was not healthy."""
    if isinstance(event, Unhealthy) and state.phase is Phase.BAKING:
        return Watched(answers=event.answers, observed_s=30.0)
    return event


def fail_is_retried(state: State, event: Event) -> Event:
    """Ask again until lucky."""
    if isinstance(event, ParityEnded) and event.verdict is Verdict.FAIL:
        return replace(event, verdict=Verdict.ERROR)
    return event


def nothing_is_latched(state: State, event: Event) -> Step:
    """Forget the failed digest."""
    step = next_state(state, event)
    kept = tuple(one for one in step.actions if not isinstance(one, Latch))
    return replace(step, actions=kept)


def proof_is_carried_over(state: State, event: Event) -> Step:
    """Let the first batch's pass stand for those after it."""
    step = next_state(state, event)
    if step.rule == "golden-passed" and state.proofs:
        proofs = (state.proofs[0],) * state.batch
        known = replace(step.state, proofs=proofs, phase=Phase.PROMOTED, pending=())
        return replace(step, state=known)
    return step


def alarm_is_forgotten(state: State, event: Event) -> Step:
    """Roll back in silence."""
    step = next_state(state, event)
    silent = tuple(
        one
        for one in step.actions
        if not (isinstance(one, RaiseAlarm) and one.kind is AlarmKind.HEALTH_FAIL)
    )
    return replace(step, actions=silent)


def weights_are_left(state: State, event: Event) -> Step:
    """Stop the replicas and leave the traffic where it is."""
    step = next_state(state, event)
    if step.state.phase is Phase.RESTORING and state.phase is not Phase.RESTORING:
        stop = StopReplicas(number=step.state.issued)
        after = replace(step.state, phase=Phase.STOPPING, pending=(stop,))
        return replace(step, state=after)
    return step


def override_is_not_needed(state: State, event: Event) -> Step:
    """Begin although the digest is latched."""
    return next_state(state, Begin() if isinstance(event, Begin) else event)


def incomplete_is_let_go(state: State, event: Event) -> Step:
    """Let a newer release end an incomplete rollback, and leave the traffic where it is."""
    step = next_state(state, event)
    if state.phase is Phase.ROLLBACK_INCOMPLETE and isinstance(event, Superseded):
        after = replace(step.state, phase=Phase.ROLLED_BACK, pending=())
        return replace(step, state=after, actions=())
    return step


BROKEN: dict[str, tuple[Next, str]] = {
    "inconclusive-passes": (hears(inconclusive_passes), "inconclusive"),
    "cancelled-passes": (hears(cancelled_passes), "cancelled"),
    "digest-is-not-read": (hears(digest_is_not_read), "other"),
    "late-answers-count": (hears(altered), "good"),
    "weights-are-not-read-back": (hears(weights_are_not_read_back), "bad"),
    "downtime-is-baked": (hears(downtime_is_baked), "bad"),
    "fail-is-retried": (hears(fail_is_retried), "bad"),
    "nothing-is-latched": (nothing_is_latched, "bad"),
    "proof-is-carried-over": (proof_is_carried_over, "good"),
    "alarm-is-forgotten": (alarm_is_forgotten, "bad"),
    "weights-are-left": (weights_are_left, "good"),
    "incomplete-is-let-go": (incomplete_is_let_go, "bad"),
    "override-is-not-needed": (override_is_not_needed, "bad"),
}
"""Broken tables, each with the end of actions that it is weak against."""


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_table_is_found_out(name):
    """Each of these tables breaks a rule, and the machine shows it."""
    step, weakness = BROKEN[name]
    broken = type("Broken", (Machine,), {"step": staticmethod(step), "weakness": weakness})
    quick = settings(
        max_examples=2000,
        stateful_step_count=60,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Stage.generate],
        suppress_health_check=list(HealthCheck),
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(broken, settings=quick)
