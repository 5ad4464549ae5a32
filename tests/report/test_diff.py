"""The word-level difference of two answers."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.report.diff import compare

WORDS = st.text(alphabet="ab \n漢é.", max_size=60)


@given(WORDS, WORDS)
def test_the_pieces_are_the_texts(stage, reference):
    """Joined, the pieces of a side are its text, and the equal ones agree on both sides."""
    found = compare(stage, reference)
    assert "".join(p.text for p in found.stage) == stage
    assert "".join(p.text for p in found.reference) == reference
    equal = [
        "".join(p.text for p in side if not p.differs) for side in (found.stage, found.reference)
    ]
    assert equal[0] == equal[1]
    assert found.equal == (stage == reference)


def test_only_the_word_that_differs_is_marked():
    """One other word in a sentence is one piece on each side."""
    found = compare("It is 381, I think.", "It is 391, I think.")
    assert [p.text for p in found.stage if p.differs] == ["381"]
    assert [p.text for p in found.reference if p.differs] == ["391"]


def test_a_late_difference_is_in_sight():
    """Where long texts begin alike, they are shown from just before they part."""
    found = compare("same " * 5000 + "left", "same " * 5000 + "right", limit=1000)
    assert found.before == 25_000 - 160
    assert found.stage[-1].text == "left"
    assert found.reference[-1].text == "right"
    assert (found.stage_after, found.reference_after) == (0, 0)


def test_what_is_cut_off_is_counted():
    """Of texts that differ from the start, the limit is shown and the rest counted."""
    found = compare("a" * 5000, "b" * 7000, limit=1000)
    assert (found.before, found.stage_after, found.reference_after) == (0, 4000, 6000)


@pytest.mark.parametrize(
    ("stage", "reference"),
    [
        ("a b " * 250_000, "b a " * 250_000),
        ("x" * 1_000_000, "<b>" * 350_000),
        ("漢" * 500_000, "字漢" * 250_000),
    ],
)
def test_hostile_lengths_take_bounded_time(stage, reference):
    """A megabyte on each side is compared in well under a second."""
    start = time.perf_counter()
    found = compare(stage, reference)
    assert time.perf_counter() - start < 1
    assert sum(len(p.text) for p in found.stage) <= 3000
