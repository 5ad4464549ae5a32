"""Texts and figures made fit to be shown."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.report.text import clipped, interval, line, percent, threshold, visible


@given(st.text(st.characters(), max_size=200))
def test_no_control_or_direction_survives(text):
    """Whatever the text, what is shown has no control, surrogate or bidirectional control."""
    for character in line(text):
        assert unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}
        assert character not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\ufeff"


def test_ordinary_writing_is_left_alone():
    """Accents, joined emoji, right-to-left scripts and line breaks of texts stay as they are."""
    text = "né\n\té 👩‍🚀 שלום 漢字"
    assert visible(text) == text


def test_a_cut_says_how_much_is_missing():
    """Nothing is cut in silence."""
    assert clipped("abcdef", 6) == "abcdef"
    assert clipped("abcdef" * 1000, 2) == "ab… (5,998 more characters)"


@pytest.mark.parametrize(
    ("rate", "shown"),
    [(None, "–"), (0.0, "0 %"), (1.0, "100 %"), (0.9375, "93.8 %"), (0.99996, "> 99.9 %"),
     (0.0001, "< 0.1 %"), (0.9, "90 %")],
)  # fmt: skip
def test_rates_are_never_rounded_to_all_or_nothing(rate, shown):
    """Only a full 100 % is shown as 100 %, and only none as 0 %."""
    assert percent(rate) == shown


def test_thresholds_keep_their_digits():
    """A threshold of 99.95 % is not shown as 100 %."""
    assert threshold(0.9995) == "99.95 %"
    assert interval([0.8929, 0.9868]) == "89.3 – 98.7 %"
    assert interval(None) == "–"
