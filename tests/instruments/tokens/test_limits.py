"""The upper limit over few texts, and how often the rule is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from denv.instruments.bank import Prompt
from denv.instruments.tokens.decision import Coverage, Margins, decide
from denv.instruments.tokens.figures import Compared, Measure, main_figures
from denv.instruments.tokens.limits import studentized_upper
from denv.instruments.tokens.pairing import Positions

TOKENS = 64


def test_normal_texts_get_students_limit():
    """Of symmetric figures it is about the mean with Student's quantile, as theory has it."""
    rng = np.random.default_rng(5)
    figures = rng.normal(10.0, 1.0, 200)
    high = studentized_upper(figures * TOKENS, np.full(200, TOKENS), rng=rng)
    error = figures.std(ddof=1) / np.sqrt(200)
    assert high == pytest.approx(figures.mean() + student.ppf(0.975, 199) * error, abs=0.3 * error)


def test_equal_texts_give_the_value():
    """Without any spread there is nothing to add."""
    rng = np.random.default_rng(0)
    assert studentized_upper([2.0, 4.0], [10, 20], rng=rng) == pytest.approx(0.2)


def test_resamples_without_spread_give_the_largest_text():
    """Five texts of nothing and one of something: a third of the resamples never see it."""
    rng = np.random.default_rng(0)
    assert studentized_upper([0, 0, 0, 0, 0, 6.0], [10] * 6, rng=rng) == pytest.approx(0.6)


def test_skewed_texts_get_a_wider_limit_than_symmetric_ones():
    """The long tail may not have been met."""
    rng = np.random.default_rng(1)
    symmetric = studentized_upper([9.0, 10, 10, 10, 10, 11], [10] * 6, rng=rng) - 1
    skewed = studentized_upper([9.6, 9.6, 9.6, 9.6, 9.6, 12], [10] * 6, rng=rng) - 1
    assert skewed > symmetric > 0


@pytest.mark.parametrize(
    ("sums", "weights"), [([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([1.0, 2.0], [1.0, 0.0])]
)
def test_what_has_no_limit_is_refused(sums, weights):
    """One text, lengths that differ and texts without tokens are errors."""
    with pytest.raises(ValueError, match="sums and weights"):
        studentized_upper(sums, weights, rng=np.random.default_rng(0))


# ---------------------------------------------------------------- how often it is wrong

SHAPES = {
    "gamma": lambda rng, n: rng.gamma(4.0, 0.25, n),  # coefficient of variation 0.5
    "lognormal": lambda rng, n: rng.lognormal(-0.125, 0.5, n),  # 0.53
}
"""Texts' mean divergences, of expectation 1; the lab's requantised weights show 0.3 to 0.5."""

ROUNDS = 400


def text(number: int, kl: float, count: int) -> Compared:
    """Write a text whose tokens all have one divergence."""
    full = np.full(count, kl)
    zero, one = np.zeros(count), np.ones(count)
    positions = Positions(
        index=np.arange(count), agrees=one, rank=one, p_own=-one, q_own=-one, kl=full,
        tv_low=zero, tv_high=zero + 1e-4 * (number % 3), unreported=zero,
        unlisted=np.zeros(count, dtype=bool), by_ids=True, skipped=0,
    )  # fmt: skip
    return Compared(Prompt(f"p{number}", "prose", ()), 40, positions)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("texts", [6, 10, 20, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_verdict_is_wrong_more_often_than_it_says(texts, shape):
    """On the margin itself, where each verdict is wrong, each comes in at most 5 % of the runs."""
    rng = np.random.default_rng(11)
    margin = Margins(kl=0.01).resolved(None)
    said = []
    for _ in range(ROUNDS):
        lengths = rng.integers(16, TOKENS + 1, texts)
        means = 0.01 * SHAPES[shape](rng, texts)
        drawn = [
            text(n, kl, int(count))
            for n, (kl, count) in enumerate(zip(means, lengths, strict=True))
        ]
        figures = main_figures(drawn, Measure(0.95, rng, 499), distribution=True)
        whole = Coverage(texts, texts, 1, 1)
        said.append(decide(figures, None, margin=margin, coverage=whole)[0])
    slack = 2 * np.sqrt(0.05 * 0.95 / ROUNDS)  # of the simulation itself
    for verdict in ("faithful", "different"):
        share = said.count(verdict) / ROUNDS
        print(f"{shape}, {texts} texts: {verdict} in {share:.1%}")
        assert share <= 0.05 + slack
