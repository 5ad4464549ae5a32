"""The way back, verified: weights, the incumbent's golden prompts, replicas."""

from __future__ import annotations

from denv.rollout.states.actions import (
    Action,
    AlarmKind,
    ProveIncumbent,
    RaiseAlarm,
    ResolveAlarms,
    RestoreWeights,
    StopReplicas,
)
from denv.rollout.states.events import (
    Cancel,
    IncumbentNotProven,
    IncumbentProven,
    ReplicasStopped,
    Rollback,
    Superseded,
    WeightsNotRestored,
    WeightsRestored,
)
from denv.rollout.states.moves import Move, go, take_back
from denv.rollout.states.rules import Rule
from denv.rollout.states.state import Cause, Phase, State

PersonsEvent = Rollback | Superseded | Cancel

RULES: dict[type[PersonsEvent], Rule] = {
    Rollback: Rule.BY_HAND,
    Superseded: Rule.SUPERSEDED,
    Cancel: Rule.CANCELLED,
}


def stop(state: State, event: PersonsEvent) -> Move:
    """Roll back because a person or a newer release wants it: no alarm."""
    return take_back(state, RULES[type(event)], _cause(event))


def stop_unchanged(state: State, event: PersonsEvent) -> Move:
    """End a rollout that has not changed anything."""
    rule = Rule.CANCELLED_UNCHANGED
    return go(state, rule, phase=Phase.CANCELLED, cause=_cause(event))


def _cause(event: PersonsEvent) -> Cause:
    if isinstance(event, Superseded):
        return Cause(alarm=None, text=f"superseded by {event.by_release}")
    if isinstance(event, Cancel):
        return Cause(alarm=None, text=f"cancelled by {event.by}")
    reason = f": {event.reason}" if event.reason else ""
    return Cause(alarm=None, text=f"rolled back by {event.by}{reason}")


def weights_restored(state: State, event: WeightsRestored) -> Move:
    """Prove the incumbent, or stop the replicas where there is none."""
    if state.terms.has_incumbent:
        do: list[Action] = [ProveIncumbent()]
        return go(state, Rule.WEIGHTS_RESTORED, do=do, phase=Phase.VERIFYING)
    return go(state, Rule.NO_INCUMBENT, do=[StopReplicas()], phase=Phase.STOPPING)


def weights_not_restored(state: State, event: WeightsNotRestored) -> Move:
    """Say that the rollback is incomplete; replicas that may have traffic go on running."""
    why = f"the weights do not read back: {event.why}"
    return _incomplete(state, Rule.WEIGHTS_NOT_RESTORED, why)


def incumbent_proven(state: State, event: IncumbentProven) -> Move:
    """Stop the release's replicas."""
    return go(state, Rule.INCUMBENT_PROVEN, do=[StopReplicas()], phase=Phase.STOPPING)


def incumbent_not_proven(state: State, event: IncumbentNotProven) -> Move:
    """Say that the rollback is incomplete."""
    why = f"the incumbent's golden prompts did not pass: {event.why}"
    return _incomplete(state, Rule.INCUMBENT_NOT_PROVEN, why)


def _incomplete(state: State, rule: Rule, why: str) -> Move:
    do = [RaiseAlarm(kind=AlarmKind.ROLLBACK_INCOMPLETE, summary=why)]
    return go(state, rule, do=do, phase=Phase.ROLLBACK_INCOMPLETE, incomplete=why)


def replicas_stopped(state: State, event: ReplicasStopped) -> Move:
    """End the rollback; an earlier alarm that it was incomplete is resolved.

    Where a person had to see to it, so is the one of the failure itself: they know, and nothing
    of the release is left. A failure that nobody has answered stays open until the next promotion.
    """
    do: list[Action] = []
    if state.incomplete:
        kinds = [AlarmKind.ROLLBACK_INCOMPLETE]
        if state.seen_to and state.cause is not None and state.cause.alarm is not None:
            kinds.append(state.cause.alarm)
        do.append(ResolveAlarms(kinds=tuple(kinds)))
    return go(state, Rule.ROLLED_BACK, do=do, phase=Phase.ROLLED_BACK, incomplete="")


def rollback_again(state: State, event: PersonsEvent) -> Move:
    """Try an incomplete rollback again; why the release was taken back stays."""
    do = [RestoreWeights(to_incumbent=state.terms.has_incumbent)]
    seen_to = state.seen_to or not isinstance(event, Superseded)
    return go(state, Rule.ROLLBACK_AGAIN, do=do, phase=Phase.RESTORING, seen_to=seen_to)
