"""The limits of figures that decide by how small they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from denv.instruments.tokens.decision import LEAST_KL, Coverage, Margins, decide
from denv.instruments.tokens.figures import Measure, divergence, main_figures, variation
from denv.stats.divergence import pinsker
from denv.stats.nonnegative import nonnegative_mean
from simulations.tokens import compared


def measure(margins: Margins | None = None, *, confidence: float = 0.95) -> Measure:
    rng = np.random.default_rng(0)
    return Measure(confidence, rng, 499, margins or Margins())


def interval(found: dict[str, Any] | None) -> list[float]:
    assert found is not None
    limits: list[float] = found["interval"]
    return limits


COUNTS = np.array([64, 64, 30, 64, 12, 64, 64, 50, 64, 64])
KL = np.array([1, 3, 1, 2, 9, 1, 2, 2, 1, 5]) * 1e-3


def test_both_deciding_figures_have_the_limits_of_skewed_texts():
    """Divergence and total variation are cautious, in the main figures and alone."""
    texts = compared(COUNTS, kl=KL, tv=5 * KL)
    found = main_figures(texts, measure(), distribution=True)
    for name, values, resolution, times in (
        ("kl_lower_bound", KL, LEAST_KL / 100, 2.0),
        ("total_variation", 5 * KL, pinsker(LEAST_KL) / 100, 1.2),
    ):
        figure = found[name]
        expected = nonnegative_mean(
            values * COUNTS,
            COUNTS,
            rng=np.random.default_rng(0),
            resolution=resolution,
            most=14.0,
            times=times,
            resamples=499,
        )
        assert figure["method"] == "cautious"
        assert figure["value"] == pytest.approx(expected.value)
        assert figure["interval"] == pytest.approx([expected.low, expected.high], rel=0.05)
    assert found["top1_agreement"]["method"] == "conservative"


def test_a_smaller_margin_has_a_finer_resolution():
    """What counts as nothing is a hundredth of the margin, whichever it is."""
    assert Margins().resolutions() == pytest.approx((1e-4, pinsker(0.01) / 100))
    given = Margins(kl=1e-4, total_variation=0.5)
    assert given.resolutions() == pytest.approx((1e-6, 0.005))
    uneven = compared(COUNTS, kl=np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1]) * 3e-5, tv=KL)
    coarse, fine = (divergence(uneven, measure(one)) for one in (Margins(), given))
    assert interval(coarse)[1] < interval(fine)[1]


def test_limits_stay_near_the_largest_text():
    """A wide spread among small figures puts no limit far beyond the largest of them."""
    wild = np.array([1e-6, 1e-3, 1e-6, 5e-3, 1e-6, 1e-6, 2e-3, 1e-6, 1e-6, 3e-3])
    texts = compared(COUNTS, kl=wild, tv=100 * wild)
    assert interval(divergence(texts, measure()))[1] == pytest.approx(2 * 5e-3)
    assert interval(variation(texts, measure()))[1] == pytest.approx(1.2 * 0.5)


def test_equal_texts_and_a_single_one():
    """Equal texts have their figure as upper limit; one text alone has no interval."""
    same = compared(COUNTS, kl=np.full(10, 0.02), tv=np.zeros(10))
    low, high = interval(divergence(same, measure()))
    assert high == pytest.approx(0.02)
    assert 0.01 < low < 0.02
    assert interval(variation(same, measure())) == [0.0, 0.0]
    alone = divergence(compared(COUNTS[:1], kl=KL[:1], tv=KL[:1]), measure())
    assert alone is not None
    assert (alone["interval"], alone["method"]) == (None, "one-text")
    assert divergence([], measure()) is None


def test_a_hair_above_the_margin_is_not_different():
    """Twelve equal texts a tenth above it may have missed the one that shows nothing."""
    counts = np.full(12, 64)
    coverage = Coverage(answered=12, usable=12, tokens=768, compared=768)
    margin = Margins(kl=0.01).resolved(None)

    def verdict(kl: float) -> str:
        texts = compared(counts, kl=np.full(12, kl), tv=np.zeros(12))
        found = main_figures(texts, measure(), distribution=True)
        return decide(found, None, margin=margin, coverage=coverage)[0]

    assert verdict(0.011) == "undecided"
    assert verdict(0.02) == "different"
    assert verdict(0.009) == "faithful"
