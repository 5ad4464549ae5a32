"""G6: the tests of samples, against scipy and against samplers that are known."""

import numpy as np
import pytest
from scipy import stats

from denv.instruments.gates import State
from denv.instruments.gates.nucleus import nuclei
from denv.instruments.gates.sample_fit import RESAMPLES, fit_samples
from denv.instruments.gates.sampling import ALPHA, sampling_checks
from denv.instruments.probes import play
from denv.records import Exchange, Side
from tests.instruments.gates.toy import Toy

CHANCES = np.array([0.4, 0.2, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03])
REST = 0.04


def drawn(temperature, count, *, seed):
    """Draw from the distribution at a temperature; the rest is one more token."""
    weights = np.append(CHANCES, REST) ** (1 / temperature)
    counts = np.random.default_rng(seed).multinomial(count, weights / weights.sum())
    return counts[:-1].tolist(), int(counts[-1])


def test_pearsons_statistic_is_scipys():
    """With all cells expected five times and more it is the chi-square test over them."""
    counts, rest = drawn(1.0, 500, seed=1)
    fit = fit_samples(counts, CHANCES.tolist(), rest=rest, seed=0)
    right = stats.chisquare([*counts, rest], 500 * np.append(CHANCES, REST))
    assert fit.statistic == pytest.approx(right.statistic)
    assert fit.p_fit == pytest.approx(right.pvalue)


def test_the_tilt_is_the_exact_test_of_two_tokens():
    """With two tokens the mean logprob is a count, and its p-value the binomial's.

    Both tails are doubled as the test does it; scipy gives each of them.
    """
    fit = fit_samples([30, 10], [0.6, 0.4], rest=0, seed=0)
    below = stats.binom.cdf(30, 40, 0.6)
    above = stats.binom.sf(29, 40, 0.6)
    assert fit.p_tilt == pytest.approx(2 * min(below, above), rel=0.15)
    assert fit.p_tilt >= 1 / RESAMPLES


@pytest.mark.parametrize("temperature", [0.5, 0.7, 1.0, 1.5])
def test_the_temperature_is_recovered(temperature):
    """Many samples give it back to a few percent."""
    counts, rest = drawn(temperature, 20_000, seed=3)
    fit = fit_samples(counts, CHANCES.tolist(), rest=rest, seed=0)
    assert fit.temperature == pytest.approx(temperature, rel=0.05)


def test_true_samples_fit_and_others_do_not():
    """Of true samples about one batch in a hundred is tried again; at 0.6 nearly all are."""

    def share(temperature):
        fits = [
            fit_samples(counts, CHANCES.tolist(), rest=rest, seed=0).p_value <= ALPHA
            for counts, rest in (drawn(temperature, 64, seed=seed) for seed in range(100))
        ]
        return sum(fits) / len(fits)

    assert share(1.0) <= 0.04
    assert share(0.5) >= 0.9


def test_a_list_without_samples_has_no_temperature():
    """All samples outside the list, or a flat list, have nothing to tilt."""
    outside = fit_samples([0] * 8, CHANCES.tolist(), rest=64, seed=0)
    assert (outside.temperature, outside.p_tilt) == (None, 1.0)
    assert outside.p_value < 1e-3
    flat = fit_samples([10, 12], [0.5, 0.5], rest=0, seed=0)
    assert (flat.temperature, flat.p_tilt) == (None, 1.0)


def test_equal_seeds_give_equal_p_values():
    """The resamples are the seed's, so that a resumed run finds the same."""
    counts, rest = drawn(1.0, 64, seed=5)
    one, two = (fit_samples(counts, CHANCES.tolist(), rest=rest, seed=9) for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("chances", "sizes"),
    [
        ([0.6, 0.3], (1,)),
        ([0.3, 0.3, 0.3], (2,)),
        ([0.3, 0.2, 0.3], (2, 3)),
        ([0.2, 0.2], ()),
        ([], ()),
    ],
)
def test_nucleus(chances, sizes):
    """The token that crosses top_p belongs to it; a sum at the very border leaves it open."""
    assert nuclei(chances, 0.5) == sizes


def sampled(toy, *, hot=64, cut=30):
    strand = sampling_checks(Side.STAGE, hot=hot, cut=cut, seed=0)
    return {one.name: one for one in play(strand, toy)}


def test_a_true_sampler_passes():
    """Both checks pass, with the samples counted."""
    found = sampled(Toy())
    assert {one.state for one in found.values()} == {State.PASS}
    assert found["temperature"].evidence["samples"] == 64
    assert found["top-p"].evidence["outside"] == 0


def test_a_failure_takes_two_batches():
    """Samples that do not fit are taken anew with other seeds before anything is said."""
    asked = []
    toy = Toy(temperature=0.3)

    def server(probe):
        asked.append(probe.body.get("seed"))
        return toy(probe)

    found = sampled(server)
    assert found["temperature"].state is State.FAIL
    assert found["temperature"].evidence["batches"] == 2
    assert {1, 64, 65, 128} <= set(asked)


@pytest.mark.parametrize(
    ("toy", "says"),
    [
        (Toy(logprobs=False), "gives no first-token distribution"),
        (Toy(down=True), "gives no first-token distribution"),
        (Toy(scale=0.5), "no distribution's"),
    ],
)
def test_without_a_distribution_nothing_is_known(toy, says):
    """Samples alone cannot show a temperature."""
    found = sampled(toy)
    assert {one.state for one in found.values()} == {State.UNKNOWN}
    assert says in found["temperature"].finding


def test_samples_that_show_no_token_are_unknown():
    """Where logprobs come at temperature 0 alone, samples cannot be told."""
    toy, silent = Toy(), Toy(logprobs=False)

    def server(probe):
        return (silent if probe.body["temperature"] else toy)(probe)

    found = sampled(server)
    assert "show no token" in found["temperature"].finding
    assert found["temperature"].state is State.UNKNOWN


def test_questions_answered_by_parts_of_characters_are_not_sampled():
    """An emoji's first token shows no text, so that samples of it would be lost."""
    toy = Toy()

    def server(probe):
        exchange = toy(probe)
        half = exchange.body.replace(b'"bytes": [32', b'"bytes": [240')
        return Exchange(exchange.status, exchange.headers, half)

    found = sampled(server)
    assert {one.state for one in found.values()} == {State.UNKNOWN}
    assert "can be told apart" in found["temperature"].finding
