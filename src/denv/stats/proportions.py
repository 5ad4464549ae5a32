"""Confidence intervals of one proportion.

scipy is imported inside the functions: it costs most of a second, and most commands need no
interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

Method = Literal["wilson", "clopper-pearson"]


@dataclass(frozen=True, slots=True)
class ProportionInterval:
    """An interval for the probability behind ``successes`` of ``trials``.

    ``low`` and ``high`` lie in [0, 1]; a one-sided interval has ``high`` 1. ``confidence`` is the
    coverage that was asked for, as a share.
    """

    successes: int
    trials: int
    low: float
    high: float
    confidence: float
    method: Method


def wilson(successes: int, trials: int, *, confidence: float = 0.95) -> ProportionInterval:
    r"""Wilson's score interval.

    Parameters
    ----------
    successes, trials
        Counts, ``0 <= successes <= trials`` and ``trials >= 1``.
    confidence
        Two-sided coverage, strictly between 0 and 1.

    Returns
    -------
    ProportionInterval
        :math:`\left(\hat p + \tfrac{z^2}{2n} \pm z\sqrt{\tfrac{\hat p(1-\hat p)}{n} +
        \tfrac{z^2}{4n^2}}\right) / \left(1 + \tfrac{z^2}{n}\right)`, without continuity
        correction. At 0 of n the lower limit is exactly 0, at n of n the upper is exactly 1.

    Raises
    ------
    ValueError
        For impossible counts, no trials, or a confidence that is not a share.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
    *JASA* 22, 209-212.

    Examples
    --------
    >>> interval = wilson(19, 20)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.7639, 0.9911)
    """
    _check(successes, trials, confidence)
    from scipy.special import ndtri  # a fifth of the time that scipy.stats takes

    z = float(ndtri((1 + confidence) / 2))
    share = successes / trials
    middle = share + z**2 / (2 * trials)
    reach = z * sqrt(share * (1 - share) / trials + z**2 / (4 * trials**2))
    scale = 1 + z**2 / trials
    low = 0.0 if successes == 0 else max(0.0, (middle - reach) / scale)
    high = 1.0 if successes == trials else min(1.0, (middle + reach) / scale)
    return ProportionInterval(successes, trials, low, high, confidence, "wilson")


def clopper_pearson(successes: int, trials: int, *, confidence: float = 0.95) -> ProportionInterval:
    r"""Clopper and Pearson's two-sided interval, which covers at least ``confidence``.

    Parameters
    ----------
    successes, trials
        Counts, ``0 <= successes <= trials`` and ``trials >= 1``.
    confidence
        Two-sided coverage, strictly between 0 and 1; each tail holds half of the rest.

    Returns
    -------
    ProportionInterval
        The :math:`\alpha/2` quantile of Beta(k, n−k+1) and the :math:`1-\alpha/2` quantile of
        Beta(k+1, n−k). At 0 of n the lower limit is 0, at n of n the upper is 1.

    Raises
    ------
    ValueError
        For impossible counts, no trials, or a confidence that is not a share.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
    illustrated in the case of the binomial. *Biometrika* 26, 404-413.

    Examples
    --------
    >>> interval = clopper_pearson(19, 20)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.7513, 0.9987)
    """
    _check(successes, trials, confidence)
    from scipy.stats import binomtest

    limits = binomtest(successes, trials).proportion_ci(confidence, method="exact")
    low, high = float(limits.low), float(limits.high)
    return ProportionInterval(successes, trials, low, high, confidence, "clopper-pearson")


def clopper_pearson_lower(
    successes: int, trials: int, *, confidence: float = 0.95
) -> ProportionInterval:
    r"""Clopper and Pearson's one-sided interval: the lower bound, with an upper limit of 1.

    Parameters
    ----------
    successes, trials
        Counts, ``0 <= successes <= trials`` and ``trials >= 1``.
    confidence
        One-sided coverage, strictly between 0 and 1.

    Returns
    -------
    ProportionInterval
        ``low`` is the :math:`\alpha` quantile of Beta(k, n−k+1), the largest p that the
        one-sided binomial test of k or more in n still rejects at :math:`\alpha`. It is 0 at
        0 of n, and :math:`\alpha^{1/n}` at n of n.

    Raises
    ------
    ValueError
        For impossible counts, no trials, or a confidence that is not a share.

    References
    ----------
    Clopper and Pearson (1934), as in :func:`clopper_pearson`.

    Examples
    --------
    >>> round(clopper_pearson_lower(20, 20).low, 4)
    0.8609
    """
    _check(successes, trials, confidence)
    from scipy.stats import binomtest

    test = binomtest(successes, trials, alternative="greater")
    low = float(test.proportion_ci(confidence, method="exact").low)
    return ProportionInterval(successes, trials, low, 1.0, confidence, "clopper-pearson")


def clopper_pearson_upper(
    successes: int, trials: int, *, confidence: float = 0.95
) -> ProportionInterval:
    r"""Clopper and Pearson's one-sided interval: the upper bound, with a lower limit of 0.

    Parameters
    ----------
    successes, trials
        Counts, ``0 <= successes <= trials`` and ``trials >= 1``.
    confidence
        One-sided coverage, strictly between 0 and 1.

    Returns
    -------
    ProportionInterval
        ``high`` is the :math:`1 - \alpha` quantile of Beta(k+1, n−k). It is 1 at n of n, and
        :math:`1 - \alpha^{1/n}` at 0 of n.

    Raises
    ------
    ValueError
        For impossible counts, no trials, or a confidence that is not a share.

    References
    ----------
    Clopper and Pearson (1934), as in :func:`clopper_pearson`.

    Examples
    --------
    >>> round(clopper_pearson_upper(0, 20).high, 4)
    0.1391
    """
    _check(successes, trials, confidence)
    from scipy.stats import binomtest

    test = binomtest(successes, trials, alternative="less")
    high = float(test.proportion_ci(confidence, method="exact").high)
    return ProportionInterval(successes, trials, 0.0, high, confidence, "clopper-pearson")


def _check(successes: int, trials: int, confidence: float) -> None:
    if trials < 1:
        raise ValueError("an interval needs at least one trial")
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
