"""States written by hand, one for each thing that a rollout may be waiting for."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from denv.records import Kind, Verdict
from denv.rollout.states import (
    Action,
    Begin,
    Cancel,
    CheckHealth,
    Deadline,
    Event,
    GoldenFailed,
    GoldenPassed,
    GoldenUnproven,
    Healthy,
    IncumbentNotProven,
    IncumbentProven,
    Look,
    LookEnded,
    Measured,
    ParityEnded,
    Phase,
    Promote,
    ProveIncumbent,
    ReplicasFailed,
    ReplicasStarted,
    ReplicasStopped,
    RestoreWeights,
    RetryDue,
    Rollback,
    RunGolden,
    RunParity,
    SetWeights,
    StartReplicas,
    State,
    StopReplicas,
    Superseded,
    Tally,
    Terms,
    Unhealthy,
    Wait,
    Watch,
    Watched,
    WeightsChanged,
    WeightsNotRestored,
    WeightsNotSet,
    WeightsRestored,
    WeightsSet,
)

DIGEST = "sha256:proof"
AWAITED = 7
"""The number of the action that each situation awaits."""


def terms(**changes: Any) -> Terms:
    """Three batches, ten minutes of bake with a look every two."""
    fields: dict[str, Any] = {
        "release": "chat-r8",
        "proof_digest": DIGEST,
        "batches": (Fraction(1, 10), Fraction(1, 2), Fraction(1)),
        "thresholds": {Kind.EXACT: Fraction(95, 100)},
        "has_incumbent": True,
        "bake_s": 600.0,
        "parity_every_s": 120.0,
        "deadline_s": 7200.0,
    }
    return Terms(**{**fields, **changes})


def tallies(passed: int, failed: int) -> tuple[Tally, ...]:
    """Count cases of kind exact."""
    return (Tally(kind=Kind.EXACT, passed=passed, failed=failed),)


def proof(verdict: Verdict = Verdict.PASS, *, unanswered: int = 0, run: str = "run-1") -> Measured:
    """How a run of 100 cases ended."""
    return Measured(
        run=run,
        verdict=verdict,
        proof_digest=DIGEST,
        tallies=tallies(100 - unanswered, 0),
        unanswered=unanswered,
    )


def state(phase: Phase, *pending: Action, **changes: Any) -> State:
    """Give a state in its second batch, the first of which is proven."""
    fields: dict[str, Any] = {
        "terms": terms(),
        "phase": phase,
        "batch": 2,
        "issued": AWAITED,
        "steps": 20,
        "pending": pending,
        "proofs": (proof(),),
        "attempts": 1,
    }
    return State(**{**fields, **changes})


PROVEN: Mapping[str, Any] = {"proofs": (proof(), proof())}
LAST: Mapping[str, Any] = {"batch": 3, "proofs": (proof(), proof(), proof())}
HALF, N = Fraction(1, 2), AWAITED

SITUATIONS: Mapping[str, State] = {
    "pending": State(terms=terms()),
    "starting": state(Phase.STARTING, StartReplicas(number=N, batch=2)),
    "health": state(Phase.HEALTH, CheckHealth(number=N, batch=2)),
    "golden": state(Phase.GOLDEN, RunGolden(number=N, batch=2, attempt=1)),
    "golden, waits": state(Phase.GOLDEN, Wait(number=N, seconds=10.0)),
    "parity": state(Phase.PARITY, RunParity(number=N, batch=2, attempt=1, again=None)),
    "parity, waits": state(
        Phase.PARITY,
        Wait(number=N, seconds=10.0),
        measured=proof(Verdict.INCONCLUSIVE, unanswered=20),
    ),
    "holding": state(
        Phase.HOLDING,
        Wait(number=N, seconds=300.0),
        attempts=5,
        measured=proof(Verdict.INCONCLUSIVE, unanswered=20),
    ),
    "shifting": state(Phase.SHIFTING, SetWeights(number=N, share=HALF), **PROVEN),
    "baking": state(Phase.BAKING, Watch(number=N, seconds=120.0), **PROVEN),
    "baking, looks": state(
        Phase.BAKING, Look(number=N, look=1), Watch(number=6, seconds=120.0), **PROVEN
    ),
    "baking, sets again": state(
        Phase.BAKING, SetWeights(number=N, share=HALF), weights_changed=1, **PROVEN
    ),
    "promoting": state(Phase.PROMOTING, SetWeights(number=N, share=Fraction(1)), **LAST),
    "promoted": state(Phase.PROMOTED, **LAST),
    "restoring": state(Phase.RESTORING, RestoreWeights(number=N, to_incumbent=True)),
    "verifying": state(Phase.VERIFYING, ProveIncumbent(number=N)),
    "stopping": state(Phase.STOPPING, StopReplicas(number=N)),
    "rolled-back": state(Phase.ROLLED_BACK),
    "rollback-incomplete": state(Phase.ROLLBACK_INCOMPLETE, incomplete="the weights"),
    "cancelled": State(terms=terms(), phase=Phase.CANCELLED),
    "refused": State(terms=terms(), phase=Phase.REFUSED, failed=True),
}


def events(answers: int) -> tuple[Event, ...]:
    """Give one event of each type; those that answer, answer this number."""
    return (
        Begin(),
        ReplicasStarted(answers=answers),
        ReplicasFailed(answers=answers, why="it ended with status 1"),
        Healthy(answers=answers),
        Unhealthy(answers=answers, why="status 503"),
        GoldenPassed(answers=answers, run="golden-1"),
        GoldenFailed(answers=answers, run="golden-1", cases=("capital",)),
        GoldenUnproven(answers=answers, why="the reference does not answer"),
        ParityEnded(
            answers=answers,
            run="run-2",
            verdict=Verdict.PASS,
            proof_digest=DIGEST,
            tallies=tallies(100, 0),
        ),
        WeightsSet(answers=answers),
        WeightsNotSet(answers=answers, why="status 500"),
        Watched(answers=answers, observed_s=60.0),
        WeightsChanged(answers=answers, observed_s=30.0, why="w.json: it holds other weights"),
        LookEnded(answers=answers, run="look-1", tallies=tallies(50, 0)),
        RetryDue(answers=answers),
        Deadline(batch=2),
        Promote(by="ann"),
        Rollback(by="ann", reason="a customer called"),
        Superseded(by_release="chat-r9"),
        Cancel(by="ann"),
        WeightsRestored(answers=answers),
        WeightsNotRestored(answers=answers, why="status 500"),
        IncumbentProven(answers=answers),
        IncumbentNotProven(answers=answers, why="1 of 8 failed"),
        ReplicasStopped(answers=answers),
    )
