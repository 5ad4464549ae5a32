"""What a number of cases can show, before any is run.

Three rules of decision are weighed here: a threshold on the pass rate (with or without a
confidence that the lower bound must reach), McNemar's exact test of pairs, and the equivalence of
paired rates. All chances are exact sums over the binomial, for up to a million cases.

The file is long because the rules share their sums, and half of it is what their terms mean. scipy
is imported inside the functions: it costs most of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, log

import numpy as np
import numpy.typing as npt

from denv.stats.proportions import clopper_pearson_lower

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MOST_CASES = 1_000_000
"""No number of cases above this is searched."""

LEAST_SLACK = Fraction(1, 100)
"""A bad stage is at least this much below a threshold, where none is named."""

GOOD = Fraction(99, 100)
"""A good stage has at least this rate, where none is named."""

UNLIKELY = 1e-14
"""Tails of the binomial that sums leave out."""


@dataclass(frozen=True, slots=True)
class CasesNeeded:
    """From how many cases on a threshold tells a ``bad`` stage from a ``good`` one.

    ``first`` is the smallest number at which it does, ``always`` the smallest from which it does
    at every larger number; they differ because a share of n cases is a whole number. None where no
    number up to the limit of the search does.
    """

    first: int | None
    always: int | None
    bad: Fraction
    good: Fraction


def least_passes(cases: int, threshold: Fraction, *, confidence: float | None = None) -> int | None:
    r"""Give the fewest passes of ``cases`` that meet a threshold.

    Parameters
    ----------
    cases
        How many cases are counted, at least 1.
    threshold
        The share that must pass, above 0 and at most 1, as an exact fraction.
    confidence
        If given, Clopper and Pearson's one-sided lower bound must reach the threshold as well.

    Returns
    -------
    int or None
        :math:`\lceil tn \rceil` in whole numbers. With a confidence None where not even n of n
        are enough: below :func:`cases_for_confidence`, and always for a threshold of 1.

    Raises
    ------
    ValueError
        For no case, or a threshold or confidence out of range.

    Examples
    --------
    >>> from fractions import Fraction
    >>> least_passes(300, Fraction("0.95")), least_passes(300, Fraction("0.95"), confidence=0.95)
    (285, 292)
    """
    _check(cases, threshold, confidence)
    share = ceil(threshold * cases)
    if confidence is None:
        return share
    from scipy.stats import binom

    sure = int(binom.isf(1 - confidence, cases, float(threshold))) + 1
    # The bound itself decides, as it does in a verdict, should rounding leave them one apart.
    candidates = range(max(share, sure - 1), min(sure + 1, cases) + 1)
    return next((k for k in candidates if _shown(k, cases, threshold, confidence)), None)


def pass_chance(
    cases: int, rate: float, *, threshold: Fraction, confidence: float | None = None
) -> float:
    r"""Give the chance that a stage of a true rate meets a threshold: :math:`P(X \ge k)`.

    Parameters
    ----------
    cases, threshold, confidence
        As in :func:`least_passes`, which gives k.
    rate
        The true chance that a case passes; cases are taken as independent.

    Returns
    -------
    float
        The upper tail of Binomial(n, rate), which is :math:`I_{rate}(k, n-k+1)`; 0 where no
        number of passes is enough.

    Raises
    ------
    ValueError
        As in :func:`least_passes`, and for a rate outside [0, 1].

    Examples
    --------
    >>> from fractions import Fraction
    >>> round(pass_chance(20, 0.99, threshold=Fraction("0.95")), 8)
    0.98314066
    """
    _check_rates(rate)
    least = least_passes(cases, threshold, confidence=confidence)
    if least is None:
        return 0.0
    # The tail as an incomplete beta function: scipy.stats takes five times as long to import.
    from scipy.special import betainc

    return float(betainc(least, cases - least + 1, rate))


def cases_for_confidence(threshold: Fraction, *, confidence: float) -> int | None:
    r"""Give the fewest cases with which a confidence can be reached: all of them must pass.

    It is the least n with :math:`t^n \le 1 - c`, so :math:`\lceil\ln(1-c)/\ln t\rceil`, and None
    for a threshold of 1, of which no number of passes is proof.

    Raises
    ------
    ValueError
        For a threshold or confidence out of range.

    Examples
    --------
    >>> from fractions import Fraction
    >>> cases_for_confidence(Fraction("0.99"), confidence=0.95)
    299
    """
    _check(1, threshold, confidence)
    if threshold == 1:
        return None
    near = max(1, ceil(log(1 - confidence) / log(threshold)))
    candidates = range(max(1, near - 1), near + 2)
    return next(n for n in candidates if _shown(n, n, threshold, confidence))


def cases_needed(
    threshold: Fraction,
    *,
    bad: Fraction | None = None,
    good: Fraction | None = None,
    confidence: float | None = None,
    bad_passes: float = 0.05,
    good_passes: float = 0.80,
    most: int = MOST_CASES,
) -> CasesNeeded:
    r"""Give the number of cases at which a threshold means what it says.

    It does where a stage whose true rate is ``bad`` passes with a chance of at most
    ``bad_passes``, and one whose true rate is ``good`` with at least ``good_passes``. With fewer
    cases a stage below the threshold passes by luck, or one above it fails by bad luck.

    Parameters
    ----------
    threshold
        The share that must pass, above 0 and at most 1.
    bad
        A rate below the threshold. By default the one that fails twice as often as the threshold
        allows, and at least one point below it: 90 % for 95 %, 98 % for 99 %, 99 % for 100 %.
    good
        A rate above the threshold (for 100 %: 100 %). By default 99 %, or half-way from the
        threshold to 100 % where that is more: 99 % for 95 %, 99.5 % for 99 %.
    confidence
        As in :func:`least_passes`.
    bad_passes, good_passes
        The two chances, strictly between 0 and 1.
    most
        Where the search ends. Chernoff's bound says from which number on both hold for certain,
        so that it seldom goes that far.

    Returns
    -------
    CasesNeeded
        Both numbers by exact binomial tails. ``always`` is None where that certainty lies beyond
        ``most``.

    Raises
    ------
    ValueError
        For rates that are not on their sides of the threshold, chances or a confidence out of
        range, or a confidence together with a threshold of 1.

    References
    ----------
    Chernoff, H. (1952). *Annals of Mathematical Statistics* 23, 493-507, for the bound.

    Examples
    --------
    >>> from fractions import Fraction
    >>> needed = cases_needed(Fraction("0.95"))
    >>> needed.first, needed.always, float(needed.bad), float(needed.good)
    (76, 103, 0.9, 0.99)
    """
    _check(1, threshold, confidence)
    bad = max(Fraction(0), threshold - max(1 - threshold, LEAST_SLACK)) if bad is None else bad
    good = max(GOOD, (1 + threshold) / 2) if good is None else good
    if not (0 <= bad < threshold and (threshold < good <= 1 or threshold == good == 1)):
        raise ValueError("bad must be below the threshold and good above it")
    if not (0 < bad_passes < 1 and 0 < good_passes < 1):
        raise ValueError("bad_passes and good_passes must be between 0 and 1")
    if confidence is not None and threshold == 1:
        raise ValueError("no number of passes shows a threshold of 1 with confidence")
    certain = max(
        _certain(threshold, bad, log(1 / bad_passes)),
        _good_certain(threshold, good, log(1 / (1 - good_passes)), confidence),
    )
    cases = np.arange(1, int(min(certain + 1, most)) + 1)
    holds = _tells(cases, threshold, confidence, (bad, bad_passes), (good, good_passes))
    found, missed = np.flatnonzero(holds), np.flatnonzero(~holds)
    first = int(cases[found[0]]) if found.size else None
    last_miss = int(cases[missed[-1]]) if missed.size else 0
    return CasesNeeded(first, last_miss + 1 if certain <= most else None, bad, good)


def mcnemar_power(
    pairs: int,
    *,
    reference_only: float,
    stage_only: float,
    alpha: float = 0.05,
    mid_p: bool = False,
) -> float:
    r"""Give the chance that McNemar's exact two-sided test of n pairs rejects.

    Parameters
    ----------
    pairs
        All pairs, concordant ones included.
    reference_only, stage_only
        The chance that a pair is right on one side alone.
    alpha
        The level.
    mid_p
        Whether the test is McNemar's mid-p test instead.

    Returns
    -------
    float
        :math:`\sum_m P(M = m)\,P(\text{reject} \mid m)`, unconditional over the number m of
        discordant pairs, which is Binomial(n, the sum of both chances). With equal chances it is
        the test's actual size.

    Raises
    ------
    ValueError
        For no pair, chances outside [0, 1] or that sum to more than 1, or a level that is no share.

    References
    ----------
    Fagerland, M. W., Lydersen, S. and Laake, P. (2013). *BMC Medical Research Methodology* 13, 91.

    Examples
    --------
    >>> round(mcnemar_power(240, reference_only=0.06, stage_only=0.02), 4)
    0.5233
    """
    discordance = _check_pairs(pairs, reference_only, stage_only, alpha)
    if discordance == 0:
        return 0.0
    from scipy.stats import binom

    discordant = _likely(pairs, discordance)
    rarer = binom.ppf(alpha / 2, discordant, 0.5)
    tail = binom.cdf(rarer, discordant, 0.5)
    if mid_p:
        tail -= binom.pmf(rarer, discordant, 0.5) / 2
    # A p-value that equals the level rejects, though rounding puts it just above.
    rarer = np.where(tail <= alpha / 2 * (1 + 1e-12), rarer, rarer - 1)
    share = reference_only / discordance
    rejects = binom.cdf(rarer, discordant, share)
    rejects += binom.sf(discordant - rarer - 1, discordant, share)
    return float((binom.pmf(discordant, pairs, discordance) * rejects).sum())


def paired_equivalence_power(
    pairs: int,
    *,
    reference_only: float,
    stage_only: float,
    margin: float,
    alpha: float = 0.05,
) -> float:
    r"""Give the chance that n pairs show two rates to be equivalent by Tango's score test.

    The rule rejects both :math:`p_r - p_s \ge \delta` and :math:`p_r - p_s \le -\delta` at level
    :math:`\alpha` (TOST): the score interval of coverage :math:`1-2\alpha` is within the margin.

    Parameters
    ----------
    pairs
        All pairs, concordant ones included.
    reference_only, stage_only
        The chance that a pair is right on one side alone.
    margin
        :math:`\delta`, strictly between 0 and 1.
    alpha
        The level of each of the two tests, below one half.

    Returns
    -------
    float
        Unconditional over the trinomial of pairs. Without any discordant pair equivalence is shown
        by :math:`n > z^2(1-\delta)/\delta` pairs alone.

    Raises
    ------
    ValueError
        For no pair, chances outside [0, 1] or that sum to more than 1, or a margin or level out of
        range.

    References
    ----------
    Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for
    the paired-sample design. *Statistics in Medicine* 17, 891-908.

    Examples
    --------
    >>> round(
    ...     paired_equivalence_power(240, reference_only=0.02, stage_only=0.02, margin=0.05), 4
    ... )
    0.9278
    """
    discordance = _check_pairs(pairs, reference_only, stage_only, alpha)
    if not (0 < margin < 1 and alpha < 0.5):
        raise ValueError(f"margin {margin} is not between 0 and 1, or alpha {alpha} not below 0.5")
    from scipy.stats import binom, norm

    critical = float(norm.isf(alpha))
    discordant = _likely(pairs, discordance)

    def below_margin(reference_only_pairs: IntArray) -> npt.NDArray[np.bool_]:
        score = _tango_score(reference_only_pairs, discordant, pairs=pairs, margin=margin)
        return np.asarray(score <= -critical)

    most = _last_true(below_margin, discordant)
    # Swapping the sides turns one test into the other, so m - most is the least that is allowed.
    share = reference_only / discordance if discordance else 0.0
    inside = binom.cdf(most, discordant, share)
    inside -= binom.cdf(discordant - most - 1, discordant, share)
    chances = binom.pmf(discordant, pairs, discordance) * np.maximum(inside, 0.0)
    return min(1.0, float(chances.sum()))


def paired_equivalence_pairs(
    *,
    reference_only: float,
    stage_only: float,
    margin: float,
    alpha: float = 0.05,
    power: float = 0.80,
    most: int = MOST_CASES,
) -> int | None:
    """Give the number of pairs that show equivalence with a given power.

    The number n has the power and n − 1 has not. The power of a discrete test rises in small
    steps up and down, so that a slightly smaller number may have it too; see
    :func:`paired_equivalence_power` for parameters and errors. None where ``most`` pairs are not
    enough, as for a true difference that is not inside the margin.

    Examples
    --------
    >>> paired_equivalence_pairs(reference_only=0.02, stage_only=0.02, margin=0.05)
    176
    """
    if not 0 < power < 1:
        raise ValueError(f"power {power} is not between 0 and 1")

    def enough(pairs: int) -> bool:
        reached = paired_equivalence_power(
            pairs, reference_only=reference_only, stage_only=stage_only, margin=margin, alpha=alpha
        )
        return reached >= power

    low, high = 0, 1
    while not enough(high):
        if high >= most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _shown(passes: int, cases: int, threshold: Fraction, confidence: float) -> bool:
    low = clopper_pearson_lower(passes, cases, confidence=confidence).low
    return low >= float(threshold) and passes >= threshold * cases


def _tells(
    cases: IntArray,
    threshold: Fraction,
    confidence: float | None,
    bad: tuple[Fraction, float],
    good: tuple[Fraction, float],
) -> npt.NDArray[np.bool_]:
    """Say at which numbers of cases both chances are kept."""
    from scipy.stats import binom

    over, under = threshold.numerator, threshold.denominator
    # Python's integers where 64 bits could overflow.
    exact = cases if over * int(cases[-1]) < 2**62 else cases.astype(object)
    least = np.asarray(-(-exact * over // under), dtype=np.int64)
    if confidence is not None:
        sure = binom.isf(1 - confidence, cases, float(threshold)) + 1
        least = np.maximum(least, sure.astype(np.int64))
    bad_passes = binom.sf(least - 1, cases, float(bad[0]))
    good_passes = binom.sf(least - 1, cases, float(good[0]))
    return np.asarray((bad_passes <= bad[1]) & (good_passes >= good[1]))


def _certain(share: Fraction, rate: Fraction, log_odds: float) -> float:
    """From how many cases on a share as far from the rate as this has a chance below exp(-log).

    Chernoff: it is at most exp(-n KL(share, rate)), on the side of the rate that the share is.
    """
    from scipy.special import rel_entr

    p, q = float(share), float(rate)
    information = float(rel_entr(p, q) + rel_entr(1 - p, 1 - q))
    return log_odds / information if information > 0 else inf


def _good_certain(
    threshold: Fraction, good: Fraction, log_odds: float, confidence: float | None
) -> float:
    """From how many cases on a good stage passes with its chance."""
    if threshold == good:
        return 0.0
    if confidence is None:
        return _certain(threshold, good, log_odds)
    # Half-way up, the share is enough for the confidence, and a good stage seldom falls below it.
    halfway = (threshold + good) / 2
    reached = _certain(halfway, threshold, log(1 / (1 - confidence)))
    return max(reached, _certain(halfway, good, log_odds))


def _likely(trials: int, chance: float) -> IntArray:
    """Give the counts of Binomial(trials, chance) that are not beyond all likelihood."""
    from scipy.stats import binom

    low, high = binom.ppf(UNLIKELY, trials, chance), binom.isf(UNLIKELY, trials, chance)
    return np.arange(max(0, int(low)), int(high) + 1)


def _tango_score(
    reference_only: IntArray, discordant: IntArray, *, pairs: int, margin: float
) -> FloatArray:
    """Tango's score statistic of the hypothesis that the difference equals the margin."""
    b, c = reference_only.astype(np.float64), (discordant - reference_only).astype(np.float64)
    linear = -b - c + (2 * pairs - b + c) * margin
    constant = -c * margin * (1 - margin)
    root = np.sqrt(linear**2 - 8 * pairs * constant)
    stage_only = (root - linear) / (4 * pairs)
    variance = pairs * (2 * stage_only + margin * (1 - margin))
    return np.asarray((b - c - pairs * margin) / np.sqrt(variance))


def _last_true(holds: Callable[[IntArray], npt.NDArray[np.bool_]], most: IntArray) -> IntArray:
    """Find, all at once by halving, the last of 0 … most for which a test holds; -1 for none."""
    low, high = np.full_like(most, -1), most.copy()
    while (low < high).any():
        middle = -((-low - high) // 2)
        true = holds(middle)
        low, high = np.where(true, middle, low), np.where(true, high, middle - 1)
    return low


def _check(cases: int, threshold: Fraction, confidence: float | None) -> None:
    if cases < 1:
        raise ValueError("a threshold needs at least one case")
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold {threshold} is not above 0 and at most 1")
    if confidence is not None and not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1")


def _check_rates(*rates: float) -> None:
    for rate in rates:
        if not 0 <= rate <= 1:
            raise ValueError(f"rate {rate} is not between 0 and 1")


def _check_pairs(pairs: int, reference_only: float, stage_only: float, alpha: float) -> float:
    """Check a design of pairs and give the chance that one is discordant."""
    if pairs < 1:
        raise ValueError("a test of pairs needs at least one pair")
    _check_rates(reference_only, stage_only)
    if reference_only + stage_only > 1 + 1e-12:
        raise ValueError("the chances of the two kinds of discordant pairs sum to more than 1")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha} is not between 0 and 1")
    return min(1.0, reference_only + stage_only)
