"""The detectors against recorded runs, and their false alarms against exact sums."""

from itertools import product
from math import exp, inf, log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.stats.detection import BernoulliCusum, ShiryaevRoberts
from tests.stats.recorded import HALF_A_DIGIT, recorded

bits = st.lists(st.booleans(), max_size=40)


def test_cusum():
    """Page's sum alarms at the recorded outcome with the recorded path."""
    case = recorded("cusum_bernoulli")
    given_, expected = case["input"], case["expected"]
    cusum = BernoulliCusum(p0=given_["p0"], p1=given_["p1"], threshold=given_["h"])
    path = []
    for x in given_["x"]:
        cusum = cusum.feed([x])
        path.append(cusum.statistic)
    assert cusum.alarm_at == expected["alarm_at"]
    assert cusum.trials == len(given_["x"])
    assert cusum.statistic == pytest.approx(expected["final"], abs=HALF_A_DIGIT)
    assert path[-5:] == pytest.approx(expected["last5"], abs=HALF_A_DIGIT)


def test_shiryaev_roberts():
    """The e-detector alarms at the recorded outcome, goes on, and keeps when it alarmed."""
    case = recorded("e_sr")
    given_, expected = case["input"], case["expected"]
    detector = ShiryaevRoberts(
        bound=given_["m"], bet=given_["lam"], threshold=given_["threshold"]
    ).feed(given_["x"])
    assert detector.alarm_at == expected["alarm_at"]
    assert detector.count == len(given_["x"])
    assert detector.statistic == pytest.approx(expected["final"], abs=HALF_A_DIGIT)


@given(bits, bits)
def test_feeding_in_parts(first, second):
    """Outcomes may come one by one or together."""
    for detector in (
        BernoulliCusum(p0=0.02, p1=0.1, threshold=4.0),
        ShiryaevRoberts(bound=0.02, bet=5.0, threshold=100.0),
    ):
        parts, whole = detector.feed(first).feed(second), detector.feed(first + second)
        assert parts == whole
        assert detector.alarm_at is None


@given(bits)
def test_statistic_by_its_definition(outcomes):
    """R is the sum over all starts of the product since; S the largest sum since any start."""
    e_values = [1 + 5 * (x - 0.02) for x in outcomes]
    total = sum(prod(e_values[start:]) for start in range(len(outcomes)))
    detector = ShiryaevRoberts(bound=0.02, bet=5.0, threshold=100.0).feed(outcomes)
    assert detector.statistic == pytest.approx(total, rel=1e-9)
    steps = [log(0.1 / 0.02) if x else log(0.9 / 0.98) for x in outcomes]
    largest = max(sum(steps[start:]) for start in range(len(outcomes) + 1))
    cusum = BernoulliCusum(p0=0.02, p1=0.1, threshold=4.0).feed(outcomes)
    assert cusum.statistic == pytest.approx(largest, abs=1e-9)


@pytest.mark.parametrize(("rate", "bound"), [(0.1, 0.1), (0.05, 0.1), (0.5, 0.5)])
def test_expectation_before_a_change(rate, bound):
    """Summed over all runs of 9, R has the mean 9 at the bound, and less below it."""
    n, mean = 9, 0.0
    for run in product((0, 1), repeat=n):
        chance = prod(rate if x else 1 - rate for x in run)
        mean += chance * ShiryaevRoberts(bound=bound, bet=1.5, threshold=50.0).feed(run).statistic
    assert mean == pytest.approx(n) if rate == bound else mean < n


def test_time_to_a_false_alarm():
    """At the bound, the mean time to an alarm is at least the threshold, and at least e^h."""
    rng = np.random.default_rng(11)
    times, sums = [], []
    for _ in range(150):
        outcomes = rng.random(1500) < 0.1
        detector = ShiryaevRoberts(bound=0.1, bet=2.0, threshold=60.0).feed(outcomes)
        cusum = BernoulliCusum(p0=0.1, p1=0.3, threshold=log(60.0)).feed(outcomes)
        times.append(detector.alarm_at or 1500)
        sums.append(cusum.alarm_at or 1500)
    assert np.mean(times) > 60
    assert np.mean(sums) > exp(log(60.0))


def test_change_is_seen():
    """Ten mismatches in a row after quiet are an alarm for both."""
    outcomes = [False] * 200 + [True] * 10
    assert BernoulliCusum(p0=0.02, p1=0.1, threshold=4.0).feed(outcomes).alarm_at == 203
    seen = ShiryaevRoberts(bound=0.02, bet=5.0, threshold=100.0).feed(outcomes).alarm_at
    assert seen is not None
    assert 200 < seen <= 203


def test_beyond_the_floats():
    """The statistic may pass the largest float; its logarithm stays."""
    detector = ShiryaevRoberts(bound=0.02, bet=40.0, threshold=100.0).feed([1.0] * 1000)
    assert detector.statistic == inf
    assert detector.log_statistic == pytest.approx(1000 * log(1 + 40 * 0.98), rel=1e-3)
    assert ShiryaevRoberts(bound=0.02, bet=5.0, threshold=100.0).statistic == 0.0


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: BernoulliCusum(p0=0.1, p1=0.1, threshold=1), "p0 0.1 and p1 0.1 are not"),
        (lambda: BernoulliCusum(p0=0.0, p1=0.1, threshold=1), "p0 0.0 and p1 0.1 are not"),
        (lambda: BernoulliCusum(p0=0.1, p1=0.2, threshold=0), "threshold 0 is not positive$"),
        (lambda: ShiryaevRoberts(bound=0, bet=1, threshold=9), "bound 0 is not between 0 and 1$"),
        (lambda: ShiryaevRoberts(bound=0.5, bet=2, threshold=9), "bet 2 is not between 0 and 1/b"),
        (lambda: ShiryaevRoberts(bound=0.5, bet=1, threshold=1), "threshold 1 is not above 1$"),
        (
            lambda: ShiryaevRoberts(bound=0.5, bet=1, threshold=9).feed([float("nan")]),
            r"value nan is not in \[0, 1\]$",
        ),
    ],
)
def test_impossible_input(build, words):
    """Impossible parameters and values are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}"):
        build()
