"""Chances and sample sizes against recorded values, other libraries and plain enumeration."""

from fractions import Fraction
from math import comb, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, multinomial, norm
from statsmodels.stats.contingency_tables import mcnemar

from denv.stats.power import (
    cases_for_confidence,
    cases_needed,
    least_passes,
    mcnemar_power,
    paired_equivalence_pairs,
    paired_equivalence_power,
    pass_chance,
)
from denv.stats.proportions import clopper_pearson_lower
from tests.stats.recorded import recorded


def number(value):
    """Take a number that there is."""
    assert value is not None
    return value


thresholds = st.integers(1, 1000).map(lambda i: Fraction(i, 1000))


def test_gate_pass_chance():
    """A stage of each rate meets 95 % of 20 cases with the recorded chance."""
    case = recorded("gate_pass_prob_95of20")
    n, threshold = case["input"]["n"], Fraction(str(case["input"]["share"]))
    chances = [pass_chance(n, rate, threshold=threshold) for rate in case["input"]["p"]]
    assert chances == pytest.approx(case["expected"], abs=5e-9)


@given(st.integers(1, 10**6), thresholds)
def test_least_passes_is_exact(cases, threshold):
    """The fewest passes meet the threshold as fractions, and one less does not."""
    least = number(least_passes(cases, threshold))
    assert Fraction(least, cases) >= threshold > Fraction(least - 1, cases)


def test_no_rounding_at_whole_numbers():
    """55 % of 100 are 55 cases, though 0.55 · 100 is 55.00000000000001 in binary."""
    assert least_passes(100, Fraction("0.55")) == 55
    assert least_passes(1000, Fraction("0.07")) == 70


@settings(deadline=None)
@given(st.integers(1, 600), thresholds, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_least_passes_with_confidence(cases, threshold, confidence):
    """The lower bound reaches the threshold at the fewest passes and not at one less."""

    def bound(passes):
        return clopper_pearson_lower(passes, cases, confidence=confidence).low

    least = least_passes(cases, threshold, confidence=confidence)
    if least is None:
        assert bound(cases) < float(threshold)
    else:
        assert bound(least) >= float(threshold)
        assert Fraction(least, cases) >= threshold
        one_less = least - 1
        assert Fraction(one_less, cases) < threshold or bound(one_less) < float(threshold)


def test_confidence_lowers_the_chance():
    """With 95 % confidence 300 cases need 292 passes for 95 %; a 95 % stage gets there in 5 %."""
    threshold = Fraction("0.95")
    assert least_passes(300, threshold, confidence=0.95) == 292
    sure = pass_chance(300, 0.95, threshold=threshold, confidence=0.95)
    assert sure == pytest.approx(binom.sf(291, 300, 0.95))
    assert sure <= 0.05 < pass_chance(300, 0.95, threshold=threshold)
    assert pass_chance(58, 1.0, threshold=threshold, confidence=0.95) == 0.0
    assert pass_chance(59, 1.0, threshold=threshold, confidence=0.95) == 1.0


@pytest.mark.parametrize(
    ("threshold", "confidence", "cases"),
    [
        ("0.99", 0.95, 299),  # 0.99^298 = 0.0500 (0.05003), 0.99^299 = 0.0495
        ("0.95", 0.95, 59),  # 0.95^58 = 0.0510, 0.95^59 = 0.0485
        ("0.9", 0.95, 29),  # 0.9^28 = 0.0523, 0.9^29 = 0.0471
        ("0.999", 0.95, 2995),
        ("0.5", 0.75, 2),  # 0.5^2 = 0.25 exactly
        ("0.1", 0.5, 1),
    ],
)
def test_cases_for_confidence(threshold, confidence, cases):
    """It is the least n with threshold^n at most 1 − confidence."""
    threshold = Fraction(threshold)
    assert cases_for_confidence(threshold, confidence=confidence) == cases
    assert float(threshold) ** cases <= 1 - confidence
    assert cases == 1 or float(threshold) ** (cases - 1) > 1 - confidence


def test_no_number_of_cases_shows_all():
    """No number of passes proves 100 %."""
    assert cases_for_confidence(Fraction(1), confidence=0.95) is None
    assert least_passes(1000, Fraction(1), confidence=0.95) is None
    assert pass_chance(1000, 1.0, threshold=Fraction(1), confidence=0.95) == 0.0


@pytest.mark.parametrize("confidence", [None, 0.95])
@pytest.mark.parametrize("threshold", ["0.8", "0.9", "0.95", "0.98"])
def test_cases_needed(threshold, confidence):
    """At the first number and from the other on a bad stage passes in 5 %, a good one in 80 %."""
    threshold = Fraction(threshold)
    needed = cases_needed(threshold, confidence=confidence)
    assert needed.bad == 1 - 2 * (1 - threshold)
    assert needed.good == Fraction("0.99")

    def tells(cases):
        chances = [
            pass_chance(cases, float(rate), threshold=threshold, confidence=confidence)
            for rate in (needed.bad, needed.good)
        ]
        return chances[0] <= 0.05 and chances[1] >= 0.80

    first, always = number(needed.first), number(needed.always)
    if confidence is None:
        assert not any(tells(cases) for cases in range(1, first))
        assert all(tells(cases) for cases in range(always, always + 200))
    assert tells(first)
    assert not tells(first - 1)
    assert not tells(always - 1)
    assert all(tells(always + 37 * step) for step in range(20))


def test_cases_needed_for_all():
    """A threshold of 100 % keeps out a 99 % stage from 299 cases on: 0.99^299 = 0.0495."""
    needed = cases_needed(Fraction(1))
    assert (needed.first, needed.always) == (299, 299)
    assert (needed.bad, needed.good) == (Fraction("0.99"), Fraction(1))


def test_cases_needed_with_named_rates():
    """Rates nearer to the threshold need more cases; a tight threshold needs many."""
    threshold = Fraction("0.95")
    near = cases_needed(threshold, bad=Fraction("0.93"), good=Fraction("0.97"))
    far = cases_needed(threshold, bad=Fraction("0.8"), good=Fraction("0.99"))
    middle = cases_needed(threshold)
    assert number(far.first) < number(middle.first) < number(near.first)
    assert number(far.always) < number(middle.always) < number(near.always)


def test_a_low_threshold_keeps_out_what_never_passes():
    """Of a threshold under 50 % the default bad rate is 0, which one case tells from 99 %."""
    needed = cases_needed(Fraction("0.4"))
    assert (needed.first, needed.always, needed.bad) == (1, 1, Fraction(0))


def test_cases_needed_beyond_the_search():
    """Where the search ends first, both numbers are unknown."""
    needed = cases_needed(Fraction("0.99"), most=100)
    assert (needed.first, needed.always) == (None, None)
    some = cases_needed(Fraction("0.99"), most=400)
    assert (some.first, some.always) == (386, None)


def test_long_fractions_do_not_overflow():
    """A threshold of many digits is still counted in whole numbers."""
    threshold = Fraction(95 * 10**16 + 1, 10**18)
    needed = cases_needed(threshold, bad=Fraction("0.9"), good=Fraction("0.99"))
    # One more pass than 95 % is needed wherever 95 % is a whole number.
    assert least_passes(100, threshold) == 96
    assert number(needed.first) >= 76


def test_mcnemar_power():
    """For 240 pairs the chances are the recorded ones, the last the test's actual size."""
    case = recorded("mcnemar_power_240")
    powers = [
        mcnemar_power(case["input"]["n"], reference_only=b, stage_only=c)
        for b, c in case["input"]["cases"]
    ]
    assert powers == pytest.approx(case["expected"], abs=5e-9)


@pytest.mark.parametrize("mid_p", [False, True])
@pytest.mark.parametrize("alpha", [0.05, 0.0625, 0.2])
def test_mcnemar_power_is_the_sum_over_tables(mid_p, alpha):
    """Over all tables of 12 pairs, the chance of those whose p-value is at most the level."""

    def p_value(b, c):
        if mid_p:
            few, total = min(b, c), b + c
            below = sum(comb(total, k) for k in range(few)) + comb(total, few) / 2
            return min(1.0, 2 * below / 2**total)
        return mcnemar([[0, b], [c, 0]], exact=True).pvalue

    pairs, chances = 12, (0.3, 0.1, 0.6)
    exact = sum(
        multinomial.pmf((b, c, pairs - b - c), pairs, chances)
        for b in range(pairs + 1)
        for c in range(pairs + 1 - b)
        if p_value(b, c) <= alpha
    )
    power = mcnemar_power(pairs, reference_only=0.3, stage_only=0.1, alpha=alpha, mid_p=mid_p)
    assert power == pytest.approx(exact, abs=1e-12)


def test_mcnemar_power_has_no_side():
    """Swapping the sides changes nothing; without discordance nothing is rejected."""
    one = mcnemar_power(150, reference_only=0.1, stage_only=0.02)
    assert one == pytest.approx(mcnemar_power(150, reference_only=0.02, stage_only=0.1))
    assert mcnemar_power(150, reference_only=0, stage_only=0) == 0.0
    assert mcnemar_power(150, reference_only=1, stage_only=0) == pytest.approx(1.0)


@pytest.mark.parametrize(("b", "c", "margin"), [(0.05, 0.03, 0.2), (0.2, 0.2, 0.3), (0, 0.1, 0.25)])
def test_equivalence_power_is_the_sum_over_tables(b, c, margin):
    """Over all tables of 30 pairs, the chance of those whose 90 % score interval is inside.

    Being inside is decided here by maximising the likelihood under each margin on a fine grid.
    """
    pairs, critical = 30, norm.isf(0.05)
    grid = np.linspace(0, 1 - margin, 20_001)[1:-1] / 2

    def score(more, fewer):
        # The constrained maximum over the chance of the fewer, with a difference of the margin.
        likelihood = (pairs - more - fewer) * np.log1p(-(2 * grid + margin))
        likelihood += more * np.log(grid + margin) + fewer * np.log(grid)
        variance = pairs * (2 * grid[np.argmax(likelihood)] + margin - margin**2)
        return (more - fewer - pairs * margin) / variance**0.5

    exact = sum(
        multinomial.pmf((x, y, pairs - x - y), pairs, (b, c, 1 - b - c))
        for x in range(pairs + 1)
        for y in range(pairs + 1 - x)
        if score(x, y) <= -critical and score(y, x) <= -critical
    )
    power = paired_equivalence_power(pairs, reference_only=b, stage_only=c, margin=margin)
    assert power == pytest.approx(exact, abs=1e-9)


def test_equivalence_without_discordant_pairs():
    """Margin 5 points needs n > 1.645²·0.95/0.05 = 51.4 pairs, though all 51 agree."""
    sides: dict[str, Any] = {"reference_only": 0.0, "stage_only": 0.0, "margin": 0.05}
    assert norm.isf(0.05) ** 2 * 0.95 / 0.05 == pytest.approx(51.4, abs=0.01)
    assert paired_equivalence_power(51, **sides) == 0.0
    assert paired_equivalence_power(52, **sides) == 1.0
    assert paired_equivalence_pairs(**sides) == 52


def test_equivalence_pairs_near_the_normal_formula():
    """With many pairs the number is (z₀.₉₅ + z₀.₉)²·ψ/δ², for power 80 % and no difference."""
    formula = (norm.isf(0.05) + norm.isf(0.1)) ** 2 * 0.1 / 0.01**2
    pairs = number(paired_equivalence_pairs(reference_only=0.05, stage_only=0.05, margin=0.01))
    assert pairs == pytest.approx(formula, rel=0.03)
    sides = {"reference_only": 0.05, "stage_only": 0.05, "margin": 0.01}
    assert paired_equivalence_power(pairs, **sides) >= 0.8
    assert paired_equivalence_power(pairs - 1, **sides) < 0.8


def test_equivalence_keeps_its_level():
    """At a true difference of the margin equivalence is shown in about 5 %, and swapped as well."""
    for b, c in ((0.12, 0.07), (0.07, 0.12)):
        power = paired_equivalence_power(500, reference_only=b, stage_only=c, margin=0.05)
        assert 0.03 < power < 0.06
    assert paired_equivalence_pairs(reference_only=0.12, stage_only=0.07, margin=0.05) is None


def test_a_million_cases_are_quick():
    """Sums over a million cases keep to the counts that can occur."""
    million = 1_000_000
    threshold = Fraction("0.99")
    assert pass_chance(million, 0.9902, threshold=threshold) == pytest.approx(
        norm.sf((0.99 - 0.9902) * million / (million * 0.9902 * 0.0098) ** 0.5), abs=0.01
    )
    size = mcnemar_power(million, reference_only=0.05, stage_only=0.05)
    assert size == pytest.approx(0.05, abs=1e-3)
    sides = {"reference_only": 0.05, "stage_only": 0.05, "margin": 0.001}
    z = (0.001 * million) / (0.1 * million) ** 0.5 - norm.isf(0.05)
    expected = 2 * norm.cdf(z) - 1
    assert paired_equivalence_power(million, **sides) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: least_passes(0, Fraction(1)), "a threshold needs at least one case"),
        (lambda: least_passes(5, Fraction(0)), "threshold 0 is not above 0 and at most 1"),
        (lambda: least_passes(5, Fraction(3, 2)), "threshold 3/2 is not above 0 and at most 1"),
        (
            lambda: least_passes(5, Fraction(1, 2), confidence=1.0),
            r"confidence 1\.0 is not between 0 and 1",
        ),
        (
            lambda: pass_chance(5, 1.5, threshold=Fraction(1)),
            r"rate 1\.5 is not between 0 and 1",
        ),
        (
            lambda: pass_chance(5, nan, threshold=Fraction(1)),
            "rate nan is not between 0 and 1",
        ),
        (
            lambda: cases_needed(Fraction(9, 10), bad=Fraction(9, 10)),
            "bad must be below the threshold and good above it",
        ),
        (
            lambda: cases_needed(Fraction(9, 10), good=Fraction(9, 10)),
            "bad must be below the threshold and good above it",
        ),
        (
            lambda: cases_needed(Fraction(9, 10), bad_passes=0),
            "bad_passes and good_passes must be between 0 and 1",
        ),
        (
            lambda: cases_needed(Fraction(1), confidence=0.95),
            "no number of passes shows a threshold of 1 with confidence",
        ),
        (
            lambda: mcnemar_power(0, reference_only=0.1, stage_only=0.1),
            "a test of pairs needs at least one pair",
        ),
        (
            lambda: mcnemar_power(5, reference_only=0.6, stage_only=0.6),
            "the chances of the two kinds of discordant pairs sum to more than 1",
        ),
        (
            lambda: mcnemar_power(5, reference_only=0.1, stage_only=0.1, alpha=0),
            "alpha 0 is not between 0 and 1",
        ),
        (
            lambda: paired_equivalence_power(5, reference_only=0.1, stage_only=0.1, margin=1),
            r"margin 1 is not between 0 and 1, or alpha 0\.05 not below 0\.5",
        ),
        (
            lambda: paired_equivalence_pairs(
                reference_only=0.1, stage_only=0.1, margin=0.1, power=1
            ),
            "power 1 is not between 0 and 1",
        ),
    ],
)
def test_impossible_input(call, words):
    """Impossible designs are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}$"):
        call()
