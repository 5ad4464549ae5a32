"""Intervals of a proportion against published and independently computed values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from denv.stats.proportions import clopper_pearson, clopper_pearson_lower, wilson

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        # statsmodels.stats.proportion.proportion_confint(k, n, method="wilson")
        (19, 20, 0.76386881, 0.99111855),
        (0, 20, 0.0, 0.16112516),
        (18, 240, 0.04796477, 0.11542607),
        (18, 180, 0.06419425, 0.15252215),
    ],
)
def test_wilson(k, n, low, high):
    """Wilson's limits are those that statsmodels gives."""
    interval = wilson(k, n)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-9)
    assert (interval.successes, interval.trials) == (k, n)
    assert (interval.confidence, interval.method) == (0.95, "wilson")


def test_wilson_ends_are_exact():
    """Nothing of n has the lower limit 0 and all of n the upper limit 1, without rounding dust."""
    assert all(wilson(0, n).low == 0.0 and wilson(n, n).high == 1.0 for n in range(1, 60))


def test_wilson_other_confidence():
    """For 50 of 100 at 99 %, z = 2.5758293 gives 0.5 ± z·sqrt(.25/n + z²/4n²)/(1 + z²/n)."""
    interval = wilson(50, 100, confidence=0.99)
    assert (interval.low, interval.high) == pytest.approx((0.3753, 0.6247), abs=5e-5)
    assert interval.confidence == 0.99


def test_clopper_pearson():
    """The two-sided limits are those of scipy's exact method and of statsmodels' beta."""
    interval = clopper_pearson(19, 20)
    assert (interval.low, interval.high) == pytest.approx((0.75126724, 0.99873491), abs=5e-9)
    assert (interval.successes, interval.trials) == (19, 20)
    assert (interval.confidence, interval.method) == (0.95, "clopper-pearson")


@pytest.mark.parametrize(
    ("k", "n", "low"),
    [(20, 20, 0.86089166), (198, 200, 0.9688574), (0, 7, 0.0)],
)
def test_lower_bound(k, n, low):
    """The one-sided bound is 0.05^(1/n) at n of n, and scipy's for the rest."""
    interval = clopper_pearson_lower(k, n)
    assert interval.low == pytest.approx(low, abs=5e-9)
    assert (interval.high, interval.successes, interval.trials) == (1.0, k, n)
    assert (interval.confidence, interval.method) == (0.95, "clopper-pearson")


@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_lower_bound_inverts_the_test(count, confidence):
    """At the bound, k or more successes have exactly the probability that is left over."""
    k, n = count
    low = clopper_pearson_lower(k, n, confidence=confidence).low
    if k == 0:
        assert low == 0.0
    else:
        assert binom.sf(k - 1, n, low) == pytest.approx(1 - confidence, rel=1e-6)


@given(counts, st.sampled_from([0.9, 0.95]))
def test_two_sided_limits_are_beta_quantiles(count, confidence):
    """Each tail of Clopper and Pearson's interval holds half of what is left over."""
    k, n = count
    interval = clopper_pearson(k, n, confidence=confidence)
    tail = (1 - confidence) / 2
    low = beta.ppf(tail, k, n - k + 1) if k else 0.0
    high = beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)


@given(counts)
def test_swapping_successes_mirrors_the_interval(count):
    """Counting failures instead of successes mirrors the limits at one half."""
    k, n = count
    for method in (wilson, clopper_pearson):
        one, other = method(k, n), method(n - k, n)
        assert one.low == pytest.approx(1 - other.high, abs=1e-9)
        assert 0 <= one.low <= k / n <= one.high <= 1


@pytest.mark.parametrize("method", [wilson, clopper_pearson, clopper_pearson_lower])
@pytest.mark.parametrize(
    ("k", "n", "confidence", "words"),
    [
        (0, 0, 0.95, "an interval needs at least one trial$"),
        (-1, 4, 0.95, "-1 successes in 4 trials$"),
        (5, 4, 0.95, "5 successes in 4 trials$"),
        (1, 4, 0.0, "confidence 0.0 is not between 0 and 1$"),
        (1, 4, 1.0, "confidence 1.0 is not between 0 and 1$"),
    ],
)
def test_impossible_input(method, k, n, confidence, words):
    """Impossible counts and confidences are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}"):
        method(k, n, confidence=confidence)
