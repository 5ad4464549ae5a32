"""The clustered standard error against its formula and the plain t interval."""

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp

from denv.stats.clustered import clustered_mean


def test_formula():
    """Deviations sum to −7, −1 and 8 a cluster: 114 · 3/2 / 36 is the variance, t has 2 df."""
    result = clustered_mean([1, 2, 4, 5, 9, 9], ["a", "a", "b", "b", "c", "c"])
    error = (114 * 3 / 2 / 36) ** 0.5
    assert result.value == 5
    assert result.standard_error == pytest.approx(error)
    reach = t.isf(0.025, 2) * error
    assert (result.low, result.high) == pytest.approx((5 - reach, 5 + reach))
    assert (result.clusters, result.observations, result.confidence) == (3, 6, 0.95)
    assert not result.degenerate


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=25).filter(lambda v: len(set(v)) > 1))
def test_clusters_of_one_give_the_plain_t_interval(values):
    """Where every observation is a cluster, the interval is Student's."""
    result = clustered_mean(values, range(len(values)), confidence=0.9)
    limits = ttest_1samp(values, 0).confidence_interval(0.9)
    assert (result.low, result.high) == pytest.approx((limits.low, limits.high))


def test_repeating_tokens_of_a_text_proves_nothing():
    """Each text's figure ten times over gives the interval of the texts, not a narrower one."""
    once = clustered_mean([0.8, 0.9, 1.0, 0.7], range(4))
    tenfold = clustered_mean(np.repeat([0.8, 0.9, 1.0, 0.7], 10), np.repeat(range(4), 10))
    # Only the factor (n - 1)/(n - k) could differ, and k is 1.
    assert (tenfold.low, tenfold.high) == pytest.approx((once.low, once.high))


def test_labels_are_only_labels():
    """Cluster names and their order change nothing."""
    one = clustered_mean([1, 2, 4, 5], [7, 7, 3, 3])
    assert one == clustered_mean([1, 2, 4, 5], ["x", "x", "a", "a"])


def test_one_cluster_has_no_error():
    """A single text has a mean and no limits."""
    result = clustered_mean([1, 2, 3], ["a", "a", "a"])
    assert (result.value, result.standard_error, result.low, result.high) == (2, None, None, None)
    assert result.degenerate


@pytest.mark.parametrize("values", [[2, 2, 2, 2], [1, 3, 3, 1], [0, 0, 0, 0]])
def test_clusters_without_spread(values):
    """Where no cluster deviates, the limits are a flagged point."""
    result = clustered_mean(values, ["a", "a", "b", "b"])
    assert result.low == result.high == result.value
    assert (result.standard_error, result.degenerate) == (0.0, True)


@pytest.mark.parametrize(
    ("values", "clusters", "confidence", "words"),
    [
        ([], [], 0.95, r"values and clusters of the shapes \(0,\) and \(0,\)"),
        ([1, 2], [1], 0.95, r"values and clusters of the shapes \(2,\) and \(1,\)"),
        ([1, nan], [1, 2], 0.95, "a value is not finite"),
        ([1, 2], [1, 2], 0.0, r"confidence 0\.0 is not between 0 and 1"),
    ],
)
def test_impossible_input(values, clusters, confidence, words):
    """Values that cannot be averaged are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}$"):
        clustered_mean(values, clusters, confidence=confidence)
