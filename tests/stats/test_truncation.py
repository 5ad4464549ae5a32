"""Bounds over everything that cut answers could have been."""

from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from denv.stats.truncation import accuracy_bounds, mcnemar_range
from tests.stats.recorded import HALF_A_DIGIT, recorded

few = st.integers(0, 4)


@cache
def exact_p(b, c):
    return binomtest(b, b + c).pvalue if b + c else 1.0


def test_accuracy():
    """Cut answers count as wrong for the lower and as right for the upper bound."""
    case = recorded("truncated_bounds")
    given_, expected = case["input"], case["expected"]
    bounds = accuracy_bounds(given_["correct"], given_["wrong"], truncated=given_["truncated"])
    assert bounds.lower == pytest.approx(expected["lower"], abs=HALF_A_DIGIT)
    assert bounds.upper == pytest.approx(expected["upper"], abs=HALF_A_DIGIT)
    assert bounds.complete_case == pytest.approx(expected["complete_case"], abs=HALF_A_DIGIT)


def test_all_cut():
    """Where every answer was cut, accuracy may be anything, and has no estimate."""
    bounds = accuracy_bounds(0, 0, truncated=7)
    assert (bounds.lower, bounds.upper, bounds.complete_case) == (0.0, 1.0, None)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_accuracy_laws(correct, wrong, truncated):
    """The complete cases lie in the bounds; counting wrong answers mirrors them."""
    if correct + wrong + truncated == 0:
        return
    bounds = accuracy_bounds(correct, wrong, truncated=truncated)
    mirrored = accuracy_bounds(wrong, correct, truncated=truncated)
    assert 0 <= bounds.lower <= bounds.upper <= 1
    assert bounds.lower == pytest.approx(1 - mirrored.upper)
    if bounds.complete_case is not None:
        assert bounds.lower - 1e-12 <= bounds.complete_case <= bounds.upper + 1e-12


def test_recorded_range():
    """Three unresolved pairs beside 5 and 1 leave everything from 0.039 to 1 open."""
    case = recorded("mcnemar_truncated_range")
    given_, expected = case["input"], case["expected"]
    result = mcnemar_range(given_["b"], given_["c"], unresolved=given_["unresolved"])
    assert result.low == pytest.approx(expected["min"], abs=HALF_A_DIGIT)
    assert result.high == pytest.approx(expected["max"], abs=HALF_A_DIGIT)


@given(st.integers(0, 9), st.integers(0, 9), few, few, few)
def test_range_is_that_of_enumeration(b, c, unresolved, ref, cand):
    """Both ends are the extremes over every resolution, and turn with the sides."""
    result = mcnemar_range(b, c, unresolved=unresolved, maybe_ref_only=ref, maybe_cand_only=cand)
    every = [
        exact_p(b + i + r, c + j + s)
        for i, j, r, s in product(
            range(unresolved + 1), range(unresolved + 1), range(ref + 1), range(cand + 1)
        )
        if i + j <= unresolved
    ]
    assert (result.low, result.high) == pytest.approx((min(every), max(every)), rel=1e-9)
    turned = mcnemar_range(c, b, unresolved=unresolved, maybe_ref_only=cand, maybe_cand_only=ref)
    assert turned == result


def test_negative_counts():
    """Negative counts and no answer are refused."""
    with pytest.raises(ValueError, match=r"^a count is negative$"):
        accuracy_bounds(1, -1, truncated=0)
    with pytest.raises(ValueError, match=r"^bounds need at least one answer$"):
        accuracy_bounds(0, 0, truncated=0)
    with pytest.raises(ValueError, match=r"^a count is negative$"):
        mcnemar_range(1, 1, unresolved=0, maybe_ref_only=-1)
