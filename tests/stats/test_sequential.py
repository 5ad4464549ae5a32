"""Tests that may be looked at any time: recorded runs, and levels by exact sums over all runs."""

from itertools import product
from math import comb, exp, inf, log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from denv.stats.sequential import (
    BettingTest,
    Sprt,
    beta_binomial,
    betting_confidence_sequence,
)
from tests.stats.recorded import HALF_A_DIGIT, recorded

TEXTS = [
    1, 1, 0, 1, 1, 1, 0.5, 1, 1, 1, 1, 0.25, 1, 1, 1, 1, 1, 1, 0.9, 1,
    0, 0, 1, 0.3, 0.2, 0, 0, 0.1, 0, 0,
]  # fmt: skip

shares = st.lists(st.floats(0, 1), max_size=25)


def chance(run, rate):
    return prod(rate if x else 1 - rate for x in run)


@pytest.mark.parametrize("name", ["sprt_continue", "sprt_h1_fast"])
def test_sprt(name):
    """Bounds, ratio, count and decision are the recorded ones."""
    case = recorded(name)
    given_, expected = dict(case["input"]), case["expected"]
    outcomes = given_.pop("x")
    test = Sprt(**given_).feed(outcomes)
    assert test.upper == pytest.approx(expected["logA"], abs=HALF_A_DIGIT)
    assert test.lower == pytest.approx(expected["logB"], abs=HALF_A_DIGIT)
    assert test.llr == pytest.approx(expected["llr"], abs=HALF_A_DIGIT)
    assert (test.trials, test.decision) == (expected["n"], expected["decision"])


def test_sprt_decides_for_h0():
    """Without a mismatch ln(0.92/0.99) = -0.0733 a case reaches -2.98 at the 41st."""
    test = Sprt(p0=0.01, p1=0.08, alpha=0.01, beta=0.05).feed([False] * 100)
    assert (test.decision, test.trials) == ("H0", 41)


@given(st.lists(st.booleans(), max_size=30), st.lists(st.booleans(), max_size=30))
def test_sprt_in_parts(first, second):
    """Outcomes may come in parts, and a decision stands whatever follows."""
    test = Sprt(p0=0.1, p1=0.4, alpha=0.05, beta=0.1)
    assert test.feed(first).feed(second) == test.feed(first + second)
    if test.feed(first).decision != "continue":
        assert test.feed(first + second) == test.feed(first)


def test_sprt_error_rates():
    """Followed exactly to 150 cases, the errors are within Wald's bounds."""
    alpha, beta, p0, p1 = 0.05, 0.1, 0.1, 0.4
    test = Sprt(p0=p0, p1=p1, alpha=alpha, beta=beta)
    wrong = {}
    for rate, decision in ((p0, "H1"), (p1, "H0")):
        states, decided = {0: 1.0}, 0.0
        for n in range(1, 151):
            following: dict = {}
            for k, mass in states.items():
                for x, p in ((1, rate), (0, 1 - rate)):
                    following[k + x] = following.get(k + x, 0.0) + mass * p
            states = {}
            for k, mass in following.items():
                llr = k * log(p1 / p0) + (n - k) * log((1 - p1) / (1 - p0))
                reached = Sprt(p0, p1, alpha, beta, trials=n, llr=llr).decision
                if reached == decision:
                    decided += mass
                elif reached == "continue":
                    states[k] = mass
        assert sum(states.values()) < 1e-6
        wrong[decision] = decided
    assert test.decision == "continue"
    assert wrong["H1"] <= alpha / (1 - beta)
    assert wrong["H0"] <= beta / (1 - alpha)
    assert sum(wrong.values()) <= alpha + beta


def test_beta_binomial():
    """The fixed-n test rejects where the one that may be repeated does not."""
    case = recorded("betabinom_e")
    given_, expected = case["input"], case["expected"]
    test = beta_binomial(given_["k"], given_["n"], p0=given_["p0"])
    assert test.e_value == pytest.approx(expected["e"], abs=HALF_A_DIGIT)
    assert test.fixed_n_p == pytest.approx(expected["fixed_n_p"], abs=HALF_A_DIGIT)
    assert test.rejected(0.05) is expected["reject_anytime_0_05"]


@given(st.integers(0, 30), st.integers(0, 30), st.sampled_from([0.02, 0.3, 0.95]))
def test_beta_binomial_is_the_mixture(k, failures, p0):
    """It is the integral of the likelihood ratio over all rates, and mirrors with successes."""
    n = k + failures
    test = beta_binomial(k, n, p0=p0)
    scale = p0**k * (1 - p0) ** failures
    integral = quad(lambda p: p**k * (1 - p) ** failures, 0, 1, epsabs=0)[0] / scale
    assert test.e_value == pytest.approx(integral, rel=1e-6)
    assert beta_binomial(failures, n, p0=1 - p0).log_e == pytest.approx(test.log_e, abs=1e-9)
    assert 0 <= test.fixed_n_p <= 1


@pytest.mark.parametrize("p0", [0.02, 0.5])
def test_beta_binomial_is_a_martingale(p0):
    """Under the hypothesis its mean is 1 at every n."""
    for n in (0, 1, 7, 40):
        mean = sum(
            comb(n, k) * p0**k * (1 - p0) ** (n - k) * beta_binomial(k, n, p0=p0).e_value
            for k in range(n + 1)
        )
        assert mean == pytest.approx(1)


def test_beta_binomial_beyond_the_floats():
    """Overwhelming evidence is infinite as an e-value and finite as a logarithm."""
    test = beta_binomial(1000, 1000, p0=0.02)
    assert test.e_value == inf
    assert test.log_e == pytest.approx(1000 * log(50) - log(1001))
    assert test.rejected(1e-300)


@pytest.mark.parametrize(
    ("bound", "share", "at_most", "at_least"),
    [
        # The Python package confseq 0.0.11: betting_mart(x, m, theta=1 or 0, trunc_scale=share)
        # with lambda_predmix_eb(x, alpha=0.05), on the first 20 texts.
        (0.5, 0.5, 344.84143867492674, 1.71661376953125e-05),
        (0.5, 0.75, 908.2264539072407, 1.0302075530281955e-08),
        (0.8, 0.5, 1.8647988310778363, 0.012740484572072096),
        (0.8, 0.75, 1.4885229843702321, 0.004088736606379229),
        (0.95, 0.5, 0.3555710094815258, 3.1700274154085295),
        (0.95, 0.75, 0.12868059880073196, 3.1700274154085295),
    ],
)
def test_capital(bound, share, at_most, at_least):
    """The capital against either side is that of the authors' package."""
    upper = BettingTest(bound=bound, null="at-most", share=share).feed(TEXTS[:20])
    lower = BettingTest(bound=bound, null="at-least", share=share).feed(TEXTS[:20])
    assert upper.e_value == pytest.approx(at_most, rel=1e-9)
    assert lower.e_value == pytest.approx(at_least, rel=1e-9)


@pytest.mark.parametrize("null", ["at-most", "at-least"])
@pytest.mark.parametrize("bound", [0.05, 0.5, 0.9])
def test_capital_is_a_martingale(bound, null):
    """Summed over all runs of 10, its mean is 1 at the bound, and at most 1 within the null."""
    test = BettingTest(bound=bound, null=null, share=0.9)
    within = bound / 2 if null == "at-most" else (1 + bound) / 2
    at_bound = inside = passed = 0.0
    for run in product((0, 1), repeat=10):
        after = test.feed(run)
        at_bound += chance(run, bound) * after.e_value
        inside += chance(run, within) * after.e_value
        passed += chance(run, bound) * after.rejected
    assert at_bound == pytest.approx(1)
    assert inside < 1
    assert passed <= 0.05


def test_level_with_dependent_values():
    """Values whose width hangs on the past, but not their mean, are rejected in at most 5 %."""
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(400):
        values, last = [], 1.0
        for _ in range(60):
            # A wide or a narrow step about 0.5, after what came before.
            width = 0.5 if last > 0.5 else 0.05
            last = 0.5 + width * (1 if rng.random() < 0.5 else -1)
            values.append(last)
        rejected += BettingTest(bound=0.5, null="at-most").feed(values).rejected
    # 20 expected at the most; 36 is beyond them with a chance below 0.1 %.
    assert rejected <= 36


@given(shares, shares, st.sampled_from([0.1, 0.5, 0.9]))
def test_capital_laws(first, second, bound):
    """Values may come in parts; mirroring them turns the side; p is a share and never rises."""
    test = BettingTest(bound=bound, null="at-most")
    parts, whole = test.feed(first).feed(second), test.feed(first + second)
    assert parts == whole
    assert exp(whole.log_capital) > 0
    mirrored = BettingTest(bound=1 - bound, null="at-least").feed([1 - x for x in first + second])
    assert mirrored.log_capital == pytest.approx(whole.log_capital, abs=1e-7)
    assert 0 < whole.p_value <= test.feed(first).p_value <= 1
    assert whole.rejected == (whole.p_value <= 0.05)


def test_rejection_stays():
    """What was rejected once stays rejected, though the capital is lost again."""
    test = BettingTest(bound=0.5, null="at-most").feed([1.0] * 12)
    later = test.feed([0.0] * 40)
    assert test.rejected
    assert later.rejected
    assert later.e_value < 1
    assert later.p_value == test.p_value


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        # confseq 0.0.11, betting_mart with lambda_predmix_eb(x, alpha=0.025), its crossings of 40
        # found by scipy.optimize.brentq, running intersection.
        (
            0.5,
            {
                5: (0.19422504327, 1.0),
                10: (0.41387380646, 1.0),
                20: (0.60064433912, 1.0),
                30: (0.60064433912, 0.90262721421),
            },
        ),
        (
            0.75,
            {
                5: (0.18745617376, 1.0),
                10: (0.46239794066, 1.0),
                20: (0.64136727130, 1.0),
                30: (0.64136727130, 0.90770638423),
            },
        ),
    ],
)
def test_confidence_sequence(share, expected):
    """The limits are those of the authors' package."""
    sequence = betting_confidence_sequence(TEXTS, share=share)
    for t, limits in expected.items():
        found = (sequence.low[t - 1], sequence.high[t - 1])
        assert found == pytest.approx(limits, abs=1e-8)
    assert sequence.confidence == 0.95


@given(shares, st.sampled_from([0.8, 0.95]))
def test_confidence_sequence_laws(values, confidence):
    """Limits only tighten, stay in [0, 1], mirror with the values, and invert the tests."""
    sequence = betting_confidence_sequence(values, confidence=confidence)
    assert len(sequence.low) == len(sequence.high) == len(values)
    assert list(sequence.low) == sorted(sequence.low)
    assert list(sequence.high) == sorted(sequence.high, reverse=True)
    assert all(0 <= limit <= 1 for limit in sequence.low + sequence.high)
    mirrored = betting_confidence_sequence([1 - x for x in values], confidence=confidence)
    assert mirrored.low == pytest.approx([1 - limit for limit in sequence.high], abs=1e-6)
    if values and sequence.low[-1] > 1e-4:
        alpha = (1 - confidence) / 2
        below = BettingTest(bound=sequence.low[-1] - 1e-6, null="at-most", alpha=alpha)
        above = BettingTest(bound=sequence.low[-1] + 1e-6, null="at-most", alpha=alpha)
        assert below.feed(values).rejected
        assert not above.feed(values).rejected


def test_confidence_sequence_covers_at_all_times():
    """Of 300 runs at a rate of 0.95, at most 5 % are ever left, and the last interval is narrow."""
    rng = np.random.default_rng(2)
    left, widths = 0, []
    for _ in range(300):
        sequence = betting_confidence_sequence((rng.random(100) < 0.95).tolist())
        left += not sequence.low[-1] <= 0.95 <= sequence.high[-1]
        widths.append(sequence.high[-1] - sequence.low[-1])
    # 15 expected at the most; 29 is beyond them with a chance below 0.1 %.
    assert left <= 29
    assert np.mean(widths) < 0.25


def test_a_moving_mean_empties_the_sequence():
    """Where the mean moved, the limits cross and so say it."""
    sequence = betting_confidence_sequence([1.0] * 60 + [0.0] * 300)
    assert sequence.low[-1] > sequence.high[-1]
    assert betting_confidence_sequence([]).low == ()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Sprt(0.1, 0.1, 0.05, 0.05), "p0 0.1 and p1 0.1 are not 0 < p0 < p1 < 1$"),
        (lambda: Sprt(0.1, 0.2, 0.5, 0.5), "alpha 0.5 and beta 0.5 are not in range$"),
        (lambda: Sprt(0.1, 0.2, 0.0, 0.5), "alpha 0.0 and beta 0.5 are not in range$"),
        (lambda: beta_binomial(3, 2, p0=0.5), "3 successes in 2 trials$"),
        (lambda: beta_binomial(1, 2, p0=1.0), "p0 1.0 is not between 0 and 1$"),
        (lambda: beta_binomial(1, 2, p0=0.5).rejected(0.0), "alpha 0.0 is not between 0 and 1$"),
        (lambda: BettingTest(bound=0.0, null="at-most"), "bound 0.0 is not between 0 and 1$"),
        (lambda: BettingTest(0.5, "at-most", share=1.0), "share 1.0 is not between 0 and 1$"),
        (lambda: BettingTest(0.5, "at-most", alpha=0.0), "alpha 0.0 is not between 0 and 1$"),
        (
            lambda: BettingTest(0.5, "at-most").feed([float("nan")]),
            r"value nan is not in \[0, 1\]$",
        ),
        (lambda: betting_confidence_sequence([1.5]), r"value 1.5 is not in \[0, 1\]$"),
        (
            lambda: betting_confidence_sequence([], confidence=1.0),
            "confidence 1.0 is not between 0 and 1$",
        ),
        (lambda: betting_confidence_sequence([], share=0.0), "share 0.0 is not between 0 and 1$"),
    ],
)
def test_impossible_input(build, words):
    """Impossible parameters and values are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}"):
        build()
