"""The e-detector over whole looks: its definition, its expectation by exact sums, its promise."""

from __future__ import annotations

from itertools import product
from math import inf, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from denv.stats.detection import RISES, PooledShiryaevRoberts

looks = st.lists(st.integers(0, 20).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))


def fed(detector, counts):
    """Give the detector after looks of (failed, counted)."""
    for failed, counted in counts:
        detector = detector.look(failed, counted=counted)
    return detector


@given(looks.filter(lambda given: len(given) < 12))
def test_statistic_by_its_definition(counts):
    """R is the mean over rises of the sum over all starts of the likelihood ratio since."""
    bound, total = 0.1, 0.0
    for rise in RISES:
        after = bound + rise * (1 - bound)
        ratios = [binom.pmf(k, n, after) / binom.pmf(k, n, bound) for k, n in counts]
        total += sum(prod(ratios[start:]) for start in range(len(ratios)))
    found = fed(PooledShiryaevRoberts(bound, 1e9), counts)
    assert found.statistic == pytest.approx(total / len(RISES), rel=1e-6, abs=1e-12)
    assert found.looks == len(counts)


@pytest.mark.parametrize("chances", [(0.2, 0.2, 0.2), (0.6, 0.0, 0.0), (0.1, 0.2, 0.3)])
def test_expectation_before_a_change(chances):
    """Summed over all outcomes of three looks, R has a mean of at most 3 at the bound.

    At equal chances it is 3 (Wald's identity), at unequal ones of the same mean less.
    """
    mean = 0.0
    for outcome in product((0, 1), repeat=9):
        chance = prod(p if x else 1 - p for x, p in zip(outcome, chances * 3, strict=True))
        counts = [(sum(outcome[at : at + 3]), 3) for at in (0, 3, 6)]
        mean += chance * fed(PooledShiryaevRoberts(0.2, 1e9), counts).statistic if chance else 0.0
    assert mean == pytest.approx(3) if len(set(chances)) == 1 else mean < 3


def test_cases_without_replacement():
    """Looks drawn from a suite without replacement have a mean of at most their number too."""
    bound, chances = 0.2, hypergeom(10, 2, 4)
    mean = sum(
        chances.pmf(a) * chances.pmf(b) * fed(
            PooledShiryaevRoberts(bound, 1e9), [(a, 4), (b, 4)]
        ).statistic
        for a, b in product(range(3), repeat=2)
    )  # fmt: skip
    assert mean < 2


def test_time_to_a_false_alarm():
    """At the bound the mean number of looks to an alarm is at least the threshold."""
    rng = np.random.default_rng(5)
    times = []
    for _ in range(60):
        detector = PooledShiryaevRoberts(0.05, 30.0)
        while detector.alarm_at is None:
            detector = detector.look(int(rng.binomial(20, 0.05)), counted=20)
        times.append(detector.alarm_at)
    assert np.mean(times) > 30


def test_a_gross_change_alarms_at_its_first_look():
    """Twenty of fifty where 2 % may fail is an alarm at once, and the first alarm is kept."""
    quiet = fed(PooledShiryaevRoberts(0.02, 1460.0), [(1, 50)] * 100)
    assert quiet.alarm_at is None
    seen = fed(quiet, [(20, 50), (0, 50)])
    assert seen.alarm_at == 101


def test_a_bound_of_nothing():
    """Where nothing may fail, one failure is an alarm, and the state stays finite."""
    clean = fed(PooledShiryaevRoberts(0.0, 1e6), [(0, 50)] * 10)
    assert clean.alarm_at is None
    found = clean.look(1, counted=50)
    assert found.alarm_at == 11
    assert found.statistic < inf
    assert max(found.log_parts) < inf


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: PooledShiryaevRoberts(1.0, 9), "bound 1.0 is not from 0 to below 1$"),
        (lambda: PooledShiryaevRoberts(-0.1, 9), "bound -0.1 is not"),
        (lambda: PooledShiryaevRoberts(0.1, 1.0), "threshold 1.0 is not above 1$"),
        (lambda: PooledShiryaevRoberts(0.1, 9, log_parts=(0.0,)), "log_parts are not 8"),
        (lambda: PooledShiryaevRoberts(0.1, 9).look(3, counted=2), "3 failures among 2 cases$"),
        (lambda: PooledShiryaevRoberts(0.1, 9).look(-1, counted=2), "-1 failures among 2"),
    ],
)
def test_impossible_input(build, words):
    """Impossible parameters and counts are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}"):
        build()
