"""Watching a stream for the moment at which it gets worse.

The detectors are immutable: ``feed`` gives the detector with the further outcomes. They go on
after an alarm, and keep when it came first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import exp, inf, isnan, log, log1p

LARGEST_EXPONENT = 709.0
"""Beyond it a statistic is no finite float."""

RISES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95)
"""Rises that are looked for, as shares of the way from the bound to 1."""


@dataclass(frozen=True, slots=True)
class BernoulliCusum:
    r"""Page's cumulative sum for a mismatch rate that rises.

    Parameters
    ----------
    p0, p1
        The rate before and, larger, after the change, strictly between 0 and 1.
    threshold
        h, the sum from which on there is an alarm; positive.
    trials, statistic, alarm_at
        Outcomes so far, the sum, and the number of the outcome that first gave an alarm.

    Raises
    ------
    ValueError
        For rates or a threshold out of range.

    Notes
    -----
    :math:`S_t = \max(0, S_{t-1} + \ell_t)` with :math:`\ell_t = \ln(p_1/p_0)` for a mismatch, else
    :math:`\ln((1-p_1)/(1-p_0))`. Outcomes are assumed independent; without a change the mean time
    to an alarm is then at least :math:`e^h` (Lorden).

    References
    ----------
    Page, E. S. (1954). Continuous inspection schemes. *Biometrika* 41, 100-115. Lorden, G. (1971).
    Procedures for reacting to a change in distribution. *Annals of Mathematical Statistics* 42,
    1897-1908.

    Examples
    --------
    >>> cusum = BernoulliCusum(p0=0.02, p1=0.1, threshold=4.0)
    >>> cusum = cusum.feed([False, True, False, True, True])
    >>> cusum.alarm_at, round(cusum.statistic, 3)
    (5, 4.743)
    """

    p0: float
    p1: float
    threshold: float
    trials: int = 0
    statistic: float = 0.0
    alarm_at: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.p0 < self.p1 < 1:
            raise ValueError(f"p0 {self.p0} and p1 {self.p1} are not 0 < p0 < p1 < 1")
        if not self.threshold > 0:
            raise ValueError(f"threshold {self.threshold} is not positive")

    def feed(self, mismatches: Iterable[bool]) -> BernoulliCusum:
        """Give the detector after further outcomes."""
        worse, better = log(self.p1 / self.p0), log1p(-self.p1) - log1p(-self.p0)
        trials, total, alarm_at = self.trials, self.statistic, self.alarm_at
        for mismatch in mismatches:
            trials += 1
            total = max(0.0, total + (worse if mismatch else better))
            if alarm_at is None and total >= self.threshold:
                alarm_at = trials
        return replace(self, trials=trials, statistic=total, alarm_at=alarm_at)


@dataclass(frozen=True, slots=True)
class ShiryaevRoberts:
    r"""A Shiryaev–Roberts e-detector for a mean of values in [0, 1] that rises above a bound.

    Parameters
    ----------
    bound
        m, what the mean is at most before the change, strictly between 0 and 1.
    bet
        :math:`\lambda`, positive and below :math:`1/m`. The larger, the sooner a large rise is
        seen and the later a small one.
    threshold
        The statistic from which on there is an alarm; above 1. Before a change, the mean time to
        an alarm is at least this.
    count, log_statistic, alarm_at
        Values so far, the statistic's logarithm, and the number of the value that first gave an
        alarm.

    Raises
    ------
    ValueError
        For a parameter or a value out of range.

    Notes
    -----
    :math:`R_t = (R_{t-1} + 1)\, e_t` with :math:`e_t = 1 + \lambda (x_t - m)`. Before the change
    :math:`E[R_t] \le t`, whatever the distribution, wherever the mean of each value, given those
    before, is at most m.

    References
    ----------
    Shin, J., Ramdas, A. and Rinaldo, A. (2024). E-detectors: a nonparametric framework for
    sequential change detection. *New England Journal of Statistics in Data Science* 2, 229-260.

    Examples
    --------
    >>> detector = ShiryaevRoberts(bound=0.02, bet=5.0, threshold=100.0)
    >>> detector = detector.feed([0, 0, 1, 1, 1])
    >>> detector.alarm_at, round(detector.statistic)
    (4, 597)
    """

    bound: float
    bet: float
    threshold: float
    count: int = 0
    log_statistic: float = -inf
    alarm_at: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.bound < 1:
            raise ValueError(f"bound {self.bound} is not between 0 and 1")
        if not 0 < self.bet < 1 / self.bound:
            raise ValueError(f"bet {self.bet} is not between 0 and 1/bound")
        if not self.threshold > 1:
            raise ValueError(f"threshold {self.threshold} is not above 1")

    @property
    def statistic(self) -> float:
        """R; infinite where it is beyond the floats, unlike ``log_statistic``."""
        return exp(self.log_statistic) if self.log_statistic < LARGEST_EXPONENT else inf

    def feed(self, values: Iterable[float]) -> ShiryaevRoberts:
        """Give the detector after further values, each in [0, 1]."""
        count, level, alarm_at = self.count, self.log_statistic, self.alarm_at
        for value in values:
            if not 0 <= value <= 1:
                raise ValueError(f"value {value} is not in [0, 1]")
            count += 1
            level = _log_plus_one(level) + log1p(self.bet * (value - self.bound))
            if alarm_at is None and level >= log(self.threshold):
                alarm_at = count
        return replace(self, count=count, log_statistic=level, alarm_at=alarm_at)


@dataclass(frozen=True, slots=True)
class PooledShiryaevRoberts:
    r"""An e-detector over looks of many cases each, for a share that rises above a bound.

    Parameters
    ----------
    bound
        m, what the share of failures is at most before the change; at least 0 and below 1.
    threshold
        The statistic from which on there is an alarm; above 1. Before a change, the mean number
        of looks to an alarm is at least this.
    looks, log_parts, alarm_at
        Looks so far, the logarithm of each rise's statistic (empty before the first), and the
        number of the look that first gave an alarm.

    Raises
    ------
    ValueError
        For a parameter or a count out of range.

    Notes
    -----
    For each rise :math:`p_j = m + r_j (1 - m)` of :data:`RISES`, :math:`R_t^j = (R_{t-1}^j + 1)
    (p_j/m)^k ((1-p_j)/(1-m))^{n-k}` at a look with k failures among n; the statistic is their
    mean. A mean of likelihood ratios in which each rise is pooled over the looks since any start
    sees a small rise far sooner than one that is taken anew at each look.

    Before the change :math:`E[R_t] \le t` wherever a look's cases, given the looks before, fail
    independently and with a mean chance of at most m: a likelihood ratio is convex and rising in
    k, so that cases that differ in their chances, and cases drawn without replacement, give no
    larger expectation than the binomial (Hoeffding 1956, 1963). A look without cases counts, and
    raises the statistic by no more than 1.

    References
    ----------
    Shin, J., Ramdas, A. and Rinaldo, A. (2024), as in :class:`ShiryaevRoberts`. Hoeffding, W.
    (1956). On the distribution of the number of successes in independent trials. *Annals of
    Mathematical Statistics* 27, 713-721. Hoeffding, W. (1963). Probability inequalities for sums
    of bounded random variables. *JASA* 58, 13-30.

    Examples
    --------
    >>> detector = PooledShiryaevRoberts(bound=0.02, threshold=1000.0)
    >>> for failed in (1, 0, 6, 5):
    ...     detector = detector.look(failed, counted=50)
    >>> detector.alarm_at, round(detector.statistic)
    (4, 4542)
    """

    bound: float
    threshold: float
    looks: int = 0
    log_parts: tuple[float, ...] = ()
    alarm_at: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.bound < 1:
            raise ValueError(f"bound {self.bound} is not from 0 to below 1")
        if not self.threshold > 1:
            raise ValueError(f"threshold {self.threshold} is not above 1")
        if len(self.log_parts) not in {0, len(RISES)} or any(map(isnan, self.log_parts)):
            raise ValueError(f"log_parts are not {len(RISES)} numbers, or none")

    @property
    def log_statistic(self) -> float:
        """The statistic's logarithm: that of the mean of all parts."""
        if not self.log_parts:
            return -inf
        top = max(self.log_parts)
        return top + log(sum(exp(part - top) for part in self.log_parts) / len(self.log_parts))

    @property
    def statistic(self) -> float:
        """R, 0 before the first look; parts beyond the floats are held at the largest."""
        return exp(min(self.log_statistic, LARGEST_EXPONENT))

    def look(self, failed: int, *, counted: int) -> PooledShiryaevRoberts:
        """Give the detector after a look at which ``failed`` of ``counted`` cases failed."""
        if not 0 <= failed <= counted:
            raise ValueError(f"{failed} failures among {counted} cases")
        before = self.log_parts or (-inf,) * len(RISES)
        parts = tuple(
            # Finite, so that the state can be written; a smaller statistic keeps the promise.
            min(
                _log_plus_one(part) + _log_ratio(failed, counted, self.bound, rise),
                LARGEST_EXPONENT,
            )
            for part, rise in zip(before, RISES, strict=True)
        )
        after = replace(self, looks=self.looks + 1, log_parts=parts)
        if self.alarm_at is None and after.log_statistic >= log(self.threshold):
            return replace(after, alarm_at=after.looks)
        return after


def _log_ratio(failed: int, counted: int, bound: float, rise: float) -> float:
    """Give ln of the likelihood of a rise over that of the bound; infinite for what 0 forbids."""
    after = bound + rise * (1 - bound)
    passed = (counted - failed) * (log1p(-after) - log1p(-bound))
    if not failed:
        return passed
    return inf if bound == 0 else passed + failed * log(after / bound)


def _log_plus_one(level: float) -> float:
    """ln(R + 1) from ln R, also where R is beyond the floats."""
    return max(level, 0.0) + log1p(exp(-abs(level)))
