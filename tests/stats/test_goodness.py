"""The test of sampled tokens against published values and exact enumeration."""

from itertools import product
from math import nan

import numpy as np
import pytest
from scipy.stats import multinomial

from denv.stats.goodness import goodness_of_fit


def rng():
    return np.random.default_rng(7)


def test_mendels_peas():
    """Mendel's 315, 101, 108, 32 against 9:3:3:1 have X² = 0.47002, p = 0.9254 (R: chisq.test)."""
    result = goodness_of_fit([315, 101, 108], [9 / 16, 3 / 16, 3 / 16], rest=32, rng=rng())
    assert result.statistic == pytest.approx(0.470024, abs=5e-7)
    assert result.p_value == pytest.approx(0.9254, abs=5e-5)
    assert (result.samples, result.cells, result.method) == (556, 4, "chi-square")
    assert result.least_expected == pytest.approx(556 / 16)


def test_small_cells_are_pooled_with_the_rest():
    """Tokens expected under once join the rest: 60, 30, 10 against 50, 40, 10, X² = 4.5."""
    result = goodness_of_fit([60, 30, 2, 1], [0.5, 0.4, 0.008, 0.004], rest=7, rng=rng())
    assert result.statistic == pytest.approx(100 / 50 + 100 / 40)
    # The upper tail of chi-square with 2 degrees of freedom is exp(-x/2).
    assert result.p_value == pytest.approx(np.exp(-4.5 / 2))
    assert (result.cells, result.method) == (3, "chi-square")
    assert result.least_expected == pytest.approx(10)


def test_monte_carlo_agrees_with_enumeration():
    """With ten samples the p-value is that of all tables, within the draws' error."""
    counts, chances, samples = (5, 2, 3), (0.7, 0.2, 0.1), 10
    expected = samples * np.array(chances)
    seen = ((np.array(counts) - expected) ** 2 / expected).sum()
    exact = 0.0
    for a, b in product(range(samples + 1), repeat=2):
        table = np.array([a, b, samples - a - b])
        if table[2] >= 0 and ((table - expected) ** 2 / expected).sum() >= seen - 1e-9:
            exact += multinomial.pmf(table, samples, chances)
    result = goodness_of_fit(counts[:2], chances[:2], rest=counts[2], rng=rng(), resamples=20_000)
    assert result.method == "monte-carlo"
    assert result.statistic == pytest.approx(seen)
    # Four standard errors of 20,000 draws.
    assert result.p_value == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 20_000) ** 0.5)


def test_a_token_outside_a_complete_list_is_found():
    """One sample in 200 of a token that the list leaves no room for: p is as small as draws go."""
    result = goodness_of_fit([120, 79], [0.6, 0.4], rest=1, rng=rng(), resamples=999)
    assert result.method == "monte-carlo"
    assert result.p_value == pytest.approx(1 / 1000)
    fair = goodness_of_fit([120, 80], [0.6, 0.4], rest=0, rng=rng(), resamples=999)
    assert fair.p_value > 0.9


def test_ignored_temperature_is_found():
    """A server that always takes the likeliest token differs from temperature 1."""
    assert goodness_of_fit([100, 0, 0], [0.6, 0.2, 0.1], rest=0, rng=rng()).p_value < 1e-10


@pytest.mark.parametrize("samples", [12, 60, 400])
def test_level(samples):
    """Samples of the distribution itself are rejected at 5 % no more often (300 trials, seeded)."""
    random, chances = np.random.default_rng(samples), [0.5, 0.25, 0.1, 0.05, 0.02]
    rejected = 0
    for _ in range(300):
        drawn = random.multinomial(samples, [*chances, 0.08])
        fit = goodness_of_fit(drawn[:-1], chances, rest=int(drawn[-1]), rng=random, resamples=199)
        rejected += fit.p_value <= 0.05
    # Binomial(300, 0.05) is above 26 with a chance of 0.3 %.
    assert rejected <= 26


def test_the_same_generator_gives_the_same_p():
    """All chance comes from the generator that is handed in."""
    one, other = (
        goodness_of_fit([4, 1], [0.5, 0.3], rest=3, rng=rng(), resamples=99) for _ in range(2)
    )
    assert one == other
    assert one.method == "monte-carlo"


def test_one_cell_says_nothing():
    """Where pooling leaves the rest alone, nothing can be rejected."""
    result = goodness_of_fit([1, 0], [0.3, 0.2], rest=1, rng=rng())
    assert (result.statistic, result.p_value, result.cells, result.method) == (0.0, 1.0, 1, "none")


@pytest.mark.parametrize(
    ("counts", "probabilities", "rest", "words"),
    [
        ([1], [0.5, 0.2], 0, r"counts and probabilities of the shapes \(1,\) and \(2,\)"),
        ([-1], [0.5], 2, "a count is negative"),
        ([1], [0.5], -1, "a count is negative"),
        ([1], [1.5], 0, "a probability is not between 0 and 1"),
        ([1], [nan], 0, "a probability is not between 0 and 1"),
        ([1, 1], [0.8, 0.7], 0, r"the reported probabilities sum to 1\.5"),
        ([0], [0.5], 0, "a test of fit needs at least one sample"),
    ],
)
def test_impossible_input(counts, probabilities, rest, words):
    """Impossible counts and probabilities are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}$"):
        goodness_of_fit(counts, probabilities, rest=rest, rng=rng())
