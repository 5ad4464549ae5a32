"""Whether one-token samples follow the distribution that teacher forcing reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from denv.stats.divergence import MASS_TOLERANCE, REST_RESOLUTION

LEAST_EXPECTED = 1.0
"""Tokens that are expected less often are pooled (Cochran 1954)."""

TRUSTED = 5.0
"""The chi-square distribution is trusted where no cell is expected less often than this."""


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """Pearson's statistic over ``cells`` after pooling, its p-value and what gave it.

    ``method`` is ``none`` where pooling leaves one cell and nothing can be rejected.
    """

    statistic: float
    p_value: float
    samples: int
    cells: int
    least_expected: float
    method: Literal["none", "chi-square", "monte-carlo"]


def goodness_of_fit(
    counts: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    *,
    rest: int,
    rng: np.random.Generator,
    least_expected: float = LEAST_EXPECTED,
    resamples: int = 9999,
) -> GoodnessOfFit:
    r"""Test sampled tokens against a reported distribution by :math:`\sum (O-E)^2/E`.

    Parameters
    ----------
    counts, probabilities
        For each reported token how often it was sampled, and its probability; one shape ``(k,)``.
        What the probabilities leave of 1 is the rest, of which at least 1e-6 is assumed: tokens
        that a list of rounded logprobs cannot show do occur.
    rest
        How many samples were a token that is not reported.
    rng
        Draws the multinomial samples.
    least_expected
        Tokens that are expected less often are pooled with the rest into one cell.
    resamples
        How many multinomial samples the Monte-Carlo p-value draws.

    Returns
    -------
    GoodnessOfFit
        The p-value is that of :math:`\chi^2` with one degree of freedom less than there are cells;
        where a cell is expected less than 5 times it is
        :math:`(1 + \#\{X^2_r \ge X^2\})/(R+1)` over multinomial draws instead, which holds its
        level for any expected counts. Samples are taken as independent.

    Raises
    ------
    ValueError
        For shapes that differ, no sample, a negative count, a value that is no probability, or
        probabilities that sum to more than 1.01.

    References
    ----------
    Pearson, K. (1900); Cochran, W. G. (1954). Some methods for strengthening the common
    :math:`\chi^2` tests. *Biometrics* 10, 417-451; Phipson and Smyth (2010) for the Monte-Carlo p.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> result = goodness_of_fit([60, 25], [0.5, 0.3], rest=15, rng=rng)
    >>> round(result.statistic, 4), round(result.p_value, 4), result.method
    (4.0833, 0.1298, 'chi-square')
    """
    observed, chances = _cells(counts, probabilities, rest)
    samples = int(observed.sum())
    observed, chances = _pooled(observed, chances, least_expected / samples)
    expected = samples * chances
    statistic = float(((observed - expected) ** 2 / expected).sum())
    smallest = float(expected.min())
    if len(chances) < 2:
        return GoodnessOfFit(0.0, 1.0, samples, len(chances), smallest, "none")
    if smallest >= TRUSTED:
        from scipy.stats import chisquare

        p_value = float(chisquare(observed, expected).pvalue)
        return GoodnessOfFit(statistic, p_value, samples, len(chances), smallest, "chi-square")
    p_value = _monte_carlo(observed, chances, rng=rng, resamples=resamples)
    return GoodnessOfFit(statistic, p_value, samples, len(chances), smallest, "monte-carlo")


def _cells(
    counts: npt.ArrayLike, probabilities: npt.ArrayLike, rest: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Give counts and probabilities with the rest as the last cell; the latter sum to 1."""
    seen = np.asarray(counts, dtype=np.int64)
    listed = np.asarray(probabilities, dtype=np.float64)
    if seen.ndim != 1 or seen.shape != listed.shape:
        raise ValueError(f"counts and probabilities of the shapes {seen.shape} and {listed.shape}")
    if rest < 0 or (seen < 0).any():
        raise ValueError("a count is negative")
    if not ((listed >= 0) & (listed <= 1)).all():
        raise ValueError("a probability is not between 0 and 1")
    if listed.sum() > 1 + MASS_TOLERANCE:
        raise ValueError(f"the reported probabilities sum to {listed.sum():.4g}")
    observed = np.append(seen, rest)
    if observed.sum() == 0:
        raise ValueError("a test of fit needs at least one sample")
    chances = np.append(listed, max(1 - float(listed.sum()), REST_RESOLUTION))
    return observed, chances / chances.sum()


def _pooled(
    observed: npt.NDArray[np.int64], chances: npt.NDArray[np.float64], least: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Merge the rest, which is last, with all cells that are expected too seldom."""
    apart = chances >= least
    apart[-1] = False
    return (
        np.append(observed[apart], observed[~apart].sum()),
        np.append(chances[apart], chances[~apart].sum()),
    )


def _monte_carlo(
    observed: npt.NDArray[np.int64],
    chances: npt.NDArray[np.float64],
    *,
    rng: np.random.Generator,
    resamples: int,
) -> float:
    from scipy.stats import monte_carlo_test

    samples = int(observed.sum())
    expected = samples * chances

    def draw(size: tuple[int, ...]) -> npt.NDArray[np.int64]:
        return rng.multinomial(samples, chances, size=size[:-1])

    def pearson(table: npt.NDArray[np.int64], axis: int = -1) -> npt.NDArray[np.float64]:
        return np.asarray(((table - expected) ** 2 / expected).sum(axis=axis))

    test = monte_carlo_test(
        observed,
        draw,
        pearson,
        vectorized=True,
        n_resamples=resamples,
        alternative="greater",
    )
    return float(test.pvalue)
