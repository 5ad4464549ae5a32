"""Thresholds held against the noise floor: refusals, and failures that outlive one. Exact.

The reference's agreement with itself and the stage's passes are binomial and independent; each
pair of counts is judged by the product's own rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from scipy.stats import binom

from denv.records import Estimate, Kind, Outcome, Thresholds, Verdict
from denv.verdict import Judgement, judge
from simulations.edge import last_true
from simulations.row import Row

RULE = "noise floor"
THRESHOLDS = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))
HELD = Fraction(99, 100)
LEVEL = 0.05


def judged(passed: int, cases: int, threshold: Fraction, *, agree: int, repeated: int) -> Judgement:
    """Judge a run whose reference agrees with itself in ``agree`` of ``repeated`` cases."""
    counts = {Outcome.PASS: passed, Outcome.FAIL: cases - passed}
    return judge(
        {Kind.EXACT: Estimate(cases, counts, None, None)},
        thresholds=Thresholds({Kind.EXACT: threshold}),
        floor={Kind.EXACT: (agree, repeated)},
    )


def refused(found: Judgement) -> bool:
    """Whether the threshold was refused."""
    return "is refused" in found.kinds[Kind.EXACT].reason


@cache
def most_refused(cases: int, threshold: Fraction) -> int:
    """Give the most agreements at which the threshold is refused, -1 where it never is."""

    def is_refused(agree: int) -> bool:
        return refused(judged(cases, cases, threshold, agree=agree, repeated=cases))

    return last_true(is_refused, near=int(cases * threshold) - 5, high=cases)


def most_failing(cases: int, agree: int, *, near: int) -> int:
    """Give the most passes that fail although the threshold is refused, -1 where none do."""

    def fails(passed: int) -> bool:
        found = judged(passed, cases, HELD, agree=agree, repeated=cases)
        return refused(found) and found.verdict is Verdict.FAIL

    return last_true(fails, near=near, high=cases)


def rows(quick: bool) -> Sequence[Row]:
    """Give both levels."""
    cases = range(20, 501, 40) if quick else range(20, 501)
    sizes = (20, 50) if quick else (20, 50, 100, 200)
    return [
        *(_refusal(threshold, cases) for threshold in THRESHOLDS),
        *(_survival(size) for size in sizes),
    ]


def _refusal(threshold: Fraction, cases: range) -> Row:
    chances = {n: float(binom.cdf(most_refused(n, threshold), n, float(threshold))) for n in cases}
    worst, last, lower = max(chances, key=chances.__getitem__), cases[-1], float(threshold) - 0.05
    return Row(
        "level",
        RULE,
        f"{float(100 * threshold):g} % refused, the reference agrees with itself so often, "
        f"{cases[0]} to {last} cases, the worst at {worst}",
        LEVEL,
        chances[worst],
        power=float(binom.cdf(most_refused(last, threshold), last, lower)),
        against=f"refused at an agreement of {100 * lower:g} %, {last} cases",
    )


def _survival(cases: int) -> Row:
    most = [-1]
    for agree in range(1, cases + 1):
        most.append(most_failing(cases, agree, near=most[-1] + 1))
    rates = np.arange(0.5, 0.991, 0.01)
    chances = [_fails(cases, most, agreement=float(p), rate=float(p)) for p in rates]
    return Row(
        "level",
        RULE,
        "fail in spite of a refusal, the stage passes as often as the reference agrees, at the "
        "worst rate from 50 to 99 %; cases",
        LEVEL,
        max(chances),
        size=str(cases),
        power=_fails(cases, most, agreement=0.9, rate=0.6),
        against="60 % pass, 90 % agree",
    )


def _fails(cases: int, most: Sequence[int], *, agreement: float, rate: float) -> float:
    agree = binom.pmf(np.arange(cases + 1), cases, agreement)
    return float(agree @ binom.cdf(np.array(most), cases, rate))
