"""Limits of a mean of skewed figures that are never negative."""

from __future__ import annotations

from math import exp, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binom, chi2, norm

from denv.stats.bootstrap import cluster_bootstrap
from denv.stats.nonnegative import betting_lower, lognormal_upper, nonnegative_mean


def rng():
    return np.random.default_rng(0)


def limits(sums, weights, **more):
    settings = {"rng": rng(), "resolution": 1e-4, "most": 14.0, "resamples": 499, **more}
    return nonnegative_mean(sums, weights, **settings)


# ---------------------------------------------------------------- from below


@pytest.mark.parametrize("texts", [1, 6, 20])
def test_equal_texts_in_closed_form(texts):
    """Of n equal texts x the limit is x/r with (r^(n+1) - 1)/((n+1)(r - 1)) = 1/alpha."""

    def capital(r):
        return (r ** (texts + 1) - 1) / ((texts + 1) * (r - 1)) - 40

    r = brentq(capital, 1.0001, 100)
    low = betting_lower([3.0] * texts, [1.0] * texts, alpha=0.025)
    assert low == pytest.approx(3 / r, rel=1e-7)


def test_the_mixture_is_integrated_exactly():
    """At the limit an adaptive quadrature of the mixture of stakes gives 1/alpha."""
    s, w = np.array([0.2, 3.0, 0.0, 1.0, 0.4]), np.array([10.0, 64.0, 5.0, 64.0, 30.0])
    low = betting_lower(s, w, alpha=0.05)
    gain = (s - low * w) / (low * w.max())
    value, _ = quad(lambda stake: np.prod(1 + stake * gain), 0, 1)
    assert value == pytest.approx(20, rel=1e-6)


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("texts", [6, 12, 40])
def test_the_lower_limit_holds_for_rates(rate, texts):
    """Over all outcomes of n texts that show something or nothing it is above seldom enough."""
    above = sum(
        binom.pmf(k, texts, rate)
        for k in range(texts + 1)
        if betting_lower([1.0] * k + [0.0] * (texts - k), [1.0] * texts, alpha=0.025) > rate
    )
    assert above <= 0.025


def test_nothing_at_all_has_the_limit_nought():
    """Texts without any divergence bound nothing from below."""
    assert betting_lower([0.0, 0.0], [3, 4], alpha=0.025) == 0


# ---------------------------------------------------------------- from above


def test_zous_limit():
    """The formula of Zou, Taleban and Huo, written out for six values of equal weight."""
    values = [1.0, 2.0, 4.0, 2.0, 1.0, 3.0]
    y = np.log(values)
    mean, variance = y.mean(), y.var(ddof=1)
    wide = variance / 2 * (5 / chi2.ppf(0.025, 5) - 1)
    reach = sqrt(norm.isf(0.025) ** 2 * variance / 6 + wide**2)
    expected = exp(mean + variance / 2 + reach)
    assert lognormal_upper(values, [7] * 6, alpha=0.025) == pytest.approx(expected)


def test_lognormal_texts_are_covered():
    """Of six lognormal values 97.5 % limits miss the mean in 2.5 % of the runs, or less."""
    values = rng().lognormal(-0.5, 1.0, (2000, 6))
    missed = np.mean([lognormal_upper(one, [1] * 6, alpha=0.025) < 1 for one in values])
    assert missed <= binom.isf(0.001, 2000, 0.025) / 2000


def test_equal_values_have_their_own_limit():
    """No spread adds nothing; a spread beyond the floats is infinite."""
    assert lognormal_upper([2.0, 2.0], [1, 9], alpha=0.025) == pytest.approx(2)
    assert lognormal_upper([1e-300, 1e300], [1, 1], alpha=0.025) == inf


@pytest.mark.parametrize(
    ("values", "weights", "alpha", "words"),
    [
        ([1.0], [1], 0.05, "at least two positive"),
        ([1.0, 0.0], [1, 1], 0.05, "at least two positive"),
        ([1.0, 2.0], [1, 0], 0.05, "at least two positive"),
        ([1.0, 2.0], [1, 1], 0.0, "alpha 0.0 is not between"),
    ],
)
def test_impossible_values(values, weights, alpha, words):
    """What has no lognormal limit is refused in words."""
    with pytest.raises(ValueError, match=words):
        lognormal_upper(values, weights, alpha=alpha)


# ---------------------------------------------------------------- both


def test_the_upper_limit_reckons_with_one_more():
    """One bad text of forty: the limit is the bootstrap's of two bad ones of forty-one."""
    sums = [0.0] * 39 + [64.0]
    found = limits(sums, [64] * 40, resolution=0.05)
    again = cluster_bootstrap([*sums, 64.0], [64] * 41, rng=rng(), resamples=499)
    assert found.high == pytest.approx(again.high)
    assert found.value == pytest.approx(1 / 40)


def test_figures_below_the_resolution_are_no_spread():
    """Nine texts of nothing and one of next to nothing have a limit of next to nothing."""
    sums = [0.0] * 9 + [64e-7]
    assert limits(sums, [64] * 10).high <= 1e-7
    assert limits(sums, [64] * 10, resolution=1e-30).high == 14.0


def test_the_lognormal_limit_stays_near_the_largest_text():
    """It is at most so many times the largest figure; the bootstrap's limit is as it is."""
    sums = [1e-4, 1.0, 1e-4, 2.0, 1e-4, 1e-4, 1e-4, 3.0, 1e-4, 1e-4]
    free, near, nearer = (limits(sums, [1] * 10, times=times).high for times in (inf, 2.0, 0.01))
    assert free == 14.0
    assert near == pytest.approx(6.0)
    again = cluster_bootstrap([*sums, 3.0], [1] * 11, rng=rng(), resamples=499)
    assert nearer == pytest.approx(again.high)


def test_degenerate_texts():
    """Equal texts have their figure as upper limit, one text has none, empty ones are left out."""
    same = limits([2.0, 4.0, 8.0], [10, 20, 40])
    assert (same.value, same.high) == pytest.approx((0.2, 0.2))
    assert 0 < same.low < 0.2
    nothing = limits([0.0, 0.0], [10, 20])
    assert (nothing.low, nothing.value, nothing.high) == (0, 0, 0)
    single = limits([2.0, 0.0], [10, 0])
    assert (single.value, single.high, single.texts) == (0.2, None, 1)
    assert limits([3, 0, 9, 4], [4, 0, 10, 5]) == limits([3, 9, 4], [4, 10, 5])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.floats(0, 1e3), st.integers(1, 64)), min_size=2, max_size=15))
@example([(0.0, 27), (2.2250738585e-313, 64)])
@example([(0.0, 1), (2.2250738585e-313, 30)])
@example([(5e-324, 1), (5e-324, 1)])
def test_limits_are_in_order(texts):
    """Whatever the texts hold, the limits are finite and have the value between them."""
    sums, weights = zip(*texts, strict=True)
    found = limits(sums, weights, resamples=99)
    assert 0 <= found.low <= found.value * (1 + 1e-9)
    assert found.value <= found.high * (1 + 1e-9)
    assert found.high <= max(14.0, *(s / w for s, w in texts)) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("sums", "weights", "more", "words"),
    [
        ([], [], {}, "at least one text"),
        ([0], [0], {}, "at least one text"),
        ([1, 2], [1], {}, "shapes"),
        ([1, inf], [1, 1], {}, "not finite"),
        ([1, -1], [1, 1], {}, "negative"),
        ([1, 1], [1, 0], {}, "0 with a sum"),
        ([1, 1], [1, 1], {"resolution": 0.0}, "resolution 0.0 is not positive"),
        ([1, 1], [1, 1], {"confidence": 1.0}, "confidence 1.0 is not between"),
    ],
)
def test_impossible_input(sums, weights, more, words):
    """Texts that cannot be are refused in words."""
    with pytest.raises(ValueError, match=words):
        limits(sums, weights, **more)


def test_the_level_of_the_lower_limit_is_a_share():
    """A level of nothing bounds nothing."""
    with pytest.raises(ValueError, match=r"alpha 1.5 is not between 0 and 1"):
        betting_lower([1.0], [1.0], alpha=1.5)


def test_pooled_by_length():
    """The value is the mean over all tokens, and the longest text weighs most."""
    found = limits([64 * 0.5, 4 * 0.1], [64, 4])
    assert found.value == pytest.approx((32 + 0.4) / 68)
    assert log(found.high) > log(found.value)
