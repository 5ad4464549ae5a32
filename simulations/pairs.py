"""Answers and derivations: the exact chance of a wrong verdict at a drop of exactly the margin.

Each way in which n pairs can fall out has its trinomial probability; those on which the rule says
what is not so are added up, at the worst share of pairs that the stage alone gets right. Limits
are compared with the margin through Tango's statistic, which is the same and can be had of all
tables at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln
from scipy.stats import norm

from denv.instruments.paired.judging import DIFFERENT_TAIL, FAITHFUL_TAIL, MIN_PAIRS
from simulations.row import Row

RULE = "answers, derivations"
ALPHA = 0.05
EACH = ALPHA / 3
"""The level of one of the three looks of ``measure all``."""

MARGINS = (0.02, 0.05, 0.10)
STAGE_ONLY = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.3)
REACH = 7.0
"""Standard deviations that are looked at; what is beyond is less than 1e-10."""

BANK, MOST = 240, 300
CONDITIONS = 2
"""In which answers are asked; either can show a difference."""

Word = Literal["faithful", "different"]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rule:
    """What decides: the margin, and the level of the whole verdict."""

    margin: float
    alpha: float

    def says(self, word: Word, n: int, *, ref_only: Ints, stage_only: Ints) -> Bools:
        """Tell of each table whether the verdict is this."""
        tail = self.alpha * (FAITHFUL_TAIL if word == "faithful" else DIFFERENT_TAIL)
        z = float(norm.isf(tail))
        above, below = (
            statistic(n, ref_only, stage_only, difference=limit)
            for limit in (self.margin, -self.margin)
        )
        if word == "faithful":
            return np.asarray((above < -z) & (below > z) & (n >= MIN_PAIRS))
        return np.asarray((above > z) | (below < -z))


def statistic(n: int, b: Ints, c: Ints, *, difference: float) -> npt.NDArray[np.float64]:
    """Give Tango's statistic of many tables, as ``tango_statistic`` does of one."""
    linear = (2 * n - b + c) * difference - b - c
    spread = difference * (1 - difference)
    root = np.sqrt(np.maximum(0.0, linear * linear + 8 * n * c * spread))
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(linear > 0, 2 * c * spread / (linear + root), (root - linear) / (4 * n))
        found = (b - c - n * difference) / np.sqrt(np.maximum(0.0, n * (2 * q + spread)))
    return np.asarray(np.where(np.isnan(found), 0.0, found))


def chance(rule: Rule, word: Word, n: int, *, drop: float, stage_only: float) -> float:
    """Give the chance of a verdict at a true drop."""

    def said(b: Ints, c: Ints) -> Bools:
        return rule.says(word, n, ref_only=b, stage_only=c)

    return summed(said, n, drop=drop, stage_only=stage_only)


def summed(
    happens: Callable[[Ints, Ints], Bools], n: int, *, drop: float, stage_only: float
) -> float:
    """Give the chance of the tables of n pairs on which something happens.

    It is told of columns of reference-only and rows of stage-only counts at once.
    """
    rates = (stage_only + drop, stage_only)
    b, c = _likely(n, rates[0])[:, None], _likely(n, rates[1])[None, :]
    possible = b + c <= n
    rest = np.where(possible, n - b - c, 0)
    logs = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(rest + 1)
    logs = logs + _log_power(b, rates[0]) + _log_power(c, rates[1])
    logs = logs + _log_power(rest, 1 - sum(rates))
    return float(np.exp(logs)[happens(b, c) & possible].sum())


def _likely(n: int, rate: float) -> Ints:
    spread = REACH * sqrt(n * rate * (1 - rate)) + 3 if rate else 0
    low, high = max(0, int(n * rate - spread)), min(n, int(n * rate + spread) + 1)
    return np.arange(low, high + 1 if rate else 1)


def _log_power(count: Ints, rate: float) -> npt.NDArray[np.float64]:
    if rate <= 0:
        return np.where(count > 0, -np.inf, 0.0)
    return np.asarray(count * np.log(rate))


def worst(rule: Rule, word: Word, n: int) -> float:
    """Give the chance at a drop of the margin, at the worst share that the stage alone gets."""
    return max(
        chance(rule, word, n, drop=rule.margin, stage_only=one)
        for one in STAGE_ONLY
        if 2 * one + rule.margin <= 1
    )


# ---------------------------------------------------------------- rows


def rows(quick: bool) -> Sequence[Row]:
    """Give the level in one condition over all numbers of items, and that of both conditions."""
    sizes = range(20, MOST + 1, 70) if quick else range(20, MOST + 1)
    found = []
    for alpha in (ALPHA, EACH):
        for margin in MARGINS:
            rule = Rule(margin, alpha)
            words: tuple[Word, ...] = ("faithful", "different")
            found += [_scanned(rule, word, sizes) for word in words]
    return [*found, *(_both(Rule(MARGINS[1], alpha)) for alpha in (ALPHA, EACH))]


def _scanned(rule: Rule, word: Word, sizes: range) -> Row:
    chances = {n: worst(rule, word, n) for n in sizes}
    at = max(chances, key=chances.__getitem__)
    return Row(
        "level",
        RULE,
        f"`{word}`, a drop of exactly {100 * rule.margin:g} points, one condition, {sizes[0]} to "
        f"{sizes[-1]} items, the worst at {at}",
        rule.alpha,
        chances[at],
        power=_power(rule, word),
        against=_against(rule, word),
    )


def _power(rule: Rule, word: Word) -> float:
    if word == "faithful":
        return chance(rule, word, MOST, drop=0.0, stage_only=rule.margin / 20)
    return chance(rule, word, BANK, drop=3 * rule.margin, stage_only=0.01)


def _against(rule: Rule, word: Word) -> str:
    if word == "faithful":
        return f"equal rates, {10 * rule.margin:g} % discordant, {MOST} items"
    return f"a drop of {300 * rule.margin:g} points, {BANK} items"


def _both(rule: Rule) -> Row:
    """Both conditions at the margin: at most the sum of their chances, whatever binds them."""
    return Row(
        "level",
        RULE,
        f"`different`, a drop of exactly {100 * rule.margin:g} points in both conditions, "
        f"{BANK} items, at most",
        rule.alpha,
        CONDITIONS * worst(rule, "different", BANK),
        power=_power(rule, "different"),
        against=_against(rule, "different"),
    )
