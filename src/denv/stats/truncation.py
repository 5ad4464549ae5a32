"""What cut answers leave open: bounds over everything that they could have been."""

from __future__ import annotations

from dataclasses import dataclass

from denv.stats.paired import mcnemar


@dataclass(frozen=True, slots=True)
class AccuracyBounds:
    """The share of right answers with every cut one wrong, and with every cut one right.

    ``complete_case`` leaves the cut ones out, and is null where nothing else is there.
    """

    lower: float
    upper: float
    complete_case: float | None


@dataclass(frozen=True, slots=True)
class McNemarRange:
    """The smallest and largest exact p-value that the unresolved pairs allow."""

    low: float
    high: float


def accuracy_bounds(correct: int, wrong: int, *, truncated: int) -> AccuracyBounds:
    r"""Bound the accuracy of a side some of whose answers were cut off.

    Parameters
    ----------
    correct, wrong, truncated
        Counts of answers, not negative, at least one in all. A cut answer is neither right nor
        wrong.

    Returns
    -------
    AccuracyBounds
        :math:`c/n` and :math:`(c + t)/n`, which hold whatever the cut answers would have been;
        :math:`c/(c + w)` is right only if being cut says nothing about being right.

    Raises
    ------
    ValueError
        For a negative count or no answer.

    References
    ----------
    Manski, C. F. (1989). Anatomy of the selection problem. *Journal of Human Resources* 24,
    343-360.

    Examples
    --------
    >>> bounds = accuracy_bounds(80, 12, truncated=8)
    >>> bounds.lower, bounds.upper, round(bounds.complete_case, 4)
    (0.8, 0.88, 0.8696)
    """
    if min(correct, wrong, truncated) < 0:
        raise ValueError("a count is negative")
    answers = correct + wrong + truncated
    if not answers:
        raise ValueError("bounds need at least one answer")
    complete = correct / (correct + wrong) if correct + wrong else None
    return AccuracyBounds(correct / answers, (correct + truncated) / answers, complete)


def mcnemar_range(
    ref_only: int,
    cand_only: int,
    *,
    unresolved: int,
    maybe_ref_only: int = 0,
    maybe_cand_only: int = 0,
) -> McNemarRange:
    r"""Give the range of McNemar's exact p-value over all that unresolved pairs could be.

    Parameters
    ----------
    ref_only, cand_only
        Counts of resolved pairs that one side alone got right.
    unresolved
        Pairs that could be discordant either way, or concordant: both answers were cut.
    maybe_ref_only
        Pairs that could be discordant for the reference alone: it was right and the candidate cut,
        or it was cut and the candidate wrong.
    maybe_cand_only
        The same for the candidate.

    Returns
    -------
    McNemarRange
        Both ends are reached by some resolution.

    Raises
    ------
    ValueError
        For a negative count.

    Notes
    -----
    With k the smaller count of n discordant pairs, :math:`P(X \le k)` falls as n grows and rises
    as k and n grow by one. So p is smallest with all that can go to one side there and none to
    the other, for one of the two sides. It is 1 where the counts can be made equal, and else
    largest with all that can go to the smaller side there.

    Examples
    --------
    >>> mcnemar_range(5, 1, unresolved=3)
    McNemarRange(low=0.0390625, high=1.0)
    """
    if min(ref_only, cand_only, unresolved, maybe_ref_only, maybe_cand_only) < 0:
        raise ValueError("a count is negative")
    most_ref = ref_only + maybe_ref_only + unresolved
    most_cand = cand_only + maybe_cand_only + unresolved
    to_ref = mcnemar(most_ref, cand_only).exact_p
    to_cand = mcnemar(ref_only, most_cand).exact_p
    if most_ref < cand_only:
        high = to_ref
    elif most_cand < ref_only:
        high = to_cand
    else:
        high = 1.0
    return McNemarRange(min(to_ref, to_cand), high)
