"""Two sides' right and wrong answers to the same cases: McNemar's tests, the difference of rates.

scipy and statsmodels are imported inside the functions: they cost a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import copysign, inf, sqrt
from typing import Literal

from denv.stats.proportions import wilson

Method = Literal["newcombe-8", "newcombe-10", "tango"]


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """How many cases both sides, the reference only, the candidate only and neither got right.

    At least one case; a negative count is a ``ValueError``.
    """

    both: int
    ref_only: int
    cand_only: int
    neither: int

    def __post_init__(self) -> None:
        if min(self.both, self.ref_only, self.cand_only, self.neither) < 0:
            raise ValueError("a count is negative")
        if self.pairs < 1:
            raise ValueError("a comparison needs at least one pair")

    @property
    def pairs(self) -> int:
        """The number of cases."""
        return self.both + self.ref_only + self.cand_only + self.neither

    @property
    def difference(self) -> float:
        """The reference's rate less the candidate's: positive where the candidate is worse."""
        return (self.ref_only - self.cand_only) / self.pairs


@dataclass(frozen=True, slots=True)
class McNemarTest:
    """Two-sided p-values of equal rates; see :func:`mcnemar`."""

    ref_only: int
    cand_only: int
    exact_p: float
    mid_p: float
    chi2: float | None
    asymptotic_p: float | None


@dataclass(frozen=True, slots=True)
class DifferenceInterval:
    """An interval for the reference's rate less the candidate's; all figures lie in [−1, 1]."""

    difference: float
    low: float
    high: float
    confidence: float
    method: Method


def mcnemar(ref_only: int, cand_only: int) -> McNemarTest:
    r"""Test whether two sides are right equally often, from the cases that only one got right.

    With :math:`b` and :math:`c` such cases, :math:`k = \min(b, c)` and
    :math:`X \sim \mathrm{Bin}(b + c, \tfrac12)`, the exact p-value is
    :math:`\min(1, 2P(X \le k))`, the mid-p-value :math:`2P(X < k) + P(X = k)`, and the asymptotic
    one belongs to :math:`\chi^2_1 = (b - c)^2 / (b + c)`, without continuity correction.

    Parameters
    ----------
    ref_only, cand_only
        Counts of pairs, not negative. Pairs on which the sides agree do not enter.

    Returns
    -------
    McNemarTest
        The exact test never rejects too often; the mid-p test hardly ever does, and has more
        power. Without a discordant pair both p-values are 1, and ``chi2`` and ``asymptotic_p``,
        which would be 0/0, are null.

    Raises
    ------
    ValueError
        For a negative count.

    Notes
    -----
    The pairs are assumed to be independent: answers to one case in several runs are not.

    References
    ----------
    McNemar, Q. (1947). *Psychometrika* 12, 153-157. Fagerland, M. W., Lydersen, S. and Laake, P.
    (2013). The McNemar test for binary matched-pairs data: mid-p and asymptotic are better than
    exact conditional. *BMC Medical Research Methodology* 13, 91.

    Examples
    --------
    >>> test = mcnemar(7, 1)
    >>> round(test.exact_p, 3), round(test.mid_p, 3), round(test.asymptotic_p, 3)
    (0.07, 0.039, 0.034)
    """
    if min(ref_only, cand_only) < 0:
        raise ValueError("a count is negative")
    from scipy.stats import binom
    from statsmodels.stats.contingency_tables import (
        mcnemar as test,
    )

    discordant = ref_only + cand_only
    fewer = min(ref_only, cand_only)
    table = [[0, ref_only], [cand_only, 0]]
    exact_p = float(test(table, exact=True).pvalue)
    below = float(binom.cdf(fewer - 1, discordant, 0.5))
    mid_p = min(1.0, 2 * below + float(binom.pmf(fewer, discordant, 0.5)))
    if not discordant:
        return McNemarTest(ref_only, cand_only, exact_p, mid_p, None, None)
    approximate = test(table, exact=False, correction=False)
    chi2, p = float(approximate.statistic), float(approximate.pvalue)
    return McNemarTest(ref_only, cand_only, exact_p, mid_p, chi2, p)


def newcombe_8(counts: PairedCounts, *, confidence: float = 0.95) -> DifferenceInterval:
    r"""Newcombe's square-and-add interval, method 8: without continuity correction.

    Parameters
    ----------
    counts
        The paired outcomes.
    confidence
        Two-sided coverage, strictly between 0 and 1.

    Returns
    -------
    DifferenceInterval
        With Wilson's limits :math:`l_i, u_i` of each side's rate :math:`p_i`, the lower limit is
        :math:`d - \sqrt{(p_1-l_1)^2 - 2\hat\phi(p_1-l_1)(u_2-p_2) + (u_2-p_2)^2}`, and the upper
        one mirrors it; :math:`\hat\phi = (ad - bc) / \sqrt{(a+b)(c+d)(a+c)(b+d)}`, and 0 where a
        margin is empty. Where the sides agree on every case and are right on half, the interval
        has no width at all: :func:`newcombe_10` and :func:`tango` keep one.

    Raises
    ------
    ValueError
        For a confidence that is not a share.

    References
    ----------
    Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial
    proportions based on paired data. *Statistics in Medicine* 17, 2635-2650, method 8.

    Examples
    --------
    >>> interval = newcombe_8(PairedCounts(200, 6, 4, 30))
    >>> round(interval.low, 4), round(interval.high, 4)
    (-0.0192, 0.0366)
    """
    low, high = _square_and_add(counts, confidence, _association(counts, correction=0.0))
    return DifferenceInterval(counts.difference, low, high, confidence, "newcombe-8")


def newcombe_10(counts: PairedCounts, *, confidence: float = 0.95) -> DifferenceInterval:
    r"""Newcombe's square-and-add interval, method 10: his recommendation.

    Parameters
    ----------
    counts
        The paired outcomes.
    confidence
        Two-sided coverage, strictly between 0 and 1.

    Returns
    -------
    DifferenceInterval
        As :func:`newcombe_8`, but a positive :math:`ad - bc` in :math:`\hat\phi` is lessened by
        :math:`n/2`, to not less than 0.

    Raises
    ------
    ValueError
        For a confidence that is not a share.

    References
    ----------
    Newcombe (1998), method 10, as in :func:`newcombe_8`.

    Examples
    --------
    >>> interval = newcombe_10(PairedCounts(1, 1, 7, 12))
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.507, -0.026)
    """
    correction = counts.pairs / 2
    low, high = _square_and_add(counts, confidence, _association(counts, correction=correction))
    return DifferenceInterval(counts.difference, low, high, confidence, "newcombe-10")


def tango(counts: PairedCounts, *, confidence: float = 0.95) -> DifferenceInterval:
    r"""Tango's score interval: the differences that his score test does not reject.

    Parameters
    ----------
    counts
        The paired outcomes. Only the number of pairs and the two discordant counts matter.
    confidence
        Two-sided coverage, strictly between 0 and 1.

    Returns
    -------
    DifferenceInterval
        The two roots of :math:`|z(\delta)| = z_{\alpha/2}`, see :func:`tango_statistic`. It keeps
        a width in every degenerate case: without a discordant pair the limits are
        :math:`\pm z^2/(n + z^2)`, and where all n pairs are discordant one way they are
        :math:`(n - z^2)/(n + z^2)` and 1.

    Raises
    ------
    ValueError
        For a confidence that is not a share.

    References
    ----------
    Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions
    for the paired-sample design. *Statistics in Medicine* 17, 891-908.

    Examples
    --------
    >>> interval = tango(PairedCounts(1, 1, 7, 12))
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.517, -0.026)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")
    from scipy.stats import norm

    z = float(norm.isf((1 - confidence) / 2))
    mirrored = PairedCounts(counts.both, counts.cand_only, counts.ref_only, counts.neither)
    low, high = -_tango_upper(mirrored, z), _tango_upper(counts, z)
    return DifferenceInterval(counts.difference, low, high, confidence, "tango")


def tango_statistic(counts: PairedCounts, difference: float) -> float:
    r"""Tango's score statistic of the hypothesis that the rates differ by ``difference``.

    Parameters
    ----------
    counts
        The paired outcomes.
    difference
        :math:`\delta`, the reference's rate less the candidate's, in [−1, 1].

    Returns
    -------
    float
        :math:`z(\delta) = (b - c - n\delta) / \sqrt{n(2\hat q + \delta(1 - \delta))}`, standard
        normal under the hypothesis, decreasing in :math:`\delta`. :math:`\hat q`, the most likely
        rate of candidate-only cases under it, is the larger root of
        :math:`2nq^2 + ((2n - b + c)\delta - b - c)q - c\delta(1 - \delta) = 0`. Where the
        variance is 0 it is 0 for no deviation and else infinite.

    Raises
    ------
    ValueError
        For a difference outside [−1, 1].

    References
    ----------
    Tango (1998), as in :func:`tango`.

    Examples
    --------
    >>> round(tango_statistic(PairedCounts(30, 0, 0, 0), -0.05), 4)
    1.2566
    """
    if not -1 <= difference <= 1:
        raise ValueError(f"difference {difference} is not in [-1, 1]")
    deviation = counts.ref_only - counts.cand_only - counts.pairs * difference
    deviate = sqrt(_variance(counts, difference))
    if deviate:
        return deviation / deviate
    return copysign(inf, deviation) if deviation else 0.0


def _association(counts: PairedCounts, *, correction: float) -> float:
    a, b, c, d = counts.both, counts.ref_only, counts.cand_only, counts.neither
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if not margins:
        return 0.0
    product = a * d - b * c
    lessened = max(product - correction, 0.0) if product > 0 else product
    return max(-1.0, min(1.0, lessened / sqrt(margins)))


def _square_and_add(counts: PairedCounts, confidence: float, phi: float) -> tuple[float, float]:
    right_ref, right_cand = counts.both + counts.ref_only, counts.both + counts.cand_only
    ref = wilson(right_ref, counts.pairs, confidence=confidence)
    cand = wilson(right_cand, counts.pairs, confidence=confidence)
    p_ref, p_cand = right_ref / counts.pairs, right_cand / counts.pairs
    below = _joined(p_ref - ref.low, cand.high - p_cand, phi)
    above = _joined(ref.high - p_ref, p_cand - cand.low, phi)
    return counts.difference - below, counts.difference + above


def _joined(one: float, other: float, phi: float) -> float:
    """Give a triangle's third side, in a form in which rounding leaves nothing negative."""
    return sqrt((one - other) ** 2 + 2 * (1 - phi) * one * other)


def _tango_upper(counts: PairedCounts, z: float) -> float:
    n, b, c = counts.pairs, counts.ref_only, counts.cand_only
    # Where the variance vanishes at the estimate, rounding would take the estimate for the root.
    if b + c == 0:
        return z * z / (n + z * z)
    if b == n:
        return 1.0
    if c == n:
        return (z * z - n) / (n + z * z)
    return _root(lambda difference: _short_of(counts, difference, z), counts.difference)


def _short_of(counts: PairedCounts, difference: float, z: float) -> float:
    deviation = counts.ref_only - counts.cand_only - counts.pairs * difference
    return deviation + z * sqrt(_variance(counts, difference))


def _root(function: Callable[[float], float], estimate: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, estimate, 1.0, xtol=1e-13))


def _variance(counts: PairedCounts, difference: float) -> float:
    """Of the discordant counts' difference, at its most likely under the hypothesis."""
    n, b, c = counts.pairs, counts.ref_only, counts.cand_only
    spread = difference * (1 - difference)
    linear = (2 * n - b + c) * difference - b - c
    root = sqrt(max(0.0, linear * linear + 8 * n * c * spread))
    # Of the two forms of the larger root, the one that does not cancel.
    q = 2 * c * spread / (linear + root) if linear > 0 else (root - linear) / (4 * n)
    return max(0.0, n * (2 * q + spread))
