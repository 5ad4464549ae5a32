"""The moves that all parts of the table share: stay, go on, take the release back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from denv.rollout.states.actions import (
    Action,
    Awaited,
    Latch,
    RaiseAlarm,
    RestoreWeights,
    StartReplicas,
    Wait,
)
from denv.rollout.states.rules import Rule
from denv.rollout.states.state import Cause, Phase, State


@dataclass(frozen=True, slots=True)
class Move:
    """A step before it has its words."""

    state: State
    actions: tuple[Action, ...]
    rule: Rule


def stay(state: State, rule: Rule) -> Move:
    """Change nothing and ask for nothing."""
    return Move(state, (), rule)


def go(
    state: State,
    rule: Rule,
    *,
    do: Sequence[Action] = (),
    keep: Sequence[Awaited] = (),
    **changes: Any,
) -> Move:
    """Change the state and ask for actions; of those that were awaited only ``keep`` still are."""
    numbered = tuple(replace(one, number=state.issued + n) for n, one in enumerate(do, 1))
    awaited = (*keep, *(one for one in numbered if isinstance(one, Awaited)))
    issued = state.issued + len(numbered)
    return Move(replace(state, pending=awaited, issued=issued, **changes), numbered, rule)


def start_batch(state: State, rule: Rule, **changes: Any) -> Move:
    """Begin the next batch; nothing of the one before it counts for its proof or its bake."""
    batch = state.batch + 1
    return go(
        state,
        rule,
        do=[StartReplicas(batch=batch)],
        phase=Phase.STARTING,
        batch=batch,
        attempts=0,
        measured=None,
        baked_s=0.0,
        looked_s=0.0,
        **changes,
    )


def take_back(state: State, rule: Rule, cause: Cause, *, latch: bool = False) -> Move:
    """Stop whatever runs and restore the weights, with the alarm that the cause names."""
    do: list[Action] = []
    if latch:
        do.append(Latch(proof_digest=state.terms.proof_digest, run=cause.run))
    if cause.alarm:
        do.append(RaiseAlarm(kind=cause.alarm, summary=cause.text, run=cause.run))
    do.append(RestoreWeights(to_incumbent=state.terms.has_incumbent))
    failed = state.failed or latch
    return go(state, rule, do=do, phase=Phase.RESTORING, cause=cause, failed=failed)


def pause(state: State) -> Wait:
    """Wait longer with each attempt, doubled from the first pause to the longest."""
    terms = state.terms
    doublings = min(max(state.attempts - 1, 0), 60)
    return Wait(seconds=min(terms.first_backoff_s * 2.0**doublings, terms.most_backoff_s))
