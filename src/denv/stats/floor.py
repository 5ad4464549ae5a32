"""How an observed difference stands among those that a side shows against itself (A/A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isnan


@dataclass(frozen=True, slots=True)
class FloorTest:
    """The conformal p-value of an observed figure, and the smallest that its runs could give."""

    p_value: float
    least_p_value: float
    runs: int


def conformal_p(observed: float, floor: Sequence[float]) -> FloorTest:
    r"""Test whether a figure is one more draw of the noise floor; large figures are extreme.

    Parameters
    ----------
    observed
        The figure of the comparison under test.
    floor
        The same figure of A/A runs, exchangeable with the observed one if nothing differs.

    Returns
    -------
    FloorTest
        :math:`p = (1 + \#\{a_i \ge x\})/(n+1)`: ties count against the observation, so that the
        level holds for discrete figures too. Without any run p is 1, which rejects nothing.

    Raises
    ------
    ValueError
        For a figure that is not a number.

    References
    ----------
    Phipson, B. and Smyth, G. K. (2010). Permutation p-values should never be zero. *Statistical
    Applications in Genetics and Molecular Biology* 9, 39.

    Examples
    --------
    >>> conformal_p(0.013, [0.010, 0.012, 0.013, 0.009])
    FloorTest(p_value=0.4, least_p_value=0.2, runs=4)
    """
    if isnan(observed) or any(isnan(each) for each in floor):
        raise ValueError("a figure of the noise floor is not a number")
    runs = len(floor)
    as_large = sum(each >= observed for each in floor)
    return FloorTest((1 + as_large) / (runs + 1), 1 / (runs + 1), runs)


def runs_needed(level: float) -> int:
    r"""Give the A/A runs without which no p-value can reach a level: :math:`\lceil 1/a\rceil - 1`.

    The level counts as the decimal that was written, so that 0.05 needs 19 whatever 0.05 is in
    binary.

    Raises
    ------
    ValueError
        For a level that is not above 0 and at most 1.

    Examples
    --------
    >>> runs_needed(0.05), runs_needed(0.01)
    (19, 99)
    """
    if not 0 < level <= 1:
        raise ValueError(f"level {level} is not above 0 and at most 1")
    return ceil(1 / Fraction(repr(float(level)))) - 1
