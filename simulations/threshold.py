"""Run verdict by a threshold: the exact chance that a stage below it passes.

Without a confidence a threshold has no level: a stage a hair below it passes about every second
time. With one, the chance is at most what the confidence leaves. Each number of cases is judged
by the product's own rule, and the binomial chances of its passes are summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

from scipy.stats import binom

from denv.records import Estimate, Kind, Outcome, Thresholds, Verdict
from denv.verdict import judge
from simulations.edge import last_true
from simulations.row import Row

RULE = "threshold"
THRESHOLDS = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))
CONFIDENCE = Fraction(95, 100)


def verdict(passed: int, cases: int, threshold: Fraction, *, confidence: bool) -> Verdict:
    """Judge a run of one kind."""
    counts = {Outcome.PASS: passed, Outcome.FAIL: cases - passed}
    thresholds = Thresholds({Kind.EXACT: threshold}, confidence=CONFIDENCE if confidence else None)
    estimate = Estimate(cases, counts, None, None)
    return judge({Kind.EXACT: estimate}, thresholds=thresholds).verdict


@cache
def most_failing(cases: int, threshold: Fraction, *, confidence: bool) -> int:
    """Give the most passes at which the verdict is no pass."""

    def falls_short(passed: int) -> bool:
        found = verdict(passed, cases, threshold, confidence=confidence)
        return found is not Verdict.PASS

    return last_true(falls_short, near=int(cases * threshold) + 3, high=cases)


def pass_chance(cases: int, threshold: Fraction, *, rate: float, confidence: bool) -> float:
    """Give the exact chance of a pass."""
    return float(binom.sf(most_failing(cases, threshold, confidence=confidence), cases, rate))


def rows(quick: bool) -> Sequence[Row]:
    """Give the level with confidence, and what a threshold does without."""
    cases = range(20, 501, 40) if quick else range(20, 501)
    levels = [_level(threshold, cases) for threshold in THRESHOLDS]
    plain = [_plain(threshold, size) for threshold in THRESHOLDS for size in (20, 100, 500)]
    return [*levels, *plain]


def _level(threshold: Fraction, cases: range) -> Row:
    chances = {n: pass_chance(n, threshold, rate=float(threshold), confidence=True) for n in cases}
    worst = max(chances, key=chances.__getitem__)
    good = float(1 - (1 - threshold) / 10)
    return Row(
        "level",
        RULE,
        f"pass at {_percent(threshold)} with 95 % confidence, a stage just below it, "
        f"{cases[0]} to {cases[-1]} cases, the worst at {worst}",
        float(1 - CONFIDENCE),
        chances[worst],
        power=pass_chance(cases[-1], threshold, rate=good, confidence=True),
        against=f"a {100 * good:g} % stage passes, {cases[-1]} cases",
    )


def _plain(threshold: Fraction, cases: int) -> Row:
    worse = float(threshold) - 0.05
    return Row(
        "characteristic",
        RULE,
        f"pass at {_percent(threshold)} without confidence, a stage just below it; cases",
        None,
        pass_chance(cases, threshold, rate=float(threshold), confidence=False),
        size=str(cases),
        power=1 - pass_chance(cases, threshold, rate=worse, confidence=False),
        against=f"a {100 * worse:g} % stage fails",
    )


def _percent(threshold: Fraction) -> str:
    return f"{float(100 * threshold):g} %"
