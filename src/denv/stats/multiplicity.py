"""Many tests, many looks, many gates: what they do to the chance of a false alarm.

scipy and statsmodels are imported inside the functions: they cost a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1, log1p
from typing import Literal


@dataclass(frozen=True, slots=True)
class AdjustedPValues:
    """p-values that may each be held against the level that was meant for all, in input order."""

    p_values: tuple[float, ...]
    method: Literal["benjamini-hochberg", "holm"]

    def rejected(self, level: float) -> tuple[bool, ...]:
        """Tell which hypotheses are rejected at ``level``."""
        return tuple(p <= level for p in self.p_values)


def benjamini_hochberg(p_values: Sequence[float]) -> AdjustedPValues:
    r"""Adjust p-values so that the false share of all rejections is held at the level.

    Parameters
    ----------
    p_values
        Shares, in any order; none gives none. Independent or positively dependent.

    Returns
    -------
    AdjustedPValues
        For the i-th smallest of m, :math:`\min_{j \ge i} m\,p_{(j)} / j`, at most 1.

    Raises
    ------
    ValueError
        For a p-value outside [0, 1].

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. *JRSS B* 57,
    289-300.

    Examples
    --------
    >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03]).p_values]
    [0.03, 0.04, 0.04]
    """
    _check(p_values)
    if not p_values:
        return AdjustedPValues((), "benjamini-hochberg")
    from scipy.stats import false_discovery_control

    adjusted = false_discovery_control(list(p_values), method="bh")
    return AdjustedPValues(tuple(float(p) for p in adjusted), "benjamini-hochberg")


def holm(p_values: Sequence[float]) -> AdjustedPValues:
    r"""Adjust p-values so that the chance of any false rejection is held at the level.

    Parameters
    ----------
    p_values
        Shares, in any order and of any dependence; none gives none.

    Returns
    -------
    AdjustedPValues
        For the i-th smallest of m, :math:`\max_{j \le i} (m - j + 1)\,p_{(j)}`, at most 1.

    Raises
    ------
    ValueError
        For a p-value outside [0, 1].

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. *Scandinavian
    Journal of Statistics* 6, 65-70.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03]).p_values]
    [0.03, 0.06, 0.06]
    """
    _check(p_values)
    if not p_values:
        return AdjustedPValues((), "holm")
    from statsmodels.stats.multitest import multipletests

    adjusted = multipletests(list(p_values), method="holm")[1]
    return AdjustedPValues(tuple(float(p) for p in adjusted), "holm")


def family_wise_error(looks: int, *, alpha: float) -> float:
    r"""Give the chance of a false alarm in any of K independent looks at one level each.

    Parameters
    ----------
    looks
        K, at least 1. Looks at accumulating data are not independent: see
        :func:`denv.stats.spending.crossing_chance`.
    alpha
        The level of each look, strictly between 0 and 1.

    Returns
    -------
    float
        :math:`1 - (1 - \alpha)^K`.

    Raises
    ------
    ValueError
        For no look or a level that is not a share.

    Examples
    --------
    >>> round(family_wise_error(12, alpha=0.05), 4)
    0.4596
    """
    _check_looks(looks, alpha)
    return -expm1(looks * log1p(-alpha))


def sidak_level(looks: int, *, alpha: float) -> float:
    r"""Give the level of each of K independent looks that holds the chance of any false alarm.

    Parameters
    ----------
    looks
        K, at least 1.
    alpha
        The chance of any false alarm, strictly between 0 and 1.

    Returns
    -------
    float
        :math:`1 - (1 - \alpha)^{1/K}`, which inverts :func:`family_wise_error`.

    Raises
    ------
    ValueError
        For no look or a level that is not a share.

    References
    ----------
    Šidák, Z. (1967). Rectangular confidence regions for the means of multivariate normal
    distributions. *JASA* 62, 626-633.

    Examples
    --------
    >>> round(sidak_level(12, alpha=0.05), 6)
    0.004265
    """
    _check_looks(looks, alpha)
    return -expm1(log1p(-alpha) / looks)


def all_pass_chance(gates: int, *, false_fail: float) -> float:
    r"""Give the chance that a faithful stage passes all G independent gates.

    Parameters
    ----------
    gates
        G; with none the chance is 1.
    false_fail
        The chance that one gate fails a faithful stage, in [0, 1].

    Returns
    -------
    float
        :math:`(1 - f)^G`.

    Raises
    ------
    ValueError
        For a negative number of gates or a rate that is not a share.

    Examples
    --------
    >>> round(all_pass_chance(12, false_fail=0.05), 4)
    0.5404
    """
    if gates < 0:
        raise ValueError("the number of gates is negative")
    if not 0 <= false_fail <= 1:
        raise ValueError(f"false_fail {false_fail} is not in [0, 1]")
    return float((1 - false_fail) ** gates)


def _check(p_values: Sequence[float]) -> None:
    for p in p_values:
        if not 0 <= p <= 1:
            raise ValueError(f"p-value {p} is not in [0, 1]")


def _check_looks(looks: int, alpha: float) -> None:
    if looks < 1:
        raise ValueError("the number of looks is below 1")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha} is not between 0 and 1")
