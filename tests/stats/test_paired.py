"""McNemar's tests and the intervals of a paired difference against recorded and R's values."""

from itertools import pairwise
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, multinomial, norm

from denv.stats.paired import (
    McNemarTest,
    PairedCounts,
    mcnemar,
    newcombe_8,
    newcombe_10,
    tango,
    tango_statistic,
)
from tests.stats.recorded import HALF_A_DIGIT, recorded

INTERVALS = [newcombe_8, newcombe_10, tango]

small = st.integers(0, 40)
tables = st.tuples(small, small, small, small).filter(any).map(lambda t: PairedCounts(*t))


def swapped(counts):
    return PairedCounts(counts.both, counts.cand_only, counts.ref_only, counts.neither)


@pytest.mark.parametrize("name", ["mcnemar_5_0", "mcnemar_6_0", "mcnemar_3_3", "mcnemar_12_4"])
def test_mcnemar(name):
    """All three p-values and the statistic are the recorded ones."""
    case = recorded(name)
    test = mcnemar(case["input"]["b"], case["input"]["c"])
    for field, value in case["expected"].items():
        assert getattr(test, field) == pytest.approx(value, abs=HALF_A_DIGIT)


def test_mcnemar_of_a_published_table():
    """R's contingencytables on Cavo 2012: exact 0.052479, mid-p 0.034690, asymptotic 0.033006."""
    test = mcnemar(6, 16)
    assert test.exact_p == pytest.approx(0.052479, abs=5e-7)
    assert test.mid_p == pytest.approx(0.034690, abs=5e-7)
    assert test.asymptotic_p == pytest.approx(0.033006, abs=5e-7)


def test_mcnemar_without_discordant_pairs():
    """Nothing discordant is no evidence: p is 1, and the statistic 0/0 is null."""
    assert mcnemar(0, 0) == McNemarTest(0, 0, 1.0, 1.0, None, None)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_laws(b, c):
    """Sides may be swapped, p is a share, mid-p is below exact, and exact is the binomial test."""
    test, other = mcnemar(b, c), mcnemar(c, b)
    assert (test.exact_p, test.mid_p, test.chi2) == (other.exact_p, other.mid_p, other.chi2)
    assert 0 < test.mid_p <= test.exact_p <= 1
    if test.asymptotic_p is not None:
        assert b + c > 0
        assert test.exact_p == pytest.approx(binomtest(b, b + c).pvalue, rel=1e-9)
        assert 0 <= test.asymptotic_p <= 1
        at = 2 * binom.cdf(min(b, c), b + c, 0.5) - binom.pmf(b, b + c, 0.5)
        assert test.mid_p == pytest.approx(at, rel=1e-7, abs=1e-300)


@pytest.mark.parametrize(
    "name",
    [
        "paired_diff_ci_1_1_7_12",
        "paired_diff_ci_36_12_2_0",
        "paired_diff_ci_200_6_4_30",
        "paired_diff_ci_14_5_1_0",
        "paired_diff_ci_230_0_0_10",
    ],
)
def test_intervals(name):
    """The intervals are the recorded ones."""
    case = recorded(name)
    given_, expected = case["input"], case["expected"]
    counts = PairedCounts(given_["a"], given_["b"], given_["c"], given_["d"])
    for function, field in zip(INTERVALS, ("newcombe8", "newcombe10", "tango"), strict=True):
        interval = function(counts, confidence=given_["conf"])
        assert interval.difference == pytest.approx(expected["diff"], abs=HALF_A_DIGIT)
        assert (interval.low, interval.high) == pytest.approx(expected[field], abs=HALF_A_DIGIT)
        assert interval.confidence == given_["conf"]


def test_intervals_of_a_published_table():
    """R's contingencytables on Cavo 2012: Newcombe -0.1186 to -0.0046, Tango -0.1240 to -0.0054."""
    counts = PairedCounts(59, 6, 16, 80)
    newcombe, score = newcombe_10(counts), tango(counts)
    assert (newcombe.low, newcombe.high) == pytest.approx((-0.1186, -0.0046), abs=5e-5)
    assert (score.low, score.high) == pytest.approx((-0.1240, -0.0054), abs=5e-5)
    assert (newcombe.method, score.method) == ("newcombe-10", "tango")
    assert newcombe_8(counts).method == "newcombe-8"


@pytest.mark.parametrize("n", [1, 2, 30, 100_000])
def test_tango_in_degenerate_tables(n):
    """Without discordant pairs it is ±z²/(n + z²); with all on one side, (n − z²)/(n + z²) to 1."""
    z2 = norm.isf(0.025) ** 2
    equal, worse = tango(PairedCounts(n, 0, 0, 0)), tango(PairedCounts(0, n, 0, 0))
    assert (equal.low, equal.high) == pytest.approx((-z2 / (n + z2), z2 / (n + z2)), rel=1e-12)
    assert (worse.low, worse.high) == pytest.approx(((n - z2) / (n + z2), 1.0), rel=1e-9)
    better = tango(PairedCounts(0, 0, n, 0))
    assert (better.low, better.high) == (-worse.high, -worse.low)


def test_newcombe_10_keeps_a_width():
    """At 10 and 10 agreeing, phi is 1 for method 8 and (100 - 10)/100 for method 10.

    Wilson's limits of 10 in 20 are 0.299298 and 0.700702: sqrt(2 - 2·0.9)·0.200702 = 0.089757.
    """
    counts = PairedCounts(10, 0, 0, 10)
    assert newcombe_8(counts).high == pytest.approx(0, abs=1e-9)
    assert newcombe_10(counts).high == pytest.approx(0.089757, abs=1e-6)
    assert newcombe_10(counts).low == pytest.approx(-0.089757, abs=1e-6)


@given(tables, st.sampled_from([0.8, 0.9, 0.95, 0.999]))
def test_interval_laws(counts, confidence):
    """Each interval holds the estimate, stays in [−1, 1] and changes sign with the sides."""
    for function in INTERVALS:
        interval = function(counts, confidence=confidence)
        mirrored = function(swapped(counts), confidence=confidence)
        assert -1 <= interval.low <= interval.difference + 1e-12
        assert interval.difference - 1e-12 <= interval.high <= 1
        assert (mirrored.low, mirrored.high) == pytest.approx(
            (-interval.high, -interval.low), abs=1e-9
        )


@given(tables, st.sampled_from([0.8, 0.95]))
def test_tango_inverts_its_test(counts, confidence):
    """At a limit inside (−1, 1) the statistic is the normal quantile."""
    z = norm.isf((1 - confidence) / 2)
    interval = tango(counts, confidence=confidence)
    if interval.low > -1:
        assert tango_statistic(counts, interval.low) == pytest.approx(z, abs=1e-6)
    if interval.high < 1:
        assert tango_statistic(counts, interval.high) == pytest.approx(-z, abs=1e-6)


@given(tables)
def test_tango_statistic_laws(counts):
    """It falls in the difference, changes sign with the sides, and at 0 is McNemar's root."""
    grid = np.linspace(-1, 1, 81)
    values = [tango_statistic(counts, float(d)) for d in grid]
    assert all(one >= other - 1e-9 for one, other in pairwise(values))
    mirrored = [tango_statistic(swapped(counts), float(d)) for d in -grid]
    assert mirrored == pytest.approx([-value for value in values], abs=1e-6)
    b, c = counts.ref_only, counts.cand_only
    expected = (b - c) / sqrt(b + c) if b + c else 0.0
    assert tango_statistic(counts, 0.0) == pytest.approx(expected, abs=1e-9)


def test_tango_statistic_against_the_most_likely_table():
    """Its variance is that of the table that is likeliest among all that have the difference."""
    counts, difference = PairedCounts(12, 5, 3, 4), 0.2
    q = np.linspace(1e-6, (1 - difference) / 2 - 1e-6, 400_001)
    b, c, rest = counts.ref_only, counts.cand_only, counts.both + counts.neither
    likelihood = b * np.log(q + difference) + c * np.log(q) + rest * np.log(1 - 2 * q - difference)
    best = q[likelihood.argmax()]
    variance = counts.pairs * (2 * best + difference - difference**2)
    expected = (b - c - counts.pairs * difference) / sqrt(variance)
    assert tango_statistic(counts, difference) == pytest.approx(expected, abs=1e-5)


def test_tango_statistic_at_the_ends():
    """Where only one table has the difference, any other is infinitely far from it."""
    assert tango_statistic(PairedCounts(3, 1, 0, 0), 1.0) == -inf
    assert tango_statistic(PairedCounts(3, 1, 0, 0), -1.0) == inf
    assert tango_statistic(PairedCounts(0, 4, 0, 0), 1.0) == 0.0


@pytest.mark.parametrize(
    ("rates", "n"), [((0.9, 0.05, 0.03, 0.02), 30), ((0.5, 0.2, 0.05, 0.25), 20)]
)
def test_coverage(rates, n):
    """Summed over every table of n pairs, Tango's interval covers 95 % nearly, or more."""
    grid = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
    true = rates[1] - rates[2]
    p = multinomial(n, [rates[1], rates[2], rates[0] + rates[3]])
    covered = 0.0
    for b, c in grid:
        chance = p.pmf([b, c, n - b - c])
        if chance > 1e-9:
            interval = tango(PairedCounts(n - b - c, b, c, 0))
            covered += chance * (interval.low <= true <= interval.high)
    assert 0.94 < covered < 0.995


def test_impossible_counts():
    """Negative counts and no pairs are refused, as are confidences that are no shares."""
    with pytest.raises(ValueError, match=r"^a count is negative$"):
        PairedCounts(1, -1, 0, 0)
    with pytest.raises(ValueError, match=r"^a comparison needs at least one pair$"):
        PairedCounts(0, 0, 0, 0)
    with pytest.raises(ValueError, match=r"^a count is negative$"):
        mcnemar(-1, 0)
    with pytest.raises(ValueError, match=r"^difference 1.5 is not in \[-1, 1\]$"):
        tango_statistic(PairedCounts(1, 0, 0, 0), 1.5)
    for function in INTERVALS:
        with pytest.raises(ValueError, match=r"^confidence 1.0 is not between 0 and 1$"):
            function(PairedCounts(1, 0, 0, 0), confidence=1.0)
