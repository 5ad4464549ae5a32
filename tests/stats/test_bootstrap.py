"""The bootstrap over texts against exact enumeration, and what it says of degenerate texts."""

from itertools import product
from math import inf, log, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from denv.stats.bootstrap import (
    bounded_mean_limits,
    cluster_bootstrap,
    mean_of_texts,
    pooled,
)
from denv.stats.proportions import clopper_pearson
from tests.stats.recorded import recorded

TEXTS = np.array(recorded("cluster_bootstrap_exact_3")["input"]["texts"], dtype=float)


def rng():
    return np.random.default_rng(0)


def bootstrap(sums, weights, **options):
    """Call it without its types: limits that may be absent are compared here."""
    return cluster_bootstrap(sums, weights, **options)


def test_all_resamples_of_three_texts():
    """The 27 resamples of the pooled rate have the recorded mean, spread and range."""
    right = recorded("cluster_bootstrap_exact_3")["expected"]
    index = np.array(list(product(range(3), repeat=3)))
    values = pooled(TEXTS[index, 0], TEXTS[index, 1])
    assert pooled(*TEXTS.T) == pytest.approx(right["point"], abs=5e-9)
    assert values.mean() == pytest.approx(right["boot_mean"], abs=5e-9)
    assert values.std() == pytest.approx(right["boot_sd_pop"], abs=5e-9)
    assert (values.min(), values.max()) == pytest.approx((right["min"], right["max"]))
    assert len(set(values.round(12))) == right["distinct"]


def test_drawn_resamples_converge_to_all():
    """The standard error of 20,000 draws is that of the 27 resamples, not that of tokens."""
    right = recorded("cluster_bootstrap_exact_3")["expected"]
    result = bootstrap(*TEXTS.T, rng=rng(), resamples=20_000)
    assert result.value == pytest.approx(right["point"], abs=5e-9)
    assert result.standard_error == pytest.approx(right["boot_sd_pop"], rel=0.02)
    assert right["min"] <= result.low < result.value < result.high <= right["max"]
    assert (result.texts, result.method, result.degenerate) == (3, "bca", False)


def test_the_two_statistics():
    """The pooled figure weighs by tokens, the mean of texts does not."""
    sums, weights = TEXTS.T
    assert pooled(sums, weights) == pytest.approx(295 / 350)
    assert mean_of_texts(sums, weights) == pytest.approx((0.95 + 0.9 + 0.4) / 3)
    result = bootstrap(sums, weights, rng=rng(), statistic="mean", resamples=999)
    assert result.value == pytest.approx(0.75)


def test_symmetric_texts_have_the_normal_interval():
    """The mean of 200 symmetric figures has limits near ± 1.96 standard errors."""
    figures = np.concatenate([np.arange(1, 101), -np.arange(1, 101)]) / 100
    result = bootstrap(figures, np.ones(200), rng=rng())
    error = figures.std() / 200**0.5
    assert result.standard_error == pytest.approx(error, rel=0.03)
    assert (result.low, result.high) == pytest.approx((-1.96 * error, 1.96 * error), rel=0.06)


def test_skewed_texts_have_a_skewed_interval():
    """Where few texts carry the sum, BCa reaches further on their side than percentiles do."""
    sums = np.array([0.0] * 30 + [1.0] * 5 + [8.0])
    result = bootstrap(sums, np.ones(36), rng=rng())
    resampled = rng().choice(sums, size=(9999, 36)).mean(axis=1)
    assert result.high > np.quantile(resampled, 0.975)
    assert result.low > np.quantile(resampled, 0.025)


def test_the_same_generator_gives_the_same_interval():
    """All chance comes from the generator that is handed in."""
    one, other = (bootstrap(*TEXTS.T, rng=rng(), resamples=99) for _ in range(2))
    assert one == other


def test_percentiles_stand_in_where_bca_has_no_value():
    """Where all resamples lie on one side of the value BCa is undefined, which is said."""
    sums = [0.0] * 50 + [1000.0]
    drawn = [
        bootstrap(sums, [1] * 51, rng=np.random.default_rng(seed), resamples=3)
        for seed in range(20)
    ]
    assert {result.method for result in drawn} == {"bca", "percentile"}
    assert all(0 <= result.low <= result.high for result in drawn)


def test_coverage():
    """Of 150 seeded sets of 40 texts of unequal length, 95 % limits hold the rate in 90 % or more.

    Texts have rates of their own around 0.9, so that tokens of one text go together.
    """
    random, covered = np.random.default_rng(4), 0
    for _ in range(150):
        tokens = random.integers(16, 128, 40)
        agreed = random.binomial(tokens, random.beta(18, 2, 40))
        result = bootstrap(agreed, tokens, rng=random, resamples=599)
        covered += result.low <= 0.9 <= result.high
    assert covered >= 135


def test_texts_that_all_agree():
    """With rate 1 everywhere the limits are a flagged point; Clopper and Pearson's stand beside."""
    result = bootstrap([64] * 20, [64] * 20, rng=rng(), bounds=(0, 1))
    assert (result.value, result.low, result.high, result.standard_error) == (1.0, 1.0, 1.0, 0.0)
    assert (result.method, result.degenerate) == ("all-equal", True)
    sure = clopper_pearson(20, 20)
    assert result.conservative == pytest.approx((sure.low, sure.high), abs=1e-9)


def test_unequal_lengths_count_for_their_share_of_the_longest():
    """Lengths 100, 50, 50 are two texts: the lower limit is 0.025^(1/2); for the mean, 3."""
    texts = ([100, 50, 50], [100, 50, 50])
    result = bootstrap(*texts, rng=rng(), bounds=(0, 1))
    assert result.conservative == pytest.approx((0.025 ** (1 / 2), 1.0), abs=1e-9)
    by_text = bootstrap(*texts, rng=rng(), statistic="mean", bounds=(0, 1))
    assert by_text.conservative == pytest.approx((0.025 ** (1 / 3), 1.0), abs=1e-9)


def test_one_text():
    """A single text has a value and no limits."""
    result = bootstrap([9], [10], rng=rng())
    assert (result.value, result.low, result.high, result.standard_error) == (0.9, None, None, None)
    assert (result.texts, result.method, result.degenerate) == (1, "one-text", True)
    assert result.conservative is None
    bounded = bootstrap([9], [10], rng=rng(), bounds=(0, 1)).conservative
    assert bounded == pytest.approx(bounded_mean_limits(0.9, 1))


def test_other_bounds_are_scaled():
    """A figure in [-1, 1] that is always 1 has limits as far along as one in [0, 1]."""
    result = bootstrap([5, 5], [5, 5], rng=rng(), bounds=(-1, 1))
    assert result.conservative == pytest.approx((2 * 0.025**0.5 - 1, 1.0), abs=1e-9)


def test_texts_without_tokens_are_left_out():
    """A text of weight 0 says nothing."""
    with_empty = bootstrap([3, 0, 9, 4], [4, 0, 10, 5], rng=rng(), resamples=199)
    without = bootstrap([3, 9, 4], [4, 10, 5], rng=rng(), resamples=199)
    assert with_empty == without


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(1, 500)), min_size=2, max_size=12),
    st.sampled_from(["pooled", "mean"]),
)
def test_every_set_of_texts_has_limits(texts, statistic):
    """Whatever the texts hold, the limits are finite and in order, and warn of nothing."""
    sums, weights = zip(*texts, strict=True)
    result = bootstrap(sums, weights, rng=rng(), statistic=statistic, resamples=99)
    assert -inf < result.low <= result.high < inf
    assert result.method in {"bca", "percentile", "all-equal"}


@pytest.mark.parametrize(("mean", "size"), [(0.0, 7), (0.3, 20), (0.95, 40), (1.0, 5)])
def test_bounded_limits_solve_their_equation(mean, size):
    """At each limit the divergence times the size is ln(2/0.05); 0 and 1 are limits themselves."""
    low, high = bounded_mean_limits(mean, size)

    def divergence(theta):
        terms = ((mean, theta), (1 - mean, 1 - theta))
        return sum(a * log(a / b) for a, b in terms if a > 0)

    assert low == 0.0 if mean == 0 else divergence(low) * size == pytest.approx(log(40))
    assert high == 1.0 if mean == 1 else divergence(high) * size == pytest.approx(log(40))


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("size", [3, 20, 60])
def test_bounded_limits_cover(rate, size):
    """Over all outcomes of Bernoulli values the 95 % limits hold the rate at least so often."""
    covered = sum(
        binom.pmf(k, size, rate)
        for k in range(size + 1)
        if (limits := bounded_mean_limits(k / size, size))[0] <= rate <= limits[1]
    )
    assert covered >= 0.95


@pytest.mark.parametrize(
    ("sums", "weights", "more", "words"),
    [
        ([], [], {}, "an interval over texts needs at least one text"),
        ([0], [0], {}, "an interval over texts needs at least one text"),
        ([1, 2], [1], {}, r"sums and weights of the shapes \(2,\) and \(1,\)"),
        ([1, nan], [1, 1], {}, "a text's sum or weight is not finite"),
        ([1, 1], [1, -1], {}, "a text's weight is negative, or 0 with a sum"),
        ([1, 1], [1, 0], {}, "a text's weight is negative, or 0 with a sum"),
        ([1, 3], [1, 2], {"bounds": (0, 1)}, "a text's figure is outside its bounds 0 and 1"),
        ([1], [2], {"bounds": (0, 1), "confidence": 1.0}, "confidence 1.0 is not between 0 and 1"),
        ([1, 1], [2, 3], {"confidence": 0.0}, "confidence 0.0 is not between 0 and 1"),
    ],
)
def test_impossible_input(sums, weights, more, words):
    """Texts that cannot be are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}$"):
        bootstrap(sums, weights, rng=rng(), **more)


@pytest.mark.parametrize(("mean", "size"), [(1.1, 3), (-0.1, 3), (0.5, 0), (nan, 3)])
def test_impossible_means(mean, size):
    """A mean outside its bounds, or of nothing, has no limits."""
    with pytest.raises(ValueError, match=r"^a mean of .* over .* values in \[0, 1\]$"):
        bounded_mean_limits(mean, size)
