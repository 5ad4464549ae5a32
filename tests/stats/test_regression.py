"""The slope by position against its formula and scipy's regression."""

from math import nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import linregress, t

from denv.stats.regression import slope_by_position


def slope(values, positions, clusters):
    """Fit a slope that there is."""
    result = slope_by_position(values, positions, clusters)
    assert result is not None
    return result


def texts(seed, *, count=8, length=20, start=0):
    random = np.random.default_rng(seed)
    positions = np.tile(np.arange(length) + start, count)
    clusters = np.repeat(np.arange(count), length)
    values = 0.01 * positions + random.normal(0, 1, count)[clusters]
    return values + random.normal(0, 0.3, positions.size), positions, clusters


@pytest.mark.parametrize("start", [0, 60_000])
def test_formula(start):
    """The sandwich over texts, with G/(G − 1)·(n − 1)/(n − 2) and t of G − 1 degrees of freedom."""
    y, x, groups = texts(1, start=start)
    result = slope(y, x, groups)
    plain = linregress(x - start, y)
    centred = x - x.mean()
    residuals = y - y.mean() - plain.slope * centred
    scores = np.bincount(groups, weights=centred * residuals)
    factor = 8 / 7 * (y.size - 1) / (y.size - 2)
    error = (factor * (scores**2).sum()) ** 0.5 / (centred**2).sum()
    assert result.slope == pytest.approx(plain.slope)
    assert result.intercept == pytest.approx(plain.intercept - plain.slope * start)
    assert result.standard_error == pytest.approx(error)
    reach = t.isf(0.025, 7) * error
    assert (result.low, result.high) == pytest.approx((plain.slope - reach, plain.slope + reach))
    assert (result.clusters, result.observations, result.degenerate) == (8, 160, False)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_turning_the_positions_turns_the_sign(seed):
    """Counting positions backwards mirrors slope and limits at 0."""
    y, x, groups = texts(seed, count=4, length=6)
    one, other = slope(y, x, groups), slope(y, -x, groups)
    assert one.slope == pytest.approx(-other.slope)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_coverage():
    """Of 200 seeded sets of 30 texts with levels of their own, 95 % limits hold 0.01 in 90 %."""
    covered = 0
    for seed in range(200):
        result = slope(*texts(seed, count=30))
        covered += result.low <= 0.01 <= result.high
    assert covered >= 180


def test_one_position_has_no_slope():
    """Where all tokens stand at one position there is no slope."""
    assert slope_by_position([1, 2, 3], [5, 5, 5], ["a", "b", "c"]) is None


def test_one_text_has_no_error():
    """A single text has a slope and no limits."""
    result = slope([1, 2, 4], [0, 1, 2], ["a", "a", "a"])
    assert result.slope == pytest.approx(1.5)
    assert (result.standard_error, result.low, result.high) == (None, None, None)
    assert result.degenerate


@pytest.mark.parametrize("values", [[0, 1, 2, 0, 1, 2], [0] * 6])
def test_a_perfect_line(values):
    """Points on a line have a slope whose limits are a flagged point."""
    result = slope(values, [0, 1, 2, 0, 1, 2], ["a", "a", "a", "b", "b", "b"])
    assert result.slope == pytest.approx(values[1])
    assert (result.low, result.high) == (result.slope, result.slope)
    assert (result.standard_error, result.degenerate) == (0.0, True)


@pytest.mark.parametrize(
    ("values", "positions", "words"),
    [
        ([1, 2], [1], r"positions of the shape \(1,\) for 2 values, or not finite"),
        ([1, 2], [1, nan], r"positions of the shape \(2,\) for 2 values, or not finite"),
        ([1, nan], [1, 2], "a value is not finite"),
    ],
)
def test_impossible_input(values, positions, words):
    """Values without positions are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}$"):
        slope_by_position(values, positions, ["a", "b"])
