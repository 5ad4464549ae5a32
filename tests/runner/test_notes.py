"""What processes learned of a side becomes one, whatever the order."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.records import Dialect
from denv.runner.notes import dialect_from_note, dialect_note, merged

DIALECTS = st.builds(
    Dialect,
    dropped=st.frozensets(st.sampled_from(["seed", "logprobs", "temperature"])),
    top_logprobs=st.sampled_from([20, 5, None]),
    max_tokens_field=st.sampled_from(["max_tokens", "max_completion_tokens"]),
)


def note(dialect):
    return {"stage": {"model": "m", "dialect": dialect_note(dialect)}}


def joined(*dialects):
    notes: dict = {}
    for dialect in dialects:
        notes = merged(notes, note(dialect))
    return dialect_from_note(notes["stage"]["dialect"])


@given(st.lists(DIALECTS, min_size=3, max_size=3))
def test_the_order_does_not_matter(dialects):
    """Whoever writes first, the same notes result; what was written twice counts once."""
    assert len({joined(*order) for order in permutations(dialects)}) == 1
    assert joined(*dialects, *dialects) == joined(*dialects)


@given(DIALECTS)
def test_what_nobody_learned_changes_nothing(dialect):
    """A process that saw no refusal takes nothing back."""
    assert joined(dialect, Dialect()) == joined(Dialect(), dialect) == dialect


@pytest.mark.parametrize(("one", "other", "both"), [(20, 5, 5), (5, None, None), (20, 20, 20)])
def test_the_fewest_logprobs_hold(one, other, both):
    """20, then 5, then none: the later step stands."""
    assert joined(Dialect(top_logprobs=one), Dialect(top_logprobs=other)).top_logprobs == both


def test_other_notes_are_kept():
    """A side that only one process knows, and the model, stay."""
    assert merged({"stage": {"model": "m"}, "reference": {}}, {"stage": {"note": "n"}}) == {
        "stage": {"model": "m", "note": "n"},
        "reference": {},
    }
