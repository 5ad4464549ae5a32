r"""Parity looked at again and again while a release bakes, as one test.

Notes
-----
For each gated kind the hypothesis is that the stage fails at most the share
:math:`p_0 = 1 - \text{threshold}` of the suite's cases. A look i counts :math:`x_i` failures among
:math:`n_i` cases and weighs an alternative :math:`p > p_0` by the likelihood ratio

.. math:: L_i(p) = (p/p_0)^{x_i} \left(\frac{1-p}{1-p_0}\right)^{n_i - x_i}.

The evidence pools the looks over all alternatives of a grid, and over all looks k from which on
the stage may have been worse, with weights :math:`w_k = 1/(k(k+1))`, which sum to 1:

.. math:: E_m = \frac{1}{m+1} + \sum_{k \le m} w_k \frac1J \sum_{j=1}^{J} \prod_{i=k}^{m} L_i(p_j).

A stage that turns bad late is found nearly as soon as one that always was: the good looks before
it do not weigh against the later ones, and a late start costs :math:`\ln(k(k+1))` nats.

*Validity.* :math:`L_i` is a convex and rising function of :math:`x_i`. For cases that are drawn
without replacement its mean is at most that for draws with replacement (Hoeffding 1963, theorem
4); for cases whose chances to fail differ it is at most that for equal chances of the same mean
(Hoeffding 1956, theorem 3, and here simply the inequality of the means). So the mean of
:math:`L_i`, given all earlier looks, is at most :math:`(1 + (\bar p - p_0)(p - p_0)/(p_0(1 -
p_0)))^{n_i}`, which is at most 1 wherever :math:`\bar p \le p_0`. A product of such factors that
starts at a fixed look is a supermartingale, and so is a mixture of them with what has not started
kept aside. It ever reaches :math:`K/\alpha` with a chance of at most :math:`\alpha/K` (Ville 1939);
over K kinds that is :math:`\alpha` a rollout, however many looks there are and whenever they stop.

*Assumptions.* Each look draws afresh from the whole suite, whatever earlier looks drew or found,
and how many of its cases count does not depend on whether they pass. Looks may be of different
sizes, and may be the whole suite. Where the threshold is 100 %, :math:`p_0 = 0`: the hypothesis
excludes any failure, and a single one decides.

References
----------
Hoeffding, W. (1956). On the distribution of the number of successes in independent trials.
*Annals of Mathematical Statistics* 27, 713-721. Hoeffding, W. (1963). Probability inequalities
for sums of bounded random variables. *JASA* 58, 13-30. Ville, J. (1939). *Étude critique de la
notion de collectif*. Shin, J., Ramdas, A. and Rinaldo, A. (2024). E-detectors: a nonparametric
framework for sequential change detection. *New England Journal of Statistics in Data Science* 2,
229-260 (mixtures over the time of the change).

``denv.stats.sequential`` has no test of this kind: its beta-binomial mixture grows for rates below
the bound as well, and its betting test cannot weigh looks without replacement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log, log1p

from denv.records import Kind
from denv.rollout.states.tally import Tally

FALSE_ALARMS = 0.01
"""The chance, at most, that a rollout whose release keeps its thresholds is stopped by looks."""

WORSE = (0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.75, 0.95)
"""The alternatives, as shares of the way from the allowed failing share to 1."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What all looks together say of one kind, in nats; from ``needed`` on it is decided."""

    kind: Kind
    failed: int
    counted: int
    looks: int
    allowed: float
    log_e: float
    needed: float

    @property
    def decides(self) -> bool:
        """Whether the stage fails more cases of the kind than its threshold allows."""
        return self.log_e >= self.needed


def weigh(
    looks: Sequence[Sequence[Tally]],
    thresholds: Mapping[Kind, Fraction],
    *,
    alpha: float = FALSE_ALARMS,
) -> tuple[Evidence, ...]:
    """Weigh all looks of a rollout so far, for each gated kind.

    Parameters
    ----------
    looks
        In their order, what each counted; kinds without a threshold are left aside, and a look
        that counted nothing of a kind is no look at it.
    thresholds
        The least pass rate of each gated kind. One of 0 can never be missed.
    alpha
        The chance of a false alarm a rollout, strictly between 0 and 1.

    Returns
    -------
    tuple of Evidence
        One for each kind, in the order of ``thresholds``.

    Raises
    ------
    ValueError
        For a level or a threshold out of range.

    Examples
    --------
    >>> bad = [[Tally(kind=Kind.EXACT, passed=30, failed=20)]]
    >>> weigh(bad, {Kind.EXACT: Fraction(95, 100)})[0].decides
    True
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha} is not between 0 and 1")
    needed = log(len(thresholds) / alpha) if thresholds else inf
    return tuple(_of_kind(looks, kind, 1 - rate, needed) for kind, rate in thresholds.items())


def _of_kind(
    looks: Sequence[Sequence[Tally]], kind: Kind, allowed: Fraction, needed: float
) -> Evidence:
    if not 0 <= allowed <= 1:
        raise ValueError(f"the threshold of {kind} is not between 0 and 1")
    of_look = ([tally for tally in look if tally.kind is kind] for look in looks)
    counts = [(sum(t.failed for t in of), sum(t.counted for t in of)) for of in of_look]
    counts = [(failed, counted) for failed, counted in counts if counted]
    failed, counted = sum(f for f, _ in counts), sum(c for _, c in counts)
    log_e = log_evidence(counts, float(allowed))
    return Evidence(kind, failed, counted, len(counts), float(allowed), log_e, needed)


def log_evidence(counts: Sequence[tuple[int, int]], allowed: float) -> float:
    """Give the logarithm of the evidence of looks, each as (failed, counted).

    It is 0 for no look, infinite for any failure where none is allowed, and 0 where all are.
    """
    if allowed == 1 or not counts:
        return 0.0
    if allowed == 0:
        return inf if any(failed for failed, _ in counts) else 0.0
    started = [_log_pooled(counts, allowed, allowed + (1 - allowed) * share) for share in WORSE]
    return _log_sum((-log(len(counts) + 1), _log_sum(started) - log(len(WORSE))))


def _log_pooled(counts: Sequence[tuple[int, int]], allowed: float, worse: float) -> float:
    """Pool the looks against one alternative, over all looks from which on it may hold."""
    up, down = log(worse / allowed), log1p(-worse) - log1p(-allowed)
    pooled = -inf
    for k, (failed, counted) in enumerate(counts, 1):
        pooled = _log_sum((pooled, -log(k * (k + 1)))) + failed * up + (counted - failed) * down
    return pooled


def _log_sum(logs: Iterable[float]) -> float:
    """Give the logarithm of the sum of exponentials, without overflow."""
    found = tuple(logs)
    top = max(found)
    return top if top in {inf, -inf} else top + log(sum(exp(one - top) for one in found))
