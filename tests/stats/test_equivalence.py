"""The two one-sided tests against recorded values, scipy and statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, ttest_1samp
from statsmodels.stats.weightstats import ttost_paired

from denv.stats.equivalence import paired_means, paired_rates
from denv.stats.paired import PairedCounts
from tests.stats.recorded import HALF_A_DIGIT, recorded

small = st.integers(0, 60)
tables = st.tuples(small, small, small, small).filter(any).map(lambda t: PairedCounts(*t))
values = st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=12).filter(
    lambda pairs: np.ptp([a - b for a, b in pairs]) > 1e-6
)


def test_agreement_is_no_proof():
    """Thirty pairs without a difference do not show equivalence at five points."""
    case = recorded("tost_paired_binary_30_nodiscord")
    given_, expected = case["input"], case["expected"]
    counts = PairedCounts(given_["n"], given_["b"], given_["c"], 0)
    result = paired_rates(counts, margin=given_["margin"])
    assert result.p_value == pytest.approx(expected["p"], abs=HALF_A_DIGIT)
    limits = (result.interval.low, result.interval.high)
    assert limits == pytest.approx(expected["ci90_tango"], abs=HALF_A_DIGIT)
    assert result.interval.confidence == pytest.approx(0.9)
    assert result.equivalent is expected["equivalent"]


def test_enough_agreement_is():
    """At n = 52, z = sqrt(52·0.05/0.95) = 1.654 is beyond 1.645; at 51 it is not."""
    assert paired_rates(PairedCounts(52, 0, 0, 0), margin=0.05).equivalent
    assert not paired_rates(PairedCounts(51, 0, 0, 0), margin=0.05).equivalent


@given(tables, st.sampled_from([0.02, 0.05, 0.2]), st.sampled_from([0.01, 0.05]))
def test_the_interval_agrees(counts, margin, alpha):
    """The tests reject exactly where the interval lies inside the margin."""
    result = paired_rates(counts, margin=margin, alpha=alpha)
    inside = -margin < result.interval.low and result.interval.high < margin
    near = min(abs(result.interval.low + margin), abs(result.interval.high - margin)) < 1e-9
    assert near or result.equivalent == inside
    assert 0 <= result.p_value <= 1


@given(tables)
def test_sides_may_be_swapped(counts):
    """Swapping the sides swaps the two one-sided p-values."""
    other = PairedCounts(counts.both, counts.cand_only, counts.ref_only, counts.neither)
    one, two = paired_rates(counts, margin=0.1), paired_rates(other, margin=0.1)
    assert (one.p_low, one.p_high) == pytest.approx((two.p_high, two.p_low), abs=1e-9)
    assert one.equivalent == two.equivalent or abs(one.p_value - 0.05) < 1e-9


@pytest.mark.parametrize(("n", "level"), [(60, 0.0530), (100, 0.0576)])
def test_level_for_rates(n, level):
    """At a loss of the margin that is all on one side, the level is what the docstring says."""
    margin = 0.1
    chance = sum(
        binom.pmf(b, n, margin)
        for b in range(n // 4)
        if paired_rates(PairedCounts(n - b, b, 0, 0), margin=margin).equivalent
    )
    assert chance == pytest.approx(level, abs=5e-5)


def test_means():
    """The test of per-text means is the one that statsmodels gives."""
    case = recorded("ttost_paired_nll")
    given_, expected = case["input"], case["expected"]
    result = paired_means(given_["cand"], given_["ref"], low=given_["low"], high=given_["upp"])
    assert result.difference == pytest.approx(expected["mean_diff"], abs=HALF_A_DIGIT)
    assert result.se == pytest.approx(expected["se"], abs=HALF_A_DIGIT)
    assert result.p_value == pytest.approx(expected["p"], abs=HALF_A_DIGIT)
    assert result.interval == pytest.approx(expected["ci90"], abs=HALF_A_DIGIT)
    lower, upper = result.against_low, result.against_high
    assert lower is not None
    assert upper is not None
    assert lower.t == pytest.approx(expected["t_low"], abs=HALF_A_DIGIT)
    assert lower.p_value == pytest.approx(expected["p_low"], abs=HALF_A_DIGIT)
    assert upper.t == pytest.approx(expected["t_upp"], abs=HALF_A_DIGIT)
    assert upper.p_value == pytest.approx(expected["p_upp"], abs=HALF_A_DIGIT)
    assert result.equivalent is True
    assert result.texts == 8


@given(values)
def test_means_law(pairs):
    """It is statsmodels' test and scipy's two t-tests, and the interval agrees with it."""
    cand, ref = np.array(pairs).T
    result = paired_means(cand, ref, low=-1.0, high=1.5)
    assert result.p_value is not None
    assert result.against_low is not None
    assert result.interval is not None
    assert result.p_value == pytest.approx(ttost_paired(cand, ref, -1.0, 1.5)[0], abs=1e-12)
    larger = ttest_1samp(cand - ref, -1.0, alternative="greater").pvalue
    assert result.against_low.p_value == pytest.approx(larger, rel=1e-6, abs=1e-12)
    low, high = result.interval
    assert low <= result.difference <= high
    assert result.equivalent == (low > -1.0 and high < 1.5) or abs(result.p_value - 0.05) < 1e-9


@given(values)
def test_means_may_be_swapped(pairs):
    """Swapping the sides turns the signs and the limits."""
    cand, ref = np.array(pairs).T
    one = paired_means(cand, ref, low=-1.0, high=1.5)
    two = paired_means(ref, cand, low=-1.5, high=1.0)
    assert one.difference == -two.difference
    assert one.p_value == pytest.approx(two.p_value, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("shift", [0.0, 0.01])
def test_no_spread_is_undecided(shift):
    """Equal differences have no spread to judge by, also where rounding makes them unequal."""
    ref = [0.1, 0.2, 0.3, 0.7]
    result = paired_means([x + shift for x in ref], ref, low=-0.02, high=0.02)
    assert result.difference == pytest.approx(shift)
    assert result.se == 0.0
    assert (result.p_value, result.interval, result.equivalent) == (None, None, None)


def test_one_text_is_undecided():
    """A single text has no spread: its standard error is unknown rather than 0."""
    result = paired_means([1.0], [1.0], low=-1, high=1)
    assert (result.se, result.p_value, result.equivalent) == (None, None, None)


@pytest.mark.parametrize(
    ("cand", "ref", "options", "words"),
    [
        ([1.0], [1.0, 2.0], {}, "cand and ref need the same number of values, at least one$"),
        ([], [], {}, "cand and ref need the same number of values, at least one$"),
        ([1.0, np.nan], [1.0, 2.0], {}, "a value is not finite$"),
        ([1.0, 2.0], [1.0, np.inf], {}, "a value is not finite$"),
        ([1.0, 2.0], [1.0, 2.0], {"low": 1}, "low 1 is not below high 1$"),
        ([1.0, 2.0], [1.0, 2.0], {"alpha": 0.5}, "alpha 0.5 is not between 0 and 0.5$"),
    ],
)
def test_impossible_means(cand, ref, options, words):
    """Impossible input is refused in words."""
    with pytest.raises(ValueError, match=f"^{words}"):
        paired_means(cand, ref, **{"low": -1, "high": 1, **options})


@pytest.mark.parametrize(("margin", "alpha"), [(0.0, 0.05), (1.0, 0.05), (0.1, 0.0), (0.1, 0.5)])
def test_impossible_margins(margin, alpha):
    """A margin or level out of range is refused."""
    with pytest.raises(ValueError, match=r"^(margin|alpha) \S+ is not between 0 and "):
        paired_rates(PairedCounts(1, 0, 0, 0), margin=margin, alpha=alpha)
