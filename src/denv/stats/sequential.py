r"""Tests that may be looked at after every outcome: Wald's, a mixture's, and those by betting.

They hold their level whenever one stops, which a test for a fixed number of cases does not. The
tests are immutable: ``feed`` gives the test with the further outcomes. An e-value is what a stake
of 1 has become in a game that is fair, or worse, under the hypothesis; it exceeds
:math:`1/\alpha` at any time with a chance of at most :math:`\alpha` (Ville).

The file is long because its four methods are read together, and most of it is their terms.
scipy is imported inside the functions: it costs most of a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log, log1p, sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

LARGEST_EXPONENT = 709.0
"""Beyond it an e-value is no finite float."""

Decision = Literal["H0", "H1", "continue"]


@dataclass(frozen=True, slots=True)
class Sprt:
    r"""Wald's sequential probability ratio test of a mismatch rate.

    Parameters
    ----------
    p0, p1
        The rate under H0 and, larger, under H1, strictly between 0 and 1.
    alpha, beta
        The chances of deciding for H1 under H0 and for H0 under H1 that are aimed at: positive,
        with a sum below 1.
    trials, llr
        Outcomes so far, and their log-likelihood ratio of H1 to H0.

    Raises
    ------
    ValueError
        For rates or chances out of range.

    Notes
    -----
    Decides for H1 once the ratio is at least :math:`\ln((1-\beta)/\alpha)`, for H0 once it is at
    most :math:`\ln(\beta/(1-\alpha))`. Because of the excess over these bounds, the true chances
    :math:`\alpha', \beta'` satisfy :math:`\alpha' \le \alpha/(1-\beta)`,
    :math:`\beta' \le \beta/(1-\alpha)` and :math:`\alpha' + \beta' \le \alpha + \beta`. Outcomes
    are assumed independent.

    References
    ----------
    Wald, A. (1945). Sequential tests of statistical hypotheses. *Annals of Mathematical
    Statistics* 16, 117-186.

    Examples
    --------
    >>> test = Sprt(p0=0.01, p1=0.08, alpha=0.01, beta=0.05)
    >>> test = test.feed([True, False, False, True, False, False, True])
    >>> test.decision, test.trials, round(test.llr, 3)
    ('H1', 7, 5.945)
    """

    p0: float
    p1: float
    alpha: float
    beta: float
    trials: int = 0
    llr: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.p0 < self.p1 < 1:
            raise ValueError(f"p0 {self.p0} and p1 {self.p1} are not 0 < p0 < p1 < 1")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(f"alpha {self.alpha} and beta {self.beta} are not in range")

    @property
    def upper(self) -> float:
        """The log-likelihood ratio from which on H1 is decided for."""
        return log((1 - self.beta) / self.alpha)

    @property
    def lower(self) -> float:
        """The log-likelihood ratio down from which H0 is decided for."""
        return log(self.beta / (1 - self.alpha))

    @property
    def decision(self) -> Decision:
        """What the outcomes so far decide."""
        if self.llr >= self.upper:
            return "H1"
        return "H0" if self.llr <= self.lower else "continue"

    def feed(self, mismatches: Iterable[bool]) -> Sprt:
        """Give the test after further outcomes; a decision is final, and what follows is unread."""
        test = self
        worse, better = log(self.p1 / self.p0), log1p(-self.p1) - log1p(-self.p0)
        outcomes = iter(mismatches)
        while test.decision == "continue" and (mismatch := next(outcomes, None)) is not None:
            step = worse if mismatch else better
            test = replace(test, trials=test.trials + 1, llr=test.llr + step)
        return test


@dataclass(frozen=True, slots=True)
class BetaBinomialTest:
    """The evidence of a count against one rate; see :func:`beta_binomial`.

    ``fixed_n_p`` is the exact p-value of so many successes or more. It is valid only where the
    number of trials was fixed beforehand, and stands here to be compared.
    """

    successes: int
    trials: int
    p0: float
    log_e: float
    fixed_n_p: float

    @property
    def e_value(self) -> float:
        """The e-value; infinite where it is beyond the floats, unlike ``log_e``."""
        return _exp(self.log_e)

    def rejected(self, alpha: float) -> bool:
        """Tell whether the rate is rejected at ``alpha``, at this and any other time."""
        if not 0 < alpha < 1:
            raise ValueError(f"alpha {alpha} is not between 0 and 1")
        return self.log_e >= -log(alpha)


def beta_binomial(successes: int, trials: int, *, p0: float) -> BetaBinomialTest:
    r"""Weigh a count against the hypothesis that its rate is p0, all other rates being as likely.

    Parameters
    ----------
    successes, trials
        Counts, ``0 <= successes <= trials``; at 0 of 0 the e-value is 1.
    p0
        The rate of the hypothesis, strictly between 0 and 1.

    Returns
    -------
    BetaBinomialTest
        The likelihood ratio of a uniform mixture of rates,
        :math:`e = \mathrm{B}(k+1, n-k+1) / (p_0^k (1-p_0)^{n-k})`: a martingale in n under the
        hypothesis. It grows for rates above and below p0 alike.

    Raises
    ------
    ValueError
        For impossible counts or a rate out of range.

    References
    ----------
    Robbins, H. (1970). Statistical methods related to the law of the iterated logarithm. *Annals
    of Mathematical Statistics* 41, 1397-1409. Ville, J. (1939). *Étude critique de la notion de
    collectif*.

    Examples
    --------
    >>> test = beta_binomial(4, 50, p0=0.02)
    >>> round(test.e_value, 4), round(test.fixed_n_p, 4), test.rejected(0.05)
    (1.3478, 0.0178, False)
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if not 0 < p0 < 1:
        raise ValueError(f"p0 {p0} is not between 0 and 1")
    from scipy.special import betaln
    from scipy.stats import binom

    mixture = float(betaln(successes + 1, trials - successes + 1))
    log_e = mixture - successes * log(p0) - (trials - successes) * log1p(-p0)
    fixed_n_p = float(binom.sf(successes - 1, trials, p0))
    return BetaBinomialTest(successes, trials, p0, log_e, fixed_n_p)


@dataclass(frozen=True, slots=True)
class BettingTest:
    r"""A test by betting that the mean of values in [0, 1] is on one side of a bound.

    Parameters
    ----------
    bound
        m, strictly between 0 and 1.
    null
        The hypothesis: ``at-most`` is that the mean is m or less, ``at-least`` that it is m or
        more. Evidence against it lets the capital grow.
    alpha
        The level that the bets are tuned to, strictly between 0 and 1. The test is valid at any
        other as well.
    share
        c, the largest share of the capital that a bet may lose, strictly between 0 and 1.
    count, total, squares, log_capital, log_peak
        What the values so far come to.

    Raises
    ------
    ValueError
        For a parameter or a value out of range.

    Notes
    -----
    The capital is :math:`K_t = \prod_{i \le t} (1 + \lambda_i (x_i - m))` for ``at-most``; for
    ``at-least`` it is that of :math:`1 - x` against :math:`1 - m`. Each bet is settled before its
    value is seen: :math:`\lambda_t = \min(\sqrt{2\ln(1/\alpha) / (\hat\sigma^2_{t-1}\, t \ln(t +
    1))}, c/m)`, with :math:`\hat\mu_t = (\tfrac12 + \sum x_i)/(t + 1)` and
    :math:`\hat\sigma^2_t = (\tfrac14 + \sum (x_i - \hat\mu_i)^2)/(t + 1)`. So K is positive, and
    a supermartingale wherever the mean of each value, given those before, obeys the hypothesis.
    The values need be neither independent nor alike, but their order must not depend on them.

    References
    ----------
    Waudby-Smith, I. and Ramdas, A. (2024). Estimating means of bounded random variables by
    betting. *JRSS B* 86, 1-27, section 4 (one side of the hedged capital process).

    Examples
    --------
    >>> test = BettingTest(bound=0.5, null="at-most").feed([1.0] * 20)
    >>> round(test.e_value), test.rejected
    (3325, True)
    """

    bound: float
    null: Literal["at-most", "at-least"]
    alpha: float = 0.05
    share: float = 0.5
    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    log_capital: float = 0.0
    log_peak: float = 0.0

    def __post_init__(self) -> None:
        for name in ("bound", "alpha", "share"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)} is not between 0 and 1")

    @property
    def e_value(self) -> float:
        """The capital now; infinite where it is beyond the floats, unlike ``log_capital``."""
        return _exp(self.log_capital)

    @property
    def p_value(self) -> float:
        """One over the largest capital so far: valid at any time."""
        return exp(-self.log_peak)

    @property
    def rejected(self) -> bool:
        """Whether the capital has ever reached 1/alpha."""
        return self.log_peak >= -log(self.alpha)

    def feed(self, values: Iterable[float]) -> BettingTest:
        """Give the test after further values, each in [0, 1]."""
        flipped = self.null == "at-least"
        bound = 1 - self.bound if flipped else self.bound
        count, total, squares = self.count, self.total, self.squares
        capital, peak = self.log_capital, self.log_peak
        for value in values:
            _check_value(value)
            x = 1 - value if flipped else value
            bet = min(_bet(count, squares, self.alpha), self.share / bound)
            capital += log1p(bet * (x - bound))
            peak = max(peak, capital)
            count, total = count + 1, total + x
            squares += (x - (0.5 + total) / (count + 1)) ** 2
        return replace(
            self, count=count, total=total, squares=squares, log_capital=capital, log_peak=peak
        )


@dataclass(frozen=True, slots=True)
class ConfidenceSequence:
    """Limits of a mean after each value; all of them hold at once, with ``confidence``.

    Where a ``low`` is above its ``high``, no mean fits all values: it has moved, or the chance
    that the confidence leaves has come true.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    confidence: float


def betting_confidence_sequence(
    values: Sequence[float], *, confidence: float = 0.95, share: float = 0.5
) -> ConfidenceSequence:
    r"""Bound the mean of values in [0, 1] after each of them, by betting.

    Parameters
    ----------
    values
        Shape (n,), in an order that does not depend on them; none gives none.
    confidence
        The chance, strictly between 0 and 1, that all n intervals hold the mean.
    share
        c, the largest share of the capital that a bet may lose, strictly between 0 and 1.

    Returns
    -------
    ConfidenceSequence
        After t values, the m that no test so far has rejected: neither :math:`K^+_s(m)` nor
        :math:`K^-_s(m)` has reached :math:`2/\alpha` for any :math:`s \le t`. These are the
        capitals of :class:`BettingTest` at level :math:`\alpha/2`. :math:`K^+` falls and
        :math:`K^-` rises with m, so that the limits are roots and need no grid.

    Raises
    ------
    ValueError
        For a value, confidence or share out of range.

    Notes
    -----
    The mean of each value, given those before, is assumed to be the same. Work grows as n².

    References
    ----------
    Waudby-Smith and Ramdas (2024), as in :class:`BettingTest`: theorem 3, with their
    :math:`\theta = \tfrac12`.

    Examples
    --------
    >>> sequence = betting_confidence_sequence([1.0] * 40)
    >>> round(sequence.low[9], 2), round(sequence.low[39], 2), sequence.high[39]
    (0.53, 0.84, 1.0)
    """
    for name, number in (("confidence", confidence), ("share", share)):
        if not 0 < number < 1:
            raise ValueError(f"{name} {number} is not between 0 and 1")
    for value in values:
        _check_value(value)
    x = np.asarray(values, dtype=np.float64)
    tail = (1 - confidence) / 2
    low = _lower_limits(x, alpha=tail, share=share)
    high = _lower_limits(1 - x, alpha=tail, share=share)
    return ConfidenceSequence(tuple(low), tuple(1 - limit for limit in high), confidence)


def _lower_limits(x: npt.NDArray[np.float64], *, alpha: float, share: float) -> list[float]:
    from scipy.optimize import brentq

    bets = _bets(x, alpha)
    limits: list[float] = []
    low = 0.0

    def excess(m: float, t: int) -> float:
        largest = share / m if m else inf
        gains = np.minimum(bets[:t], largest) * (x[:t] - m)
        return float(np.log1p(gains).sum()) + log(alpha)

    for t in range(1, x.size + 1):
        if excess(low, t) > 0:
            low = max(low, float(brentq(excess, low, 1.0, args=(t,), xtol=1e-10)))
        limits.append(low)
    return limits


def _bets(x: npt.NDArray[np.float64], alpha: float) -> npt.NDArray[np.float64]:
    """Give the bet on each value, from the values before it."""
    means = (0.5 + np.cumsum(x)) / np.arange(2, x.size + 2)
    squares = np.concatenate(([0.0], np.cumsum((x - means) ** 2)[:-1]))
    return np.array([_bet(t, s, alpha) for t, s in enumerate(squares[: x.size])], dtype=np.float64)


def _bet(count: int, squares: float, alpha: float) -> float:
    variance = (0.25 + squares) / (count + 1)
    time = count + 1
    return sqrt(-2 * log(alpha) / (variance * time * log1p(time)))


def _check_value(value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"value {value} is not in [0, 1]")


def _exp(exponent: float) -> float:
    return exp(exponent) if exponent < LARGEST_EXPONENT else inf
