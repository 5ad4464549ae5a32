"""From the weights to promotion: shift, bake with looks at parity, next batch or promoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import floor

from denv.rollout.states.actions import (
    Action,
    AlarmKind,
    Awaited,
    Look,
    MarkPromoted,
    ResolveAlarms,
    SetWeights,
    Watch,
)
from denv.rollout.states.events import (
    LookEnded,
    Promote,
    Unhealthy,
    Watched,
    WeightsChanged,
    WeightsNotSet,
    WeightsSet,
)
from denv.rollout.states.looks import Evidence, weigh
from denv.rollout.states.moves import Move, go, start_batch, take_back
from denv.rollout.states.rules import Rule
from denv.rollout.states.state import Cause, Looked, Phase, State
from denv.rollout.states.wording import batch_words, cases_words, evidence_words

SHORTEST_WATCH_S = 0.1
"""What is left over by rounding is watched no shorter."""

PAST_THE_BAKE_S = 30.0
"""While the last look still runs the release is watched so long at a time."""

ROUNDING = 1e-9
"""A look is due although rounding has left its time this much, as a share, short."""


def weights_set(state: State, event: WeightsSet) -> Move:
    """Begin the bake."""
    if not state.terms.bake_s:
        return _onward(state, Rule.NO_BAKE)
    do = [Watch(seconds=_next_watch_s(state))]
    return go(state, Rule.WEIGHTS_SET, do=do, phase=Phase.BAKING)


def weights_not_set(state: State, event: WeightsNotSet) -> Move:
    """Roll back."""
    text = f"{batch_words(state)}: the weights could not be set: {event.why}"
    return take_back(state, Rule.WEIGHTS_NOT_SET, Cause(alarm=AlarmKind.HEALTH_FAIL, text=text))


def promoted(state: State, event: WeightsSet) -> Move:
    """Make the release the incumbent, if each batch has its pass."""
    if not _all_proven(state):
        return _proof_lacking(state)
    do: list[Action] = [MarkPromoted(), ResolveAlarms()]
    return go(state, Rule.PROMOTED, do=do, phase=Phase.PROMOTED)


def _all_proven(state: State) -> bool:
    return state.proven and state.batch == len(state.terms.batches)


def _onward(state: State, rule: Rule) -> Move:
    """Go to the next batch, or have all weights confirmed after the last."""
    if not state.proven:
        return _proof_lacking(state)
    if state.batch < len(state.terms.batches):
        return start_batch(state, rule)
    return go(state, rule, do=[SetWeights(share=state.terms.batches[-1])], phase=Phase.PROMOTING)


def _proof_lacking(state: State) -> Move:
    text = f"{batch_words(state)}: there is no pass for it"
    return take_back(state, Rule.PROOF_LACKING, Cause(alarm=AlarmKind.PARITY_UNPROVEN, text=text))


# ---------------------------------------------------------------- the bake's time


def watched(state: State, event: Watched) -> Move:
    """Count the observed time; then look, end the bake, or watch on."""
    baked = replace(state, baked_s=state.baked_s + event.observed_s)
    return _bake_on(baked, Rule.WATCHED, keep=_looking(baked))


def _bake_on(state: State, rule: Rule, *, keep: Sequence[Awaited]) -> Move:
    """Do what the observed time asks for; ``keep`` is what still runs."""
    # While the weights are set again nothing is watched, and the bake does not end.
    setting = any(isinstance(one, SetWeights) for one in keep)
    watching = setting or any(isinstance(one, Watch) for one in keep)
    looking = any(isinstance(one, Look) for one in keep)
    if not looking and _look_due(state):
        return _look(state, rule, keep=keep, watching=watching)
    if not looking and not setting and _complete(state):
        return _onward(state, Rule.BAKE_COMPLETE if rule is Rule.WATCHED else rule)
    if looking and _complete(state) and rule is Rule.WATCHED:
        rule = Rule.BAKE_WAITS
    do = [] if watching else [Watch(seconds=_next_watch_s(state))]
    return go(state, rule, do=do, keep=keep)


def _look(state: State, rule: Rule, *, keep: Sequence[Awaited], watching: bool) -> Move:
    number = state.looks_begun + 1
    state = replace(state, looks_begun=number, looked_s=state.baked_s)
    do: list[Action] = [Look(look=number)]
    if not watching:
        do.append(Watch(seconds=_next_watch_s(state)))
    return go(state, Rule.LOOK_DUE if rule is Rule.WATCHED else rule, do=do, keep=keep)


def _looking(state: State) -> tuple[Look, ...]:
    return tuple(one for one in state.pending if isinstance(one, Look))


def _complete(state: State) -> bool:
    return state.baked_s >= state.terms.bake_s


def _look_due(state: State) -> bool:
    """Whether the bake has passed a multiple of the pause since its last look; several are one."""
    every = state.terms.parity_every_s
    if every is None:
        return False
    baked = min(state.baked_s, state.terms.bake_s)
    return _looks_by(baked, every) > _looks_by(min(state.looked_s, state.terms.bake_s), every)


def _looks_by(seconds: float, every: float) -> int:
    return floor(seconds / every * (1 + ROUNDING))


def _next_watch_s(state: State) -> float:
    """Watch to the next look or to the end of the bake, and past it while a look still runs."""
    terms, every = state.terms, state.terms.parity_every_s
    if _complete(state):
        return PAST_THE_BAKE_S
    marks = [terms.bake_s]
    if every is not None:
        marks.append((_looks_by(state.baked_s, every) + 1) * every)
    ahead = min(mark - state.baked_s for mark in marks if mark > state.baked_s)
    return max(ahead, SHORTEST_WATCH_S)


def bake_unhealthy(state: State, event: Unhealthy) -> Move:
    """Roll back."""
    text = f"{batch_words(state)}: unhealthy while baking: {event.why}"
    return take_back(state, Rule.BAKE_UNHEALTHY, Cause(alarm=AlarmKind.HEALTH_FAIL, text=text))


# ---------------------------------------------------------------- others at the weights


def weights_changed(state: State, event: WeightsChanged) -> Move:
    """Set the weights again; whoever changes them a second time does not do so by mistake."""
    changed = state.weights_changed + 1
    baked_s = state.baked_s + event.observed_s
    state = replace(state, weights_changed=changed, baked_s=baked_s)
    if changed > 1:
        text = f"{batch_words(state)}: the weights were changed by others again: {event.why}"
        cause = Cause(alarm=AlarmKind.HEALTH_FAIL, text=text)
        return take_back(state, Rule.WEIGHTS_CHANGED_AGAIN, cause)
    do = [SetWeights(share=state.terms.batches[state.batch - 1])]
    return go(state, Rule.WEIGHTS_CHANGED, do=do, keep=_looking(state))


def weights_set_again(state: State, event: WeightsSet) -> Move:
    """Go on with the bake."""
    return _bake_on(state, Rule.WEIGHTS_SET_AGAIN, keep=_looking(state))


def promote_early(state: State, event: Promote) -> Move:
    """End the bake of a proven batch."""
    return _onward(state, Rule.PROMOTED_EARLY)


# ---------------------------------------------------------------- looks at parity


def look_ended(state: State, event: LookEnded) -> Move:
    """Pool the look with those before it, and roll back where they decide."""
    if event.down:
        text = f"{batch_words(state)}: the stage could not be reached for a look at parity"
        cause = Cause(alarm=AlarmKind.HEALTH_FAIL, text=text, run=event.run)
        return take_back(state, Rule.LOOK_DOWN, cause)
    still = tuple(one for one in state.pending if one.number != event.answers)
    if not any(tally.counted for tally in event.tallies):
        return _bake_on(state, Rule.LOOK_MISSED, keep=still)
    number = next(one.look for one in _looking(state) if one.number == event.answers)
    looked = Looked(look=number, run=event.run, tallies=event.tallies)
    state = replace(state, looks=(*state.looks, looked))
    if any(one.decides for one in evidence(state)):
        return _looks_fail(state, event)
    return _bake_on(state, Rule.LOOK_COUNTED, keep=still)


def evidence(state: State) -> tuple[Evidence, ...]:
    """Weigh all looks of the rollout so far."""
    return weigh([one.tallies for one in state.looks], state.terms.thresholds)


def _looks_fail(state: State, event: LookEnded) -> Move:
    decided = [one for one in evidence(state) if one.decides]
    text = f"{batch_words(state)}: parity failed while baking: {evidence_words(decided)}"
    if event.cases:
        text += f"; failed in the last look: {cases_words(event.cases)}"
    cause = Cause(alarm=AlarmKind.PARITY_FAIL, text=text, run=event.run)
    return take_back(state, Rule.LOOKS_FAIL, cause, latch=True)
