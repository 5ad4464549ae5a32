"""The table: for each phase and event, what follows, and by which rules.

Every pair has exactly one row. An event that answers an action comes to its row only where the
action with its number is awaited; else it is late or came twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

from denv.rollout.states import baking, proving, restoring
from denv.rollout.states.events import (
    ANSWERS,
    Answer,
    Begin,
    Deadline,
    Event,
    GoldenFailed,
    GoldenPassed,
    GoldenUnproven,
    Healthy,
    IncumbentNotProven,
    IncumbentProven,
    LookEnded,
    ParityEnded,
    Promote,
    ReplicasFailed,
    ReplicasStarted,
    ReplicasStopped,
    RetryDue,
    Unhealthy,
    Watched,
    WeightsChanged,
    WeightsNotRestored,
    WeightsNotSet,
    WeightsRestored,
    WeightsSet,
)
from denv.rollout.states.explain import explain
from denv.rollout.states.moves import Move, stay
from denv.rollout.states.rules import Rule
from denv.rollout.states.state import TERMINAL, Phase, State, Step

P = Phase
Handler = Callable[[State, Any], Move]


@dataclass(frozen=True, slots=True)
class Row:
    """What follows an event in some phases, and the rules by which it may."""

    phases: tuple[Phase, ...]
    event: type[Any]
    handler: Handler
    rules: tuple[Rule, ...]


def _ignore(state: State, event: Any, *, rule: Rule) -> Move:
    return stay(state, rule)


def _ignored(phases: Iterable[Phase], event: type[Any], rule: Rule) -> Row:
    return Row(tuple(phases), event, partial(_ignore, rule=rule), (rule,))


OVER = tuple(phase for phase in Phase if phase in TERMINAL)
ENDED = tuple(phase for phase in OVER if phase is not P.ROLLBACK_INCOMPLETE)
UNPROVEN = (P.STARTING, P.HEALTH, P.GOLDEN, P.PARITY, P.HOLDING)
PROVEN = (P.SHIFTING, P.BAKING, P.PROMOTING)
BACK = (P.RESTORING, P.VERIFYING, P.STOPPING)

_PARITY = (
    Rule.PARITY_PASS,
    Rule.PARITY_FAIL,
    Rule.PARITY_RETRY,
    Rule.HELD_ATTEMPTS,
    Rule.HELD_ANSWERED,
    Rule.OTHER_DIGEST,
)
_ONWARD = (Rule.BAKE_COMPLETE, Rule.PROOF_LACKING)

ROWS: tuple[Row, ...] = (
    Row(
        (P.PENDING,),
        Begin,
        proving.begin,
        (Rule.BEGIN, Rule.BEGIN_OVERRIDDEN, Rule.REFUSED_LATCHED),
    ),
    Row((P.STARTING,), ReplicasStarted, proving.replicas_started, (Rule.REPLICAS_STARTED,)),
    Row((P.STARTING,), ReplicasFailed, proving.replicas_failed, (Rule.REPLICAS_FAILED,)),
    Row((P.HEALTH,), Healthy, proving.healthy, (Rule.HEALTHY,)),
    Row((P.HEALTH,), Unhealthy, proving.unhealthy, (Rule.HEALTH_FAIL,)),
    Row((P.GOLDEN,), GoldenPassed, proving.golden_passed, (Rule.GOLDEN_PASSED,)),
    Row((P.GOLDEN,), GoldenFailed, proving.golden_failed, (Rule.GOLDEN_FAIL,)),
    Row((P.GOLDEN,), GoldenUnproven, proving.golden_unproven, (Rule.GOLDEN_UNPROVEN,)),
    Row((P.GOLDEN,), RetryDue, proving.golden_again, (Rule.GOLDEN_AGAIN,)),
    Row((P.PARITY,), ParityEnded, proving.parity_ended, _PARITY),
    Row((P.PARITY, P.HOLDING), RetryDue, proving.parity_again, (Rule.PARITY_AGAIN,)),
    Row(UNPROVEN, Deadline, proving.deadline, (Rule.DEADLINE, Rule.IGNORED_OTHER_BATCH)),
    Row(
        (P.SHIFTING,),
        WeightsSet,
        baking.weights_set,
        (Rule.WEIGHTS_SET, Rule.NO_BAKE, Rule.PROOF_LACKING),
    ),
    Row((P.PROMOTING,), WeightsSet, baking.promoted, (Rule.PROMOTED, Rule.PROOF_LACKING)),
    Row(
        (P.SHIFTING, P.BAKING, P.PROMOTING),
        WeightsNotSet,
        baking.weights_not_set,
        (Rule.WEIGHTS_NOT_SET,),
    ),
    Row(
        (P.BAKING,),
        Watched,
        baking.watched,
        (Rule.WATCHED, Rule.LOOK_DUE, Rule.BAKE_WAITS, *_ONWARD),
    ),
    Row(
        (P.BAKING,),
        WeightsChanged,
        baking.weights_changed,
        (Rule.WEIGHTS_CHANGED, Rule.WEIGHTS_CHANGED_AGAIN),
    ),
    Row(
        (P.BAKING,),
        WeightsSet,
        baking.weights_set_again,
        (Rule.WEIGHTS_SET_AGAIN, Rule.PROOF_LACKING),
    ),
    Row((P.BAKING,), Unhealthy, baking.bake_unhealthy, (Rule.BAKE_UNHEALTHY,)),
    Row(
        (P.BAKING,),
        LookEnded,
        baking.look_ended,
        (
            Rule.LOOK_COUNTED,
            Rule.LOOK_MISSED,
            Rule.LOOKS_FAIL,
            Rule.LOOK_DOWN,
            Rule.PROOF_LACKING,
        ),
    ),
    Row((P.BAKING,), Promote, baking.promote_early, (Rule.PROMOTED_EARLY, Rule.PROOF_LACKING)),
    Row(
        (P.RESTORING,),
        WeightsRestored,
        restoring.weights_restored,
        (Rule.WEIGHTS_RESTORED, Rule.NO_INCUMBENT),
    ),
    Row(
        (P.RESTORING,),
        WeightsNotRestored,
        restoring.weights_not_restored,
        (Rule.WEIGHTS_NOT_RESTORED,),
    ),
    Row((P.VERIFYING,), IncumbentProven, restoring.incumbent_proven, (Rule.INCUMBENT_PROVEN,)),
    Row(
        (P.VERIFYING,),
        IncumbentNotProven,
        restoring.incumbent_not_proven,
        (Rule.INCUMBENT_NOT_PROVEN,),
    ),
    Row((P.STOPPING,), ReplicasStopped, restoring.replicas_stopped, (Rule.ROLLED_BACK,)),
    *(
        Row((P.ROLLBACK_INCOMPLETE,), event, restoring.rollback_again, (Rule.ROLLBACK_AGAIN,))
        for event in restoring.RULES
    ),
    *(
        Row((*UNPROVEN, *PROVEN), event, restoring.stop, (rule,))
        for event, rule in restoring.RULES.items()
    ),
    *(
        Row((P.PENDING,), event, restoring.stop_unchanged, (Rule.CANCELLED_UNCHANGED,))
        for event in restoring.RULES
    ),
    # What changes nothing.
    _ignored((*UNPROVEN, *PROVEN, *BACK), Begin, Rule.IGNORED_BEGUN),
    _ignored((P.PENDING,), Deadline, Rule.IGNORED_OTHER_BATCH),
    _ignored(PROVEN, Deadline, Rule.IGNORED_PROVEN),
    _ignored((P.PENDING, *UNPROVEN), Promote, Rule.PROMOTE_UNPROVEN),
    _ignored((P.SHIFTING, P.PROMOTING), Promote, Rule.PROMOTE_NOT_BAKING),
    *(
        _ignored(BACK, event, Rule.IGNORED_ROLLING_BACK)
        for event in (Deadline, Promote, *restoring.RULES)
    ),
    *(
        _ignored(OVER, event, Rule.IGNORED_OVER)
        for event in (Begin, Deadline, Promote, *get_args(Answer))
    ),
    *(_ignored(ENDED, event, Rule.IGNORED_OVER) for event in restoring.RULES),
)


def _table() -> Mapping[tuple[Phase, type[Any]], Row]:
    found: dict[tuple[Phase, type[Any]], Row] = {}
    for row in ROWS:
        for phase in row.phases:
            if (phase, row.event) in found:
                raise ValueError(f"{phase} and {row.event.__name__} have two rows")
            found[phase, row.event] = row
    stale = {event: _ignored(Phase, event, Rule.IGNORED_STALE) for event in get_args(Answer)}
    for phase in Phase:
        for event, row in stale.items():
            found.setdefault((phase, event), row)
    return found


TABLE = _table()
"""Each pair's one row."""


def next_state(state: State, event: Event) -> Step:
    """Give the step that an event makes: total over phases and events, and without effects."""
    move = _refused_answer(state, event) or TABLE[state.phase, type(event)].handler(state, event)
    after = replace(move.state, steps=state.steps + 1)
    return Step(
        state=after,
        actions=move.actions,
        rule=move.rule.value,
        text=explain(move.rule, event, before=state, after=after),
    )


def _refused_answer(state: State, event: Event) -> Move | None:
    """Ignore what answers nothing that is awaited, or not as that is answered."""
    if not isinstance(event, Answer) or state.phase in TERMINAL:
        return None
    asked = next((one for one in state.pending if one.number == event.answers), None)
    if asked is None:
        return stay(state, Rule.IGNORED_STALE)
    if not isinstance(event, ANSWERS[type(asked)]):
        return stay(state, Rule.IGNORED_OTHER_ANSWER)
    return None
