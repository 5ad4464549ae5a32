"""Looks at accumulating data: what peeking costs, and how to spend a level over the looks.

The statistics at the looks are those of sums of independent normal steps, so that the chance of
having crossed a bound is a recursion of one-dimensional integrals, here by Gauss and Legendre.
scipy's distribution function of the multivariate normal is too coarse beyond three dimensions.
scipy is imported inside the functions: it costs most of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from math import ceil, e, inf, log1p, pi, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

POINTS = 200
"""Points of each integral at the least; more where the interval is long."""

POINTS_PER_DEVIATION = 3
"""Points for each standard deviation of a step that the interval is long."""

CLOSEST = 1e-3
"""Looks that are closer would take too many points."""

FARTHEST = 38.0
"""A bound that no float's chance is beyond."""


def obrien_fleming_spent(time: float, *, alpha: float) -> float:
    r"""Give the level spent by a time under Lan and DeMets's spending of O'Brien–Fleming type.

    Parameters
    ----------
    time
        The share of the information that is there, from 0 to 1.
    alpha
        The whole level, strictly between 0 and 1.

    Returns
    -------
    float
        :math:`2 - 2\Phi(z_{\alpha/2} / \sqrt t)`: next to nothing early, 0 at 0, all at 1.

    Raises
    ------
    ValueError
        For a time or level out of range.

    References
    ----------
    Lan, K. K. G. and DeMets, D. L. (1983). Discrete sequential boundaries for clinical trials.
    *Biometrika* 70, 659-663.

    Examples
    --------
    >>> [round(obrien_fleming_spent(t, alpha=0.05), 4) for t in (0.25, 0.5, 1)]
    [0.0001, 0.0056, 0.05]
    """
    _check_share(time, alpha)
    if time == 0:
        return 0.0
    from scipy.stats import norm

    return 2 * float(norm.sf(norm.isf(alpha / 2) / sqrt(time)))


def pocock_spent(time: float, *, alpha: float) -> float:
    r"""Give the level spent by a time under Lan and DeMets's spending of Pocock type.

    Parameters
    ----------
    time
        The share of the information that is there, from 0 to 1.
    alpha
        The whole level, strictly between 0 and 1.

    Returns
    -------
    float
        :math:`\alpha \ln(1 + (e - 1) t)`: nearly evenly, 0 at 0, all at 1.

    Raises
    ------
    ValueError
        For a time or level out of range.

    References
    ----------
    Lan and DeMets (1983), as in :func:`obrien_fleming_spent`.

    Examples
    --------
    >>> [round(pocock_spent(t, alpha=0.05), 4) for t in (0.25, 0.5, 1)]
    [0.0179, 0.031, 0.05]
    """
    _check_share(time, alpha)
    return alpha * log1p((e - 1) * time)


def crossing_chance(z: float, *, looks: int) -> float:
    r"""Give the chance that :math:`|Z_k| > z` at any of K equally spaced looks.

    Parameters
    ----------
    z
        The bound at each look, positive.
    looks
        K, at least 1. :math:`Z_k` is the standardised sum of the data up to look k.

    Returns
    -------
    float
        The chance without any effect; at 1.96 and ten looks it is 19 %, not 5.

    Raises
    ------
    ValueError
        For no look or a bound that is not positive.

    References
    ----------
    Armitage, P., McPherson, C. K. and Rowe, B. C. (1969). Repeated significance tests on
    accumulating data. *JRSS A* 132, 235-244.

    Examples
    --------
    >>> round(crossing_chance(1.959964, looks=10), 4)
    0.1934
    """
    if looks < 1:
        raise ValueError("the number of looks is below 1")
    if not 0 < z < inf:
        raise ValueError(f"z {z} is not positive")
    walk, crossed = _Walk(smallest_step=1.0), 0.0
    for look in range(1, looks + 1):
        crossed += _crossing(walk, z, time=look)
        walk = _within(walk, z, time=look)
    return crossed


def pocock_z(looks: int, *, alpha: float = 0.05) -> float:
    r"""Give Pocock's critical value: one bound for all of K equally spaced looks.

    Parameters
    ----------
    looks
        K, at least 1.
    alpha
        The chance of crossing at any look, two-sided, strictly between 0 and 1.

    Returns
    -------
    float
        The z at which :func:`crossing_chance` is alpha.

    Raises
    ------
    ValueError
        For no look or a level out of range.

    References
    ----------
    Pocock, S. J. (1977). Group sequential methods in the design and analysis of clinical trials.
    *Biometrika* 64, 191-199.

    Examples
    --------
    >>> round(pocock_z(5), 3)
    2.413
    """
    if looks < 1:
        raise ValueError("the number of looks is below 1")
    _check_share(1.0, alpha)
    from scipy.optimize import brentq
    from scipy.stats import norm

    one, many = float(norm.isf(alpha / 2)), float(norm.isf(alpha / (2 * looks)))
    if looks == 1:
        return one
    return float(brentq(lambda z: crossing_chance(z, looks=looks) - alpha, one, many, xtol=1e-11))


def critical_values(times: Sequence[float], spent: Sequence[float]) -> tuple[float, ...]:
    r"""Give the two-sided bound of each look that spends the level as planned.

    Parameters
    ----------
    times
        Share of the information at each look, in (0, 1], increasing; at least one.
    spent
        Level spent by each look, in (0, 1), increasing: :func:`obrien_fleming_spent` or
        :func:`pocock_spent` of the times.

    Returns
    -------
    tuple of float
        :math:`z_k` such that, without any effect, the chance of :math:`|Z_j| > z_j` at any look
        :math:`j \le k` is ``spent[k]``.

    Raises
    ------
    ValueError
        For no look, unequal lengths, numbers that are out of range or do not increase, or looks
        closer than a thousandth of the information.

    References
    ----------
    Lan and DeMets (1983), as in :func:`obrien_fleming_spent`.

    Examples
    --------
    >>> times = (0.5, 1.0)
    >>> [round(z, 3) for z in critical_values(times, [pocock_spent(t, alpha=0.05) for t in times])]
    [2.157, 2.201]
    """
    if not times or len(times) != len(spent):
        raise ValueError("times and spent need the same number of looks, at least one")
    steps, levels = _increments("times", times), _increments("spent", spent)
    if not (times[-1] <= 1 and spent[-1] < 1):
        raise ValueError(f"time {times[-1]} or spent {spent[-1]} at the last look is out of range")
    if min(steps) < CLOSEST:
        raise ValueError(f"times are closer than {CLOSEST}")
    walk, bounds = _Walk(smallest_step=sqrt(min(steps))), list[float]()
    for time, level in zip(times, levels, strict=True):
        bounds.append(_bound(walk, time=time, level=level))
        walk = _within(walk, bounds[-1], time=time)
    return tuple(bounds)


@dataclass(frozen=True, slots=True)
class _Walk:
    """Where a normal walk may be that has not crossed: places, and their share of the chance.

    ``smallest_step`` is the smallest standard deviation of a step, which the points must resolve.
    """

    smallest_step: float
    time: float = 0.0
    places: Floats = field(default_factory=lambda: np.zeros(1))
    weights: Floats = field(default_factory=lambda: np.ones(1))


def _crossing(walk: _Walk, z: float, *, time: float) -> float:
    """Give the chance that the walk has not crossed before, and does at ``time``."""
    from scipy.special import ndtr

    deviation, reach = sqrt(time - walk.time), z * sqrt(time)
    above = ndtr((walk.places - reach) / deviation)
    below = ndtr((-walk.places - reach) / deviation)
    return float((above + below) @ walk.weights)


def _within(walk: _Walk, z: float, *, time: float) -> _Walk:
    """Walk on to ``time`` without crossing."""
    deviation, reach = sqrt(time - walk.time), z * sqrt(time)
    size = 2 * reach / walk.smallest_step * POINTS_PER_DEVIATION
    nodes, weights = _gauss_legendre(max(POINTS, 50 * ceil(size / 50)))
    places = nodes * reach
    steps = (places[:, None] - walk.places) / deviation
    density = np.exp(-(steps**2) / 2) @ walk.weights / (deviation * sqrt(2 * pi))
    return _Walk(walk.smallest_step, time, places, weights * reach * density)


@cache
def _gauss_legendre(size: int) -> tuple[Floats, Floats]:
    from scipy.special import roots_legendre

    nodes, weights = roots_legendre(size)
    return nodes, weights


def _bound(walk: _Walk, *, time: float, level: float) -> float:
    from scipy.optimize import brentq

    def excess(z: float) -> float:
        return _crossing(walk, z, time=time) - level

    return float(brentq(excess, 0.0, FARTHEST, xtol=1e-11))


def _increments(name: str, values: Sequence[float]) -> list[float]:
    steps = [after - before for before, after in pairwise((0.0, *values))]
    if not all(step > 0 for step in steps):
        raise ValueError(f"{name} do not increase from above 0")
    return steps


def _check_share(time: float, alpha: float) -> None:
    if not 0 <= time <= 1:
        raise ValueError(f"time {time} is not in [0, 1]")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha} is not between 0 and 1")
