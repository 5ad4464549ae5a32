"""Quantiles of a stream against the sorted values."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.stats.quantiles import LogHistogram


def filled(values):
    histogram = LogHistogram()
    for value in values:
        histogram.add(value)
    return histogram


@given(st.lists(st.floats(1e-5, 1e5), min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 1.0]))
def test_nearest_rank(values, share):
    """A quantile is within 1.2 % of the value at the nearest rank."""
    exact = sorted(values)[ceil(round(share * len(values), 9)) - 1]
    assert filled(values).quantile(share) == pytest.approx(exact, rel=0.0117)


def test_ranks():
    """Of 20 values the median is the 10th and the 95 % quantile the 19th."""
    histogram = filled(range(1, 21))
    assert histogram.quantile(0.5) == pytest.approx(10, rel=0.012)
    assert histogram.quantile(0.95) == pytest.approx(19, rel=0.012)
    assert len(histogram) == 20


def test_one_value_is_itself():
    """A single value is every quantile, exactly."""
    assert filled([0.2]).quantile(0.5) == 0.2
    assert filled([0.2]).quantile(1) == 0.2


def test_a_bucket_gives_its_geometric_middle():
    """The bucket of 1 reaches to 10^0.01, so its middle is 10^0.005."""
    assert filled([1.0, 5.0]).quantile(0.5) == pytest.approx(10**0.005, rel=1e-12)


def test_out_of_range_values_are_clamped():
    """Values outside a microsecond to a million are counted at the ends."""
    histogram = filled([-1.0, 0.0, 1e9])
    assert histogram.quantile(0.5) == pytest.approx(1e-6, rel=0.012)
    assert histogram.quantile(1.0) == pytest.approx(1e6, rel=0.012)


@pytest.mark.parametrize("share", [0, -0.1, 1.01])
def test_share_out_of_range(share):
    """A share that is no quantile is refused."""
    with pytest.raises(ValueError, match=r"^share .* is not in \(0, 1\]$"):
        filled([1.0]).quantile(share)


def test_empty():
    """Nothing has no quantile."""
    assert len(LogHistogram()) == 0
    with pytest.raises(ValueError, match=r"^no value was added$"):
        LogHistogram().quantile(0.5)
