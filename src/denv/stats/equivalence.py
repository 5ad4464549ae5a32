"""Two one-sided tests (TOST) of whether two sides are the same within a margin.

A test that finds no difference shows nothing; these show equivalence, or do not. scipy and
statsmodels are imported inside the functions: they cost a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from denv.stats.paired import DifferenceInterval, PairedCounts, tango, tango_statistic


@dataclass(frozen=True, slots=True)
class BinaryEquivalence:
    """Whether two rates are equivalent; see :func:`paired_rates`."""

    margin: float
    alpha: float
    p_low: float
    p_high: float
    interval: DifferenceInterval

    @property
    def p_value(self) -> float:
        """The larger of the two one-sided p-values."""
        return max(self.p_low, self.p_high)

    @property
    def equivalent(self) -> bool:
        """Whether both one-sided tests reject, so that the interval is inside the margin."""
        return self.p_value < self.alpha


@dataclass(frozen=True, slots=True)
class OneSidedTest:
    """Student's statistic and its one-sided p-value."""

    t: float
    p_value: float


@dataclass(frozen=True, slots=True)
class MeanEquivalence:
    """Whether two means are equivalent; see :func:`paired_means`.

    ``difference`` and ``se`` (standard error) are in the unit of the values. Where the spread of
    the differences is unknown or nothing, all but ``difference`` and ``se`` is null.
    """

    texts: int
    difference: float
    se: float | None
    interval: tuple[float, float] | None
    against_low: OneSidedTest | None
    against_high: OneSidedTest | None
    alpha: float

    @property
    def p_value(self) -> float | None:
        """The larger of the two one-sided p-values; null where undecided."""
        if self.against_low is None or self.against_high is None:
            return None
        return max(self.against_low.p_value, self.against_high.p_value)

    @property
    def equivalent(self) -> bool | None:
        """Whether both one-sided tests reject; null where undecided."""
        return None if self.p_value is None else self.p_value < self.alpha


def paired_rates(counts: PairedCounts, *, margin: float, alpha: float = 0.05) -> BinaryEquivalence:
    r"""Test whether two sides' rates on the same cases differ by less than a margin.

    Parameters
    ----------
    counts
        The paired outcomes.
    margin
        The difference of rates that would matter, as a share: 0.05 is 5 percentage points.
        Strictly between 0 and 1.
    alpha
        Level of each one-sided test, strictly between 0 and ½; the interval has the confidence
        :math:`1 - 2\alpha`.

    Returns
    -------
    BinaryEquivalence
        ``p_low`` belongs to the hypothesis that the difference (reference less candidate) is
        :math:`-\text{margin}` or less, ``p_high`` to that it is the margin or more, both by
        Tango's score test. Full agreement is no proof by itself: 30 of 30 equal answers leave
        p = 0.10 at a margin of 0.05.

    Raises
    ------
    ValueError
        For a margin or level out of range.

    Notes
    -----
    The pairs are assumed independent. The level is asymptotic: summed over all tables at the
    margin, and at its worst over the discordant rates, a level of 5 % comes to 5.3 % with 60
    pairs and 5.8 % with 100 at a margin of 0.1, and to 2.8 % with 40.

    References
    ----------
    Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions
    for the paired-sample design. *Statistics in Medicine* 17, 891-908.

    Examples
    --------
    >>> result = paired_rates(PairedCounts(30, 0, 0, 0), margin=0.05)
    >>> round(result.p_value, 4), result.equivalent
    (0.1045, False)
    """
    if not 0 < margin < 1:
        raise ValueError(f"margin {margin} is not between 0 and 1")
    _check_level(alpha)
    from scipy.stats import norm

    return BinaryEquivalence(
        margin,
        alpha,
        p_low=float(norm.sf(tango_statistic(counts, -margin))),
        p_high=float(norm.cdf(tango_statistic(counts, margin))),
        interval=tango(counts, confidence=1 - 2 * alpha),
    )


def paired_means(
    cand: Sequence[float],
    ref: Sequence[float],
    *,
    low: float,
    high: float,
    alpha: float = 0.05,
) -> MeanEquivalence:
    r"""Test whether the mean difference of paired values lies between two limits.

    Parameters
    ----------
    cand, ref
        One value for each text, in the same order and unit, such as the mean negative
        log-likelihood. At least one; the texts are assumed independent, and the mean of their
        differences nearly normal.
    low, high
        The limits of the mean of :math:`\text{cand} - \text{ref}`, ``low < high``.
    alpha
        Level of each one-sided test, strictly between 0 and ½; the interval has the confidence
        :math:`1 - 2\alpha`.

    Returns
    -------
    MeanEquivalence
        Student's t against each limit with n−1 degrees of freedom. Undecided, with tests and
        interval null, where the spread of the differences cannot be estimated: with a single text
        (``se`` is null), or where all differences are equal up to rounding (``se`` is 0). The
        formula would then give p = 0 for any difference, even from two texts.

    Raises
    ------
    ValueError
        For sequences that are empty, of unequal lengths or not finite, for limits in the wrong
        order, or a level out of range.

    References
    ----------
    Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power
    approach. *Journal of Pharmacokinetics and Biopharmaceutics* 15, 657-680.

    Examples
    --------
    >>> result = paired_means([1.01, 2.00, 3.02, 4.01], [1, 2, 3, 4], low=-0.03, high=0.03)
    >>> round(result.difference, 3), round(result.p_value, 4), result.equivalent
    (0.01, 0.0081, True)
    >>> print(paired_means([1, 2, 3], [1, 2, 3], low=-0.03, high=0.03).equivalent)
    None
    """
    _check_level(alpha)
    if not low < high:
        raise ValueError(f"low {low} is not below high {high}")
    first, second = np.asarray(cand, dtype=np.float64), np.asarray(ref, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or not first.size:
        raise ValueError("cand and ref need the same number of values, at least one")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("a value is not finite")
    differences = first - second
    texts, mean = differences.size, float(differences.mean())
    rounding = 4 * np.finfo(np.float64).eps * max(np.abs(first).max(), np.abs(second).max())
    if np.ptp(differences) <= rounding:
        se = 0.0 if texts > 1 else None
        return MeanEquivalence(texts, mean, se, None, None, None, alpha)
    from statsmodels.stats.weightstats import DescrStatsW

    sample = DescrStatsW(differences)
    _, (t_low, p_low, _), (t_high, p_high, _) = sample.ttost_mean(low, high)
    limits = sample.tconfint_mean(alpha=2 * alpha)
    return MeanEquivalence(
        texts,
        mean,
        se=float(sample.std_mean),
        interval=(float(limits[0]), float(limits[1])),
        against_low=OneSidedTest(float(t_low), float(p_low)),
        against_high=OneSidedTest(float(t_high), float(p_high)),
        alpha=alpha,
    )


def _check_level(alpha: float) -> None:
    if not 0 < alpha < 0.5:
        raise ValueError(f"alpha {alpha} is not between 0 and 0.5")
