"""Every situation × event, against a table that is written here by hand.

Each line: the situation, then ``event: rule > phase after it``. What is not named there is
ignored as its kind is: an answer because nothing awaits it in this way, all else by name.
"""

from __future__ import annotations

from typing import get_args

import pytest

from denv.rollout.states import Event, Phase, next_state
from denv.rollout.states.table import ROWS, TABLE
from tests.rollout.states.situations import AWAITED, SITUATIONS, events

RIGHT = """
pending
    begin: begin > starting
    deadline: ignored-other-batch > pending
    promote: promote-unproven > pending
    rollback: cancelled-unchanged > cancelled
    superseded: cancelled-unchanged > cancelled
    cancel: cancelled-unchanged > cancelled
starting
    begin: ignored-begun > starting
    replicas-started: replicas-started > health
    replicas-failed: replicas-failed > restoring
    deadline: deadline > restoring
    promote: promote-unproven > starting
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
health
    begin: ignored-begun > health
    healthy: healthy > golden
    unhealthy: health-fail > restoring
    deadline: deadline > restoring
    promote: promote-unproven > health
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
golden
    begin: ignored-begun > golden
    golden-passed: golden-passed > parity
    golden-failed: golden-fail > restoring
    golden-unproven: golden-unproven > golden
    deadline: deadline > restoring
    promote: promote-unproven > golden
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
golden, waits
    begin: ignored-begun > golden
    retry-due: golden-again > golden
    deadline: deadline > restoring
    promote: promote-unproven > golden
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
parity
    begin: ignored-begun > parity
    parity-ended: parity-pass > shifting
    deadline: deadline > restoring
    promote: promote-unproven > parity
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
parity, waits
    begin: ignored-begun > parity
    retry-due: parity-again > parity
    deadline: deadline > restoring
    promote: promote-unproven > parity
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
holding
    begin: ignored-begun > holding
    retry-due: parity-again > parity
    deadline: deadline > restoring
    promote: promote-unproven > holding
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
shifting
    begin: ignored-begun > shifting
    weights-set: weights-set > baking
    weights-not-set: weights-not-set > restoring
    deadline: ignored-proven > shifting
    promote: promote-not-baking > shifting
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
baking
    begin: ignored-begun > baking
    watched: watched > baking
    weights-changed: weights-changed > baking
    unhealthy: bake-unhealthy > restoring
    deadline: ignored-proven > baking
    promote: promoted-early > starting
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
baking, looks
    begin: ignored-begun > baking
    look-ended: look-counted > baking
    deadline: ignored-proven > baking
    promote: promoted-early > starting
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
baking, sets again
    begin: ignored-begun > baking
    weights-set: weights-set-again > baking
    weights-not-set: weights-not-set > restoring
    deadline: ignored-proven > baking
    promote: promoted-early > starting
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
promoting
    begin: ignored-begun > promoting
    weights-set: promoted > promoted
    weights-not-set: weights-not-set > restoring
    deadline: ignored-proven > promoting
    promote: promote-not-baking > promoting
    rollback: by-hand > restoring
    superseded: superseded > restoring
    cancel: cancelled > restoring
restoring
    begin: ignored-begun > restoring
    weights-restored: weights-restored > verifying
    weights-not-restored: weights-not-restored > rollback-incomplete
    deadline: ignored-rolling-back > restoring
    promote: ignored-rolling-back > restoring
    rollback: ignored-rolling-back > restoring
    superseded: ignored-rolling-back > restoring
    cancel: ignored-rolling-back > restoring
verifying
    begin: ignored-begun > verifying
    incumbent-proven: incumbent-proven > stopping
    incumbent-not-proven: incumbent-not-proven > rollback-incomplete
    deadline: ignored-rolling-back > verifying
    promote: ignored-rolling-back > verifying
    rollback: ignored-rolling-back > verifying
    superseded: ignored-rolling-back > verifying
    cancel: ignored-rolling-back > verifying
stopping
    begin: ignored-begun > stopping
    replicas-stopped: rolled-back > rolled-back
    deadline: ignored-rolling-back > stopping
    promote: ignored-rolling-back > stopping
    rollback: ignored-rolling-back > stopping
    superseded: ignored-rolling-back > stopping
    cancel: ignored-rolling-back > stopping
rollback-incomplete
    rollback: rollback-again > restoring
    superseded: rollback-again > restoring
    cancel: rollback-again > restoring
promoted
rolled-back
cancelled
refused
"""
OVER = {"promoted", "rolled-back", "rollback-incomplete", "cancelled", "refused"}
NOT_ANSWERS = {"begin", "deadline", "promote", "rollback", "superseded", "cancel"}


def read() -> dict[tuple[str, str], tuple[str, str]]:
    """Read the table above."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    situation = ""
    for line in RIGHT.strip().splitlines():
        if not line.startswith(" "):
            situation = line
            continue
        event, _, right = line.strip().partition(": ")
        rule, _, phase = right.partition(" > ")
        found[situation, event] = (rule, phase)
    return found


TABLED = read()
PAIRS = [(name, event) for name in SITUATIONS for event in events(AWAITED)]


def right(situation: str, event: Event, *, stale: bool) -> tuple[str, str]:
    """Give the rule and the phase that are right."""
    phase = SITUATIONS[situation].phase.value
    if (situation, event.type) in TABLED and not (stale and event.type not in NOT_ANSWERS):
        return TABLED[situation, event.type]
    if situation in OVER:
        return "ignored-over", phase
    assert event.type not in NOT_ANSWERS, "each of these stands in the table"
    awaits = not stale and bool(SITUATIONS[situation].pending)
    return "ignored-other-answer" if awaits else "ignored-stale", phase


def test_all_phases_and_events_are_there() -> None:
    """The situations hold every phase, the events every type, and the table every pair."""
    types = {type(event) for event in events(AWAITED)}
    declared = set(get_args(get_args(Event)[0]))
    assert types == declared
    assert {state.phase for state in SITUATIONS.values()} == set(Phase)
    assert set(TABLE) == {(phase, one) for phase in Phase for one in declared}


@pytest.mark.parametrize(("situation", "event"), PAIRS, ids=lambda one: getattr(one, "type", one))
def test_pair(situation: str, event: Event) -> None:
    """Each event in each situation is decided by its rule and leads to its phase."""
    step = next_state(SITUATIONS[situation], event)
    assert (step.rule, step.state.phase) == right(situation, event, stale=False)


@pytest.mark.parametrize(
    ("situation", "event"),
    [(name, event) for name in SITUATIONS for event in events(AWAITED - 4)],
    ids=lambda one: getattr(one, "type", one),
)
def test_stale_pair(situation: str, event: Event) -> None:
    """An answer to an action that is no longer awaited changes nothing and is said to be late."""
    before = SITUATIONS[situation]
    step = next_state(before, event)
    assert (step.rule, step.state.phase) == right(situation, event, stale=True)
    if step.rule.startswith(("ignored-", "promote-")):
        assert step.actions == ()
        assert step.state.pending == before.pending


@pytest.mark.parametrize(("situation", "event"), PAIRS, ids=lambda one: getattr(one, "type", one))
def test_each_step_is_counted_and_explained(situation: str, event: Event) -> None:
    """Each decision has a number of its own, its rule is one of its row's, and it says why."""
    before = SITUATIONS[situation]
    step = next_state(before, event)
    assert step.state.steps == before.steps + 1
    assert step.text.endswith((".", "?", "!"))
    assert "  " not in step.text
    refusals = {"ignored-stale", "ignored-other-answer"}
    assert step.rule in {*TABLE[before.phase, type(event)].rules, *refusals}


@pytest.mark.parametrize(("situation", "event"), PAIRS, ids=lambda one: getattr(one, "type", one))
def test_actions_are_numbered_upwards(situation: str, event: Event) -> None:
    """Numbers of actions rise by one and never come back, and what is awaited is among them."""
    before = SITUATIONS[situation]
    step = next_state(before, event)
    numbers = [one.number for one in step.actions]
    assert numbers == list(range(before.issued + 1, before.issued + 1 + len(numbers)))
    assert step.state.issued == before.issued + len(numbers)
    known = {one.number for one in (*before.pending, *step.actions)}
    assert {one.number for one in step.state.pending} <= known


def test_no_pair_has_two_rows() -> None:
    """Each pair of the declared rows stands there once."""
    pairs = [(phase, row.event) for row in ROWS for phase in row.phases]
    assert len(pairs) == len(set(pairs))
