"""Populations of texts as measurements of tokens meet them: few, skewed, of unequal lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LONGEST = 64
FULL = 0.6
"""Share of texts that use all tokens that are looked at; the others end earlier."""

GRAIN = 8
"""Tokens that vary as one: a text's mean over w tokens is a gamma mean of w/8 parts."""

Draw = Callable[[np.random.Generator, int], tuple[FloatArray, IntArray]]
"""(rng, texts) → their figures, of pooled expectation 1, and their lengths."""


@dataclass(frozen=True, slots=True)
class Population:
    """Texts of one kind; ``says`` describes them."""

    says: str
    draw: Draw


def lengths(rng: np.random.Generator, texts: int) -> IntArray:
    """Draw the numbers of tokens."""
    short = rng.integers(4, LONGEST, texts)
    return np.where(rng.random(texts) < FULL, LONGEST, short)


def within(rng: np.random.Generator, counts: IntArray) -> FloatArray:
    """Draw what the tokens of each text add to its own mean, of expectation 1."""
    parts = counts / GRAIN
    return np.asarray(rng.gamma(parts) / parts)


def lognormal(sigma: float) -> Draw:
    """Give texts that differ by factors; the coefficient of variation is √(exp(σ²) - 1)."""

    def draw(rng: np.random.Generator, texts: int) -> tuple[FloatArray, IntArray]:
        counts = lengths(rng, texts)
        return rng.lognormal(-(sigma**2) / 2, sigma, texts) * within(rng, counts), counts

    return draw


def gamma(shape: float) -> Draw:
    """Give texts many of which show next to nothing."""

    def draw(rng: np.random.Generator, texts: int) -> tuple[FloatArray, IntArray]:
        counts = lengths(rng, texts)
        return rng.gamma(shape, 1 / shape, texts) * within(rng, counts), counts

    return draw


def few_bad(expected: float, *, others: float) -> Draw:
    """Give texts of which ``expected`` are bad on average and the others show ``others``."""

    def draw(rng: np.random.Generator, texts: int) -> tuple[FloatArray, IntArray]:
        rate = expected / texts
        bad = (1 - others * (1 - rate)) / rate
        means = np.where(rng.random(texts) < rate, bad, others)
        return means * rng.lognormal(-0.125, 0.5, texts), lengths(rng, texts)

    return draw


def some_perfect(rate: float) -> Draw:
    """Give texts of which a share shows nothing at all and the others much the same."""

    def draw(rng: np.random.Generator, texts: int) -> tuple[FloatArray, IntArray]:
        means = np.where(rng.random(texts) < rate, 0.0, 1 / (1 - rate))
        return means * rng.lognormal(-0.005, 0.1, texts), lengths(rng, texts)

    return draw


def long_worse(rng: np.random.Generator, texts: int) -> tuple[FloatArray, IntArray]:
    """Draw texts whose figure grows with their length."""
    counts = lengths(rng, texts)
    figures = counts * rng.lognormal(-0.5, 1.0, texts)
    return figures / _LONG, counts


def equal(rng: np.random.Generator, texts: int) -> tuple[FloatArray, IntArray]:
    """Give texts that all show the same."""
    return np.ones(texts), lengths(rng, texts)


def _expected_length() -> float:
    """Give E[w²]/E[w], the pooled expectation of a figure that is the length itself."""
    values = np.arange(4, LONGEST)
    chances = np.append(np.full(len(values), (1 - FULL) / len(values)), FULL)
    counts = np.append(values, LONGEST).astype(np.float64)
    return float(chances @ counts**2 / (chances @ counts))


_LONG = _expected_length()

POPULATIONS: Mapping[str, Population] = {
    "even": Population("lognormal, σ 0.5", lognormal(0.5)),
    "skewed": Population("lognormal, σ 1", lognormal(1.0)),
    "heavy": Population("lognormal, σ 1.5", lognormal(1.5)),
    "gamma": Population("gamma, shape 0.5", gamma(0.5)),
    "long": Population("lognormal, σ 1, worse with length", long_worse),
    "bad": Population("5 bad texts on average, nothing in the others", few_bad(5.0, others=0.001)),
    "worse": Population("5 worse texts on average, half in the others", few_bad(5.0, others=0.5)),
    "perfect": Population("a tenth of the texts shows nothing", some_perfect(0.1)),
    "equal": Population("all texts equal", equal),
}
