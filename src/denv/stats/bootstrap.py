"""Intervals over texts: tokens of one text are not independent, so whole texts are resampled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import isnan, log
from typing import Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

Statistic = Literal["pooled", "mean"]

EQUAL = 1e-12
"""Texts' figures that differ by no more than this share of the largest are equal."""

DRAWN = 4_000_000
"""Values that one batch of resamples holds at the most: some 30 MB."""


@dataclass(frozen=True, slots=True)
class ClusterInterval:
    """A figure over texts with its bootstrap interval.

    ``method`` is ``bca``, or ``percentile`` where BCa has no value. Two inputs are degenerate:
    ``all-equal`` texts, whose limits are the value itself and say nothing of texts unseen, and
    ``one-text``, which has no limits. ``conservative`` are limits that hold for any texts with
    figures in known bounds; None where no bounds were given.
    """

    value: float
    low: float | None
    high: float | None
    standard_error: float | None
    confidence: float
    texts: int
    method: Literal["bca", "percentile", "all-equal", "one-text"]
    conservative: tuple[float, float] | None

    @property
    def degenerate(self) -> bool:
        """Whether the resamples show no spread, so that the limits must not be relied on."""
        return self.method in {"all-equal", "one-text"}


def cluster_bootstrap(
    sums: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    statistic: Statistic = "pooled",
    confidence: float = 0.95,
    resamples: int = 9999,
    bounds: tuple[float, float] | None = None,
) -> ClusterInterval:
    r"""Give a figure over texts with a bias-corrected and accelerated (BCa) bootstrap interval.

    Parameters
    ----------
    sums, weights
        For each text the sum :math:`s_i` of its tokens' figures and their number :math:`w_i`
        (any weight that is not negative); shape ``(texts,)``. Texts of weight 0 are left out.
    rng
        Draws the resamples.
    statistic
        ``pooled`` is :math:`\sum s_i / \sum w_i`, where long texts weigh more; ``mean`` is the
        mean of :math:`s_i / w_i`, where all texts weigh the same.
    confidence
        Two-sided coverage, strictly between 0 and 1, which is kept asymptotically: of texts of
        unequal length with rates near 1, 95 % limits were seen to cover 76 to 92 % for 5 or 10
        texts, 86 to 94 % for 20, and 92 to 95 % for 40 or 120.
    bounds
        What a text's :math:`s_i / w_i` can lie between, (0, 1) for a rate.

    Returns
    -------
    ClusterInterval
        Its ``standard_error`` is the standard deviation over the resamples. Texts are taken as
        independent, tokens within them are not. ``conservative`` comes from
        :func:`bounded_mean_limits`, with :math:`\sum w_i/\max w_i` texts for the pooled figure:
        given the texts' lengths, shorter texts count for their share of the longest. For n equal
        texts that all have the rate 1 it is Clopper and Pearson's interval of n in n.

    Raises
    ------
    ValueError
        For no text of positive weight, shapes that differ, values that are not finite, a negative
        weight, a sum without weight, a figure outside its bounds, or a confidence that is no share.

    References
    ----------
    Efron, B. and Tibshirani, R. J. (1993). *An Introduction to the Bootstrap*, 14.3; Field, C. A.
    and Welsh, A. H. (2007). Bootstrapping clustered data. *JRSS B* 69, 369-390.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> agreed, tokens = [95, 180, 20, 98, 60], [100, 200, 50, 100, 64]
    >>> result = cluster_bootstrap(agreed, tokens, rng=rng)
    >>> round(result.value, 4), result.low < result.value < result.high
    (0.8813, True)
    >>> cluster_bootstrap([9, 9], [9, 9], rng=rng, bounds=(0, 1)).degenerate
    True
    """
    _check_confidence(confidence)
    s, w = _texts(sums, weights)
    figures = s / w
    function = pooled if statistic == "pooled" else mean_of_texts
    value = float(function(s, w))
    size = float(w.sum() / w.max()) if statistic == "pooled" else float(len(w))
    conservative = _conservative(value, figures, size=size, bounds=bounds, confidence=confidence)
    if len(figures) == 1:
        return ClusterInterval(value, None, None, None, confidence, 1, "one-text", conservative)
    if np.ptp(figures) <= EQUAL * np.abs(figures).max():
        return ClusterInterval(
            value, value, value, 0.0, confidence, len(w), "all-equal", conservative
        )
    low, high, spread, method = _resample(
        s, w, function, confidence=confidence, resamples=resamples, rng=rng
    )
    return ClusterInterval(value, low, high, spread, confidence, len(w), method, conservative)


def pooled(sums: FloatArray, weights: FloatArray, axis: int = -1) -> FloatArray:
    """Give the sum over texts by the weight over texts."""
    return np.asarray(sums.sum(axis=axis) / weights.sum(axis=axis))


def mean_of_texts(sums: FloatArray, weights: FloatArray, axis: int = -1) -> FloatArray:
    """Give the mean of the texts' own figures."""
    return np.asarray((sums / weights).mean(axis=axis))


def bounded_mean_limits(
    mean: float, size: float, *, confidence: float = 0.95
) -> tuple[float, float]:
    r"""Limits of an expectation that hold for any independent values in [0, 1].

    Parameters
    ----------
    mean
        The mean of the values, in [0, 1].
    size
        How many values they are; for a weighted mean :math:`\sum w_i / \max w_i`.
    confidence
        Two-sided coverage, strictly between 0 and 1; it is kept for every size.

    Returns
    -------
    tuple of float
        All :math:`\theta` with :math:`n\,(m\ln\frac{m}{\theta} + (1-m)\ln\frac{1-m}{1-\theta})
        \le \ln(2/\alpha)`. A mean of 1 has the lower limit :math:`(\alpha/2)^{1/n}`, as Clopper
        and Pearson's n in n.

    Raises
    ------
    ValueError
        For a mean outside [0, 1], a size that is not positive, or a confidence that is no share.

    References
    ----------
    Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables. *JASA* 58,
    13-30, Theorem 1, inequality 2.1, inverted. For weights, Jensen's inequality gives
    :math:`1 - \mu + \mu e^{ha} \le (1 - \mu + \mu e^h)^a` for :math:`0 \le a \le 1`.

    Examples
    --------
    >>> low, high = bounded_mean_limits(1.0, 20)
    >>> round(low, 4), high
    (0.8316, 1.0)
    """
    if not 0 <= mean <= 1 or not size > 0:
        raise ValueError(f"a mean of {mean} over {size} values in [0, 1]")
    _check_confidence(confidence)
    from scipy.optimize import bisect
    from scipy.special import rel_entr

    budget = log(2 / (1 - confidence)) / size

    def excess(theta: float) -> float:
        return float(rel_entr(mean, theta) + rel_entr(1 - mean, 1 - theta)) - budget

    low = 0.0 if mean == 0 else float(bisect(excess, 0.0, mean))
    high = 1.0 if mean == 1 else float(bisect(excess, mean, 1.0))
    return low, high


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")


def _texts(sums: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    s, w = np.asarray(sums, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if s.ndim != 1 or s.shape != w.shape:
        raise ValueError(f"sums and weights of the shapes {s.shape} and {w.shape}")
    if not (np.isfinite(s).all() and np.isfinite(w).all()):
        raise ValueError("a text's sum or weight is not finite")
    if (w < 0).any() or (s[w == 0] != 0).any():
        raise ValueError("a text's weight is negative, or 0 with a sum")
    if not (w > 0).any():
        raise ValueError("an interval over texts needs at least one text")
    return s[w > 0], w[w > 0]


def _conservative(
    value: float,
    figures: FloatArray,
    *,
    size: float,
    bounds: tuple[float, float] | None,
    confidence: float,
) -> tuple[float, float] | None:
    if bounds is None:
        return None
    least, most = bounds
    if not least < most or figures.min() < least or figures.max() > most:
        raise ValueError(f"a text's figure is outside its bounds {least} and {most}")
    share = min(1.0, max(0.0, (value - least) / (most - least)))
    low, high = bounded_mean_limits(share, size, confidence=confidence)
    return least + low * (most - least), least + high * (most - least)


def _resample(
    sums: FloatArray,
    weights: FloatArray,
    function: Callable[..., FloatArray],
    *,
    confidence: float,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[float, float, float, Literal["bca", "percentile"]]:
    from scipy.stats import DegenerateDataWarning, bootstrap

    data = (sums, weights)
    # scipy and numpy warn where BCa has no value; percentiles stand in then.
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", DegenerateDataWarning)
        result = bootstrap(
            data,
            function,
            paired=True,
            vectorized=True,
            n_resamples=resamples,
            batch=max(1, DRAWN // len(sums)),
            confidence_level=confidence,
            method="BCa",
            rng=rng,
        )
    limits = result.confidence_interval
    if isnan(limits.low) or isnan(limits.high):
        tail = (1 - confidence) / 2
        low, high = np.quantile(result.bootstrap_distribution, [tail, 1 - tail])
        return float(low), float(high), float(result.standard_error), "percentile"
    return float(limits.low), float(limits.high), float(result.standard_error), "bca"
