"""The conformal p-value against recorded values and its law."""

from fractions import Fraction
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.stats.floor import FloorTest, conformal_p, runs_needed
from tests.stats.recorded import recorded


def test_recorded_values():
    """The p is (1 + ties and above)/(n + 1), at best 1/(n + 1); 5 % needs 19 runs, 1 % needs 99."""
    case = recorded("aa_conformal_p")
    right = case["expected"]
    result = conformal_p(case["input"]["obs"], case["input"]["aa"])
    assert result.p_value == pytest.approx(right["p"])
    assert result.least_p_value == pytest.approx(right["min_reachable"])
    assert result.runs == 9
    assert runs_needed(0.05) == right["n_aa_for_p_le_05"]
    assert runs_needed(0.01) == right["n_aa_for_p_le_01"]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.sampled_from([0.01, 0.05, 0.2]))
def test_level_holds_over_any_figures(figures, level):
    """If each of the figures is as likely to be the observed one, p reaches a level so seldom."""
    values = [
        conformal_p(each, figures[:i] + figures[i + 1 :]).p_value for i, each in enumerate(figures)
    ]
    assert sum(p <= level for p in values) / len(values) <= level


@given(st.integers(1, 10_000))
def test_runs_needed_is_the_least_number(inverse):
    """At the number of runs the smallest p is at most the level, with one run less it is not."""
    level = 1 / inverse
    runs, written = runs_needed(level), Fraction(repr(level))
    assert Fraction(1, runs + 1) <= written
    assert runs == 0 or Fraction(1, runs) > written


def test_without_runs_nothing_is_rejected():
    """No A/A run gives p 1."""
    assert conformal_p(9.0, []) == FloorTest(1.0, 1.0, 0)


@pytest.mark.parametrize("level", [0, -0.1, 1.1, nan])
def test_level_out_of_range(level):
    """A level that is none is refused."""
    with pytest.raises(ValueError, match=r"^level .* is not above 0 and at most 1$"):
        runs_needed(level)


@pytest.mark.parametrize(("observed", "floor"), [(nan, [1.0]), (1.0, [nan])])
def test_figures_must_be_numbers(observed, floor):
    """NaN would count as below everything, so it is refused."""
    with pytest.raises(ValueError, match=r"^a figure of the noise floor is not a number$"):
        conformal_p(observed, floor)
