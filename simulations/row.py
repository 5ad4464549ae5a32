"""One measured chance of a rule: its setting, the level it promises, and what it can show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np
from scipy.stats import binom

Kind = Literal["level", "coverage", "characteristic"]

BOUND = 0.001
"""One-sided chance that a rule which keeps its level is found to exceed it."""


@dataclass(frozen=True, slots=True)
class Row:
    """A chance that was measured.

    ``level`` rows promise that ``measured``, the chance of an error, is at most ``nominal``;
    ``coverage`` rows are of intervals that decide nothing, with the share of them that misses;
    ``characteristic`` rows promise nothing, and their ``nominal`` is None. ``runs`` is None where
    the chance is exact, up to rounding. Rows that differ in ``size`` alone share a line. ``power``
    is the chance to speak up ``against`` a stated alternative.
    """

    kind: Kind
    rule: str
    setting: str
    nominal: float | None
    measured: float
    runs: int | None = None
    size: str = ""
    power: float | None = None
    against: str = ""

    @property
    def most(self) -> float:
        """What a rule that keeps its level is found at, at the most."""
        if self.nominal is None:
            raise ValueError(f"{self.rule}, {self.setting}: no level is promised")
        return self.nominal if self.runs is None else allowed(self.nominal, self.runs)

    @property
    def held(self) -> bool:
        """Whether what was measured is no more than was promised, chance of the draw apart."""
        return self.measured <= self.most + 1e-12


def allowed(nominal: float, runs: int) -> float:
    """Give the share of errors in so many runs that a kept level exceeds once in a thousand."""
    return float(binom.isf(BOUND, runs, nominal)) / runs


def generator(rule: str, setting: str) -> np.random.Generator:
    """Give each setting a stream of its own, the same whatever else is run."""
    return np.random.default_rng([2026, crc32(f"{rule}: {setting}".encode())])


def share(found: Iterable[bool]) -> float:
    """Give the share of runs in which something was found."""
    return float(np.mean(np.fromiter(found, dtype=np.bool_)))


Rule = Callable[[bool], Sequence[Row]]
"""Gives a rule's rows, fewer and quicker ones where it is asked to."""
