"""A small world that a rollout acts on, with what must hold in it whatever happens.

It keeps its own account of traffic, passes, latches and observed time, and takes none of them
from the state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeGuard

from denv.records import Verdict
from denv.rollout.states import (
    ANSWERS,
    TERMINAL,
    Action,
    AlarmKind,
    Answer,
    Event,
    GoldenFailed,
    GoldenPassed,
    GoldenUnproven,
    Healthy,
    IncumbentNotProven,
    IncumbentProven,
    Latch,
    LookEnded,
    MarkPromoted,
    ParityEnded,
    Phase,
    RaiseAlarm,
    ReplicasFailed,
    ReplicasStarted,
    ReplicasStopped,
    RestoreWeights,
    RetryDue,
    RunParity,
    SetWeights,
    StartReplicas,
    State,
    Step,
    StopReplicas,
    Unhealthy,
    Watch,
    Watched,
    WeightsChanged,
    WeightsNotRestored,
    WeightsNotSet,
    WeightsRestored,
    WeightsSet,
    state_from_json,
    state_to_json,
)
from tests.rollout.states.situations import DIGEST, tallies

Next = Callable[[State, Event], Step]

BACK = {
    Phase.RESTORING,
    Phase.VERIFYING,
    Phase.STOPPING,
    Phase.ROLLED_BACK,
    Phase.ROLLBACK_INCOMPLETE,
}
PERSONS = {"rollback", "superseded", "cancel"}

OUTCOMES: dict[str, tuple[str, ...]] = {
    "start-replicas": ("good", "bad"),
    "check-health": ("good", "bad"),
    "run-golden": ("good", "unproven", "bad"),
    "run-parity": ("good", "bad", "inconclusive", "error", "cancelled", "empty", "other", "bad"),
    "wait": ("good",),
    "set-weights": ("good", "bad"),
    "watch": ("good", "short", "none", "changed", "bad"),
    "look": ("good", "missed", "skipped", "down", "bad"),
    "restore-weights": ("good", "bad"),
    "prove-incumbent": ("good", "bad"),
    "stop-replicas": ("good", "bad"),
}
"""What may come of each action; good ends are first."""


@dataclass
class World:
    """What is outside of the table, and the shell that joins the two."""

    state: State
    step: Next
    traffic: Fraction = Fraction(0)
    started: bool = False
    running: bool = False
    passed: set[int] = field(default_factory=set)
    observed_s: float = 0.0
    proved_incumbent: bool = False
    latched: bool = False
    promoted: bool = False
    heard_failure: bool = False
    asked_back: bool = False
    alarms: list[AlarmKind] = field(default_factory=list)
    told: list[Event] = field(default_factory=list)

    def tell(self, event: Event) -> Step:
        """Store the step, do what belongs to its transaction, and keep what was told."""
        self.told.append(event)
        batch, awaited = self.state.batch, {one.number for one in self.state.pending}
        was_incomplete = self.state.phase is Phase.ROLLBACK_INCOMPLETE
        made = self.step(self.state, event)
        if was_incomplete and event.type in PERSONS:
            assert made.state.phase is Phase.RESTORING, "an incomplete rollback is tried again"
        if event.type in PERSONS and made.state.phase is not self.state.phase:
            self.asked_back = True
        if _fails(event) and event.answers in awaited:
            self.heard_failure = True
        self.state = made.state
        if made.state.batch != batch:
            self.observed_s = 0.0
        for action in made.actions:
            self._record(action)
        return made

    def _record(self, action: Action) -> None:
        if isinstance(action, Latch):
            self.latched = True
        elif isinstance(action, RaiseAlarm):
            self.alarms.append(action.kind)
        elif isinstance(action, MarkPromoted):
            self.promoted = True

    def crash(self) -> None:
        """Lose all but what was stored."""
        self.state = state_from_json(state_to_json(self.state))

    def perform(self, action: Action, outcome: str) -> Event:  # noqa: PLR0911 - one an action
        """Do an action and give what comes of it; the world is changed before anyone hears."""
        good, n = outcome == "good", action.number
        if isinstance(action, RunParity):
            return self._parity(action, outcome)
        if isinstance(action, Watch):
            return self._watch(action, outcome)
        if isinstance(action, StartReplicas):
            self.started = self.running = True
            return ReplicasStarted(answers=n) if good else ReplicasFailed(answers=n, why="x")
        if isinstance(action, SetWeights):
            self.traffic = action.share if good else self.traffic
            return WeightsSet(answers=n) if good else WeightsNotSet(answers=n, why="x")
        if isinstance(action, RestoreWeights):
            self.traffic = Fraction(0) if good else self.traffic
            return WeightsRestored(answers=n) if good else WeightsNotRestored(answers=n, why="x")
        if isinstance(action, StopReplicas):
            self.running = False
            return ReplicasStopped(answers=n, why="" if good else "x")
        return self._asked(action, outcome)

    def _asked(self, action: Action, outcome: str) -> Event:  # noqa: PLR0911 - one an action
        good, n = outcome == "good", action.number
        if action.type == "check-health":
            return Healthy(answers=n) if good else Unhealthy(answers=n, why="x")
        if action.type == "run-golden":
            if outcome == "unproven":
                return GoldenUnproven(answers=n, why="x")
            if good:
                return GoldenPassed(answers=n, run="g")
            return GoldenFailed(answers=n, run="g", cases=("a",))
        if action.type == "prove-incumbent":
            self.proved_incumbent = good
            return IncumbentProven(answers=n) if good else IncumbentNotProven(answers=n, why="x")
        if action.type == "look":
            return self._look(n, outcome)
        assert action.type == "wait"
        return RetryDue(answers=n)

    def _parity(self, action: RunParity, outcome: str) -> Event:
        verdicts = {"good": Verdict.PASS, "empty": Verdict.PASS, "other": Verdict.PASS}
        verdict = verdicts.get(outcome) or Verdict("fail" if outcome == "bad" else outcome)
        if outcome == "good":
            self.passed.add(action.batch)
        return ParityEnded(
            answers=action.number,
            run=f"run-{action.number}" if action.again is None else action.again,
            verdict=verdict,
            proof_digest="sha256:other" if outcome == "other" else DIGEST,
            tallies=() if outcome == "empty" else tallies(80, 0),
            unanswered=0 if outcome in {"good", "empty", "bad"} else 20,
        )

    def _watch(self, action: Watch, outcome: str) -> Event:
        if outcome == "bad":
            return Unhealthy(answers=action.number, why="x")
        share = {"good": 1.0, "short": 0.5, "none": 0.0, "changed": 0.25}[outcome]
        seconds = action.seconds * share
        self.observed_s += seconds
        if outcome == "changed":
            return WeightsChanged(answers=action.number, observed_s=seconds, why="x")
        return Watched(answers=action.number, observed_s=seconds)

    def _look(self, number: int, outcome: str) -> Event:
        counted = {"good": tallies(50, 0), "bad": tallies(5, 45), "missed": ()}.get(outcome, ())
        missing = "x" if outcome == "missed" else ""
        down = outcome == "down"
        return LookEnded(answers=number, run="l", tallies=counted, missing=missing, down=down)

    # ------------------------------------------------------------ what must hold

    def check(self) -> None:
        """Hold the world against every rule that no sequence of events may break."""
        phase, batches = self.state.phase, len(self.state.terms.batches)
        if self.promoted or phase is Phase.PROMOTED:
            assert self.promoted, "promoted is marked"
            assert phase is Phase.PROMOTED, "nothing follows promotion"
            assert self.passed == set(range(1, batches + 1)), "a pass in each batch"
            assert self.traffic == 1, "all of the traffic"
        if self.traffic:
            shares = self.state.terms.batches
            proven = max((shares[n - 1] for n in self.passed), default=Fraction(0))
            assert self.traffic <= proven, "no more traffic than a pass was made for"
        if phase in {Phase.ROLLED_BACK, Phase.CANCELLED, Phase.REFUSED}:
            assert self.traffic == 0, "no traffic on a release that is not promoted"
        if self.state.ended and not self.promoted:
            assert self.traffic == 0, "no newer rollout while traffic is on this one"
            assert not self.running, "no newer rollout while replicas of this one run"
        if phase is Phase.ROLLED_BACK and self.state.terms.has_incumbent:
            assert self.proved_incumbent, "a rollback is verified"
        if phase is Phase.ROLLBACK_INCOMPLETE:
            assert AlarmKind.ROLLBACK_INCOMPLETE in self.alarms, "an incomplete rollback alarms"
        if phase in {Phase.CANCELLED, Phase.REFUSED}:
            assert not self.started, "nothing was changed"
            assert not self.alarms, "nothing was raised"
        assert self.state.baked_s <= self.observed_s + 1e-6, "no more baked than observed"
        self._check_failures()

    def _check_failures(self) -> None:
        phase, cause = self.state.phase, self.state.cause
        if self.heard_failure:
            assert self.latched, "a failed digest is latched"
            assert AlarmKind.PARITY_FAIL in self.alarms, "a failed proof alarms"
            assert phase in BACK, "what failed is taken back"
        if cause is not None and cause.alarm is not None:
            assert cause.alarm in self.alarms, "a failure alarms"
        if cause is not None and cause.alarm is None:
            assert self.asked_back, "no cause without alarm but a person's"
            assert set(self.alarms) <= {AlarmKind.ROLLBACK_INCOMPLETE}, "people are not alarmed"
        waits = bool(self.state.pending) or phase in {Phase.PENDING, Phase.HOLDING}
        assert waits is (phase not in TERMINAL), "it never hangs, and ends when it is over"


def _fails(event: Event) -> TypeGuard[ParityEnded | LookEnded]:
    """Tell whether this alone proves that the release fails."""
    if isinstance(event, ParityEnded):
        return event.verdict is Verdict.FAIL and event.proof_digest == DIGEST
    return isinstance(event, LookEnded) and sum(one.failed for one in event.tallies) > 40


def altered(state: State, event: Event) -> Event:
    """Give an answer the number of whatever is awaited in its way: an answer that is not late."""
    if not isinstance(event, Answer):
        return event
    fits = [one for one in state.pending if isinstance(event, ANSWERS[type(one)])]
    return replace(event, answers=fits[0].number) if fits else event
