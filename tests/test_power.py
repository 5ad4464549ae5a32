"""What a number of cases can show of a threshold."""

from fractions import Fraction

import pytest

from denv.power import pass_chances, power_of


def test_chances_are_exact_binomial_tails():
    """With 20 cases and 95 %: P(X ≥ 19) as scipy's binom.sf gives it."""
    chances = pass_chances(20, Fraction(95, 100))
    assert list(chances) == ["0.99", "0.97", "0.95", "0.9"]
    assert list(chances.values()) == pytest.approx(
        [0.98314066, 0.88016198, 0.73583952, 0.391747], abs=1e-8
    )


def test_a_confidence_may_be_out_of_reach():
    """With 20 cases not even 20 of 20 show 95 % with 95 % confidence: 0.95⁵⁹ is the first below."""
    power = power_of(20, Fraction(95, 100), confidence=Fraction(95, 100))
    assert power["least_passes"] is None
    assert set(power["pass_chance"].values()) == {0.0}
    assert power["cases_for_confidence"] == 59


def test_the_number_of_cases_at_which_a_threshold_means_what_it_says():
    """95 % tells 90 % from 99 % at every number from 103 on."""
    power = power_of(20, Fraction(95, 100))
    assert (power["cases_needed"], power["bad"], power["good"]) == (103, 0.9, 0.99)
    # P(X ≥ 19 | 20, 0.9) = 20 · 0.9¹⁹ · 0.1 + 0.9²⁰
    assert power["bad_pass_chance"] == pytest.approx(20 * 0.9**19 * 0.1 + 0.9**20)
