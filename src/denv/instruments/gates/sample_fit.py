"""One-token samples against the distribution that is reported for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from denv.stats.goodness import goodness_of_fit

RESAMPLES = 9_999
_TEMPERATURES = np.geomspace(0.05, 20.0, 241)
"""Where the best fitting temperature is looked for; 1 is the middle one."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How samples fit.

    ``p_fit`` is of Pearson's statistic, which sees any difference; ``p_tilt`` of the mean logprob
    of listed tokens, which sees a temperature best. ``p_value`` is that of both together.
    ``temperature`` is the one that fits the listed tokens best.
    """

    samples: int
    rest: int
    statistic: float
    cells: int
    p_fit: float
    p_tilt: float
    temperature: float | None

    @property
    def p_value(self) -> float:
        """Twice the smaller p-value (Bonferroni)."""
        return min(1.0, 2 * min(self.p_fit, self.p_tilt))


def fit_samples(
    counts: Sequence[int], probabilities: Sequence[float], *, rest: int, seed: int
) -> Fit:
    r"""Test samples against a distribution, and find the temperature that they look like.

    Parameters
    ----------
    counts, probabilities
        For each listed token how often it was sampled, and its probability.
    rest
        How many samples were a token that is not listed.
    seed
        Draws the multinomial resamples, :data:`RESAMPLES` of each test.

    Returns
    -------
    Fit
        With the listed tokens' probabilities :math:`p_i`, renormalised, samples at temperature
        :math:`T` have :math:`q_i \propto p_i^{1/T}`, an exponential family in :math:`\log p_i`.
        Its score test at :math:`T = 1` compares the mean of :math:`\log p_i` with what
        multinomial draws give; that of both tails is doubled. It has p = 1 and no temperature
        where no sample is listed or all listed tokens are equally probable.

    Raises
    ------
    ValueError
        As :func:`denv.stats.goodness.goodness_of_fit` does.

    Examples
    --------
    >>> fit = fit_samples([60, 25], [0.5, 0.3], rest=15, seed=0)
    >>> round(fit.statistic, 4), round(fit.p_fit, 4), fit.samples
    (4.0833, 0.1298, 100)
    """
    rng = np.random.default_rng(seed)
    test = goodness_of_fit(counts, probabilities, rest=rest, rng=rng, resamples=RESAMPLES)
    seen = np.asarray(counts, dtype=np.int64)
    listed = np.asarray(probabilities, dtype=np.float64)
    tilt = _tilt(seen, listed / listed.sum(), rng)
    temperature = _temperature(seen, listed)
    return Fit(test.samples, rest, test.statistic, test.cells, test.p_value, tilt, temperature)


def _tilt(
    seen: npt.NDArray[np.int64], chances: npt.NDArray[np.float64], rng: np.random.Generator
) -> float:
    total = int(seen.sum())
    possible = chances > 0
    values = np.log(chances[possible])
    if not total or np.ptp(values) == 0:
        return 1.0
    drawn = rng.multinomial(total, chances[possible], size=RESAMPLES) @ values
    own = float(seen[possible] @ values)
    near = 1e-9 * abs(own)  # sums of the same counts in another order are the same
    below = (1 + int((drawn <= own + near).sum())) / (1 + RESAMPLES)
    above = (1 + int((drawn >= own - near).sum())) / (1 + RESAMPLES)
    return min(1.0, 2 * min(below, above))


def _temperature(seen: npt.NDArray[np.int64], listed: npt.NDArray[np.float64]) -> float | None:
    possible = listed > 0
    values = np.log(listed[possible])
    total = int(seen[possible].sum())
    if not total or np.ptp(values) == 0:
        return None
    scaled = values[None, :] / _TEMPERATURES[:, None]
    highest = scaled.max(axis=1, keepdims=True)
    norms = np.log(np.exp(scaled - highest).sum(axis=1)) + highest[:, 0]
    likelihoods = scaled @ seen[possible] - total * norms
    return float(_TEMPERATURES[int(np.argmax(likelihoods))])
