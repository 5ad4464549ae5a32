r"""Limits of a mean over few texts of a figure that is never negative and often skewed.

Most texts show next to no divergence and a few show much, so that a mean and its standard error
are small together, and the limits of a bootstrap lie too low: their upper one is missed several
times as often as it says. The limits here are set apart, each by what can be known of its side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import exp, inf, log, sqrt

import numpy as np
import numpy.typing as npt

from denv.stats.bootstrap import EQUAL, cluster_bootstrap

FloatArray = npt.NDArray[np.float64]

LARGEST_EXPONENT = 700.0
"""Beyond it a limit is no finite float."""


@dataclass(frozen=True, slots=True)
class NonnegativeMean:
    """A pooled mean over texts and its limits; ``high`` is None for a single text."""

    value: float
    low: float
    high: float | None
    confidence: float
    texts: int


def nonnegative_mean(
    sums: npt.ArrayLike,
    weights: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    resolution: float,
    most: float,
    times: float = inf,
    confidence: float = 0.95,
    resamples: int = 9999,
) -> NonnegativeMean:
    r"""Give the mean :math:`\sum s_i / \sum w_i` over texts with an interval for skewed figures.

    Parameters
    ----------
    sums, weights
        For each text the sum :math:`s_i \ge 0` of its tokens' figures and their number
        :math:`w_i`; shape ``(texts,)``. Texts of weight 0 are left out.
    rng
        Draws the resamples.
    resolution
        Texts' figures below it count as it for :func:`lognormal_upper`, or as the largest where
        that is below it too; positive. A hundredth of what would matter changes no decision, and
        keeps figures of nothing at all from looking like a wide spread.
    most
        No limit is above it, unless a text is.
    times
        The lognormal limit is at most so many times the largest text's figure. Without it a wide
        spread among small figures alone puts the limit far beyond all of them.
    confidence
        Two-sided coverage, strictly between 0 and 1; each tail holds half of the rest.

    Returns
    -------
    NonnegativeMean
        ``low`` is :func:`betting_lower`, which holds for any distribution. ``high`` is the larger
        of :func:`lognormal_upper` and the bootstrap's (BCa) with one more text, as long as the
        longest, whose figure is that of the worst: as Clopper and Pearson's upper limit of k in n
        reckons with one more. It holds where the texts' figures are lognormal, or like it, and
        where a share of at least 5/n of the texts is much worse than the others; with ``times``
        from so many texts on as are sure enough to hold a large one. **No limit from
        n texts can hold for a fault that shows in so few texts that all n may miss it**: of a
        share s they do with the chance :math:`(1-s)^n`. Equal texts have their own figure as
        upper limit.

    Raises
    ------
    ValueError
        For no text of positive weight, shapes that differ, values that are negative or not
        finite, a sum without weight, a resolution that is not positive, or a confidence that is
        no share.

    Examples
    --------
    >>> import numpy as np
    >>> kl, tokens = [0.2, 0.1, 0.3, 0.1, 0.9, 0.2, 0.4, 0.2], [40, 40, 40, 40, 40, 40, 40, 20]
    >>> rng = np.random.default_rng(0)
    >>> found = nonnegative_mean(kl, tokens, rng=rng, resolution=1e-5, most=14.0)
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 3)
    (0.008, 0.0033, 0.025)
    """
    s, w = _texts(sums, weights)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    if not resolution > 0:
        raise ValueError(f"resolution {resolution} is not positive")
    value, tail, figures = float(s.sum() / w.sum()), (1 - confidence) / 2, s / w
    low = betting_lower(s, w, alpha=tail)
    if len(s) == 1:
        return NonnegativeMean(value, low, None, confidence, 1)
    if np.ptp(figures) <= EQUAL * figures.max():
        return NonnegativeMean(value, low, max(value, float(figures.max())), confidence, len(s))
    least = min(resolution, float(figures.max()))
    bent = lognormal_upper(np.maximum(figures, least), w, alpha=tail)
    bent = min(bent, times * float(figures.max()))
    more = np.append(s, figures.max() * w.max()), np.append(w, w.max())
    drawn = cluster_bootstrap(*more, rng=rng, confidence=confidence, resamples=resamples)
    high = max(value, bent, value if drawn.high is None else drawn.high)
    high = min(high, max(most, float(figures.max())))
    return NonnegativeMean(value, low, high, confidence, len(s))


def _texts(sums: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    s, w = np.asarray(sums, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if s.ndim != 1 or s.shape != w.shape:
        raise ValueError(f"sums and weights of the shapes {s.shape} and {w.shape}")
    if not (np.isfinite(s).all() and np.isfinite(w).all()):
        raise ValueError("a text's sum or weight is not finite")
    if (s < 0).any() or (w < 0).any() or (s[w == 0] != 0).any():
        raise ValueError("a text's sum or weight is negative, or its weight 0 with a sum")
    if not (w > 0).any():
        raise ValueError("an interval over texts needs at least one text")
    return s[w > 0], w[w > 0]


def betting_lower(sums: npt.ArrayLike, weights: npt.ArrayLike, *, alpha: float) -> float:
    r"""Bound a pooled mean of figures that are not negative from below, whatever they are.

    Parameters
    ----------
    sums, weights
        As in :func:`nonnegative_mean`, with positive weights.
    alpha
        The chance that the limit is above the mean, strictly between 0 and 1; it is kept for any
        number of texts.

    Returns
    -------
    float
        The largest m at which :math:`\int_0^1 \prod_i \left(1 + \lambda\,\frac{s_i - m w_i}{m
        \max w}\right) d\lambda` has reached :math:`1/\alpha`. If the mean is m or less each
        factor is at least 0 and at most 1 in expectation, so that by Markov's inequality the
        integral reaches it with a chance of at most alpha. Given their lengths, texts are taken
        as independent, with one mean. The integrand is a polynomial in :math:`\lambda`, which
        Gauss and Legendre's rule integrates exactly. 0 where all figures are.

    Raises
    ------
    ValueError
        For an ``alpha`` that is no share.

    References
    ----------
    Waudby-Smith, I. and Ramdas, A. (2024). Estimating means of bounded random variables by
    betting. *JRSS B* 86, 1-27; Cover, T. M. (1991). Universal portfolios. *Mathematical Finance*
    1, 1-29 (the mixture over stakes).

    Examples
    --------
    >>> round(betting_lower([1.0] * 20, [1.0] * 20, alpha=0.025), 4)
    0.7681
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha} is not between 0 and 1")
    s, w = np.asarray(sums, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    value = float(s.sum() / w.sum())
    if value == 0:
        return 0.0
    from scipy.optimize import brentq

    stakes, shares = _stakes(len(s) // 2 + 1)
    # In units of the largest sum, so that sums near the smallest float keep their digits.
    unit = float(s.max())
    gain, loss = s / unit / w.max(), w / w.max()
    mean = float((s / unit).sum() / w.sum())

    def excess(m: float) -> float:
        capital = np.log1p(stakes[:, None] * (gain / m - loss)).sum(axis=1)
        most = float(capital.max())
        return most + log(float(np.exp(capital - most) @ shares)) + log(alpha)

    least = mean / 2
    while excess(least) <= 0:
        least /= 2
    return min(value, unit * float(brentq(excess, least, mean, xtol=1e-9 * mean)))


@cache
def _stakes(size: int) -> tuple[FloatArray, FloatArray]:
    """Give places in (0, 1) and weights that sum to 1, exact for polynomials to 2·size - 1."""
    from scipy.special import roots_legendre

    nodes, shares = roots_legendre(size)
    return (nodes + 1) / 2, shares / 2


def lognormal_upper(values: npt.ArrayLike, weights: npt.ArrayLike, *, alpha: float) -> float:
    r"""Bound the mean of lognormal values from above.

    Parameters
    ----------
    values, weights
        Positive, shape ``(n,)``, at least two.
    alpha
        The chance that the limit is below the mean, strictly between 0 and 1.

    Returns
    -------
    float
        :math:`\exp\left(\bar y + \tfrac{s^2}{2} + \sqrt{\tfrac{z^2 s^2}{n} + \tfrac{s^4}{4}\left(
        \tfrac{n-1}{\chi^2_{\alpha, n-1}} - 1\right)^2}\right)` with the mean and variance of
        :math:`y_i = \ln x_i`, both weighted, and :math:`n = (\sum w)^2 / \sum w^2` (Kish).
        Infinite where that is no finite float.

    Raises
    ------
    ValueError
        For fewer than two values, one that is not positive, or an ``alpha`` that is no share.

    References
    ----------
    Zou, G. Y., Taleban, J. and Huo, C. Y. (2009). Confidence interval estimation for lognormal
    data with application to health economics. *Computational Statistics & Data Analysis* 53,
    3755-3764. Kish, L. (1965). *Survey Sampling*, 11.7.

    Examples
    --------
    >>> round(lognormal_upper([1.0, 2.0, 4.0, 2.0, 1.0, 3.0], [1] * 6, alpha=0.025), 3)
    5.594
    """
    x, w = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if x.size < 2 or x.shape != w.shape or not ((x > 0).all() and (w > 0).all()):
        raise ValueError("a lognormal limit needs at least two positive values with weights")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha} is not between 0 and 1")
    from scipy.stats import chi2, norm

    share, logs = w / w.sum(), np.log(x)
    heaviness = float((share**2).sum())
    middle = float(share @ logs)
    variance = float(share @ (logs - middle) ** 2) / (1 - heaviness)
    size, degrees = 1 / heaviness, 1 / heaviness - 1
    least = float(chi2.ppf(alpha, degrees))
    wider = degrees / least - 1 if least > 0 else inf
    reach = float(norm.isf(alpha)) ** 2 * variance / size
    spread = variance / 2 * wider if variance > 0 else 0.0
    exponent = middle + variance / 2 + sqrt(reach + spread**2)
    return exp(exponent) if exponent < LARGEST_EXPONENT else inf
