"""What a rollout's page says of it, from its record alone."""

from __future__ import annotations

import pytest

from denv.rollout import states
from denv.rollout.documents import document_of
from denv.serve.pages.standing import MOST_LOGGED, PHASES, standing_of
from tests.serve.pages.playing import Played


@pytest.fixture
def played(store, tmp_path):
    return Played(store, tmp_path)


def standing(played, *, latched=False):
    document = document_of(played.store, played.rollout, now=played.at)
    record = played.store.rollouts.get_rollout(played.rollout)
    return standing_of(document, plan=record.plan, latched=latched)


def test_every_phase_is_said():
    """No phase of the table is without a sentence of its own."""
    assert set(PHASES) == {*states.Phase, "waiting"}
    assert len(set(PHASES.values())) == len(PHASES)


def test_batches_show_how_far_it_is_and_which_replicas_come(played):
    """While the second of three batches bakes the first is done; replicas stand with theirs."""
    played.bake()
    played.tell(states.Promote(by="ann"))
    played.bake()
    shown = standing(played)
    assert [(b.number, b.share, b.state) for b in shown.batches] == [
        (1, 0.1, "done"), (2, 0.333, "now"), (3, 1.0, "to come"),
    ]  # fmt: skip
    assert [list(b.replicas) for b in shown.batches] == [["a"], ["b", "c"], []]
    assert (shown.live, shown.tone) == (True, "running")


def test_only_words_that_change_something_are_offered(played):
    """Promote ends a bake alone; what is taken back already is not taken back again."""
    assert standing(played).may == ["rollback", "cancel"]
    played.bake()
    assert standing(played).may == ["promote", "rollback", "cancel"]
    played.tell(states.Rollback(by="ann", reason="x"))
    assert played.state.phase == "restoring"
    assert standing(played).may == []
    played.tell(states.WeightsNotRestored(answers=played.number, why="x"))
    assert played.state.phase == "rollback-incomplete"
    assert standing(played).may == ["rollback"]


def test_a_failure_that_stands_may_be_overridden(played):
    """After its end nothing can be said to it but the override of what failed."""
    played.fail()
    assert standing(played).may == []
    shown = standing(played, latched=True)
    assert shown.may == ["override"]
    assert (shown.live, shown.tone) == (False, "fail")
    assert [b.state for b in shown.batches] == ["stopped here", "to come", "to come"]


def test_the_log_is_newest_first_with_counts_cases_and_runs(played):
    """Each decision shows what it counted, which cases failed, and the run behind it."""
    played.fail()
    shown = standing(played)
    assert [entry.seq for entry in shown.log] == list(range(len(shown.log), 0, -1))
    failed = next(entry for entry in shown.log if entry.rule == "parity-fail")
    assert failed.phase == "parity → restoring"
    assert failed.counts == ["exact: 50 passed, 9 failed, 1 not counted"]
    assert list(failed.cases) == ["number-3", "number-7"]
    assert list(shown.runs) == ["golden-1", "run-1"]


def test_a_long_log_is_cut_and_says_so(played):
    """Of a log beyond the bound the latest decisions are shown, and how many are not."""
    played.bake()
    for _ in range(MOST_LOGGED):
        played.tell(states.Watched(answers=played.number, observed_s=0.0))
    shown = standing(played)
    assert (len(shown.log), shown.hidden) == (MOST_LOGGED, 6)
    assert shown.log[0].rule == "watched"


def test_promoted(played):
    """Every batch is done and nothing is to be said any more."""
    played.promote()
    shown = standing(played)
    assert [b.state for b in shown.batches] == ["done"] * 3
    assert (shown.tone, shown.may, shown.live) == ("pass", [], False)
