"""Looks at parity while a release bakes: false alarms a rollout, and how soon a worse one is found.

A rollout has 30 looks of 50 cases out of a suite of 400. Cases that always fail or always pass are
drawn without replacement; a stage that fails by chance is drawn as a binomial. Each look is
weighed by the product's own rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from denv.records import Kind
from denv.rollout.states.looks import FALSE_ALARMS, weigh
from denv.rollout.states.tally import Tally
from simulations.row import Row, generator, share

RULE = "bake"
LOOKS, CASES, SUITE = 30, 50, 400
GOOD_LOOKS = 5
"""Looks before a stage that turns bad late does."""

THRESHOLDS = (Fraction(90, 100), Fraction(95, 100), Fraction(99, 100))
SIZES = (1, 2, 3, 5, 10)

Draw = Callable[[np.random.Generator, float], Sequence[int]]
"""Gives each look's failures, for the share of cases that fails."""


def rows(quick: bool) -> Sequence[Row]:
    """Give the levels, then how soon 30 and 10 points are found."""
    runs = 60 if quick else 1000
    thresholds = THRESHOLDS[1:2] if quick else THRESHOLDS
    found = [
        *(_level(one, _by_chance, "failures by chance", runs) for one in thresholds),
        *(_level(one, _drawn, "drawn without replacement", runs) for one in thresholds),
        *(_level(one, _whole, "the whole suite each time", 1) for one in thresholds),
        _two_kinds(runs),
        _none_allowed(),
    ]
    for threshold in thresholds:
        for worse in (Fraction(30, 100), Fraction(10, 100)):
            for good in (0, GOOD_LOOKS):
                found += _soon(threshold, worse, good, runs // 5)
    return found


def stopped_at(failures: Sequence[int], threshold: Fraction, *, cases: int = CASES) -> int | None:
    """Give the look, from 1, at which a rollout is stopped; None where it never is."""
    looks: list[tuple[Tally, ...]] = []
    for number, failed in enumerate(failures, 1):
        looks.append((_tally(failed, cases),))
        if weigh(looks, {Kind.EXACT: threshold})[0].decides:
            return number
    return None


def _tally(failed: int, cases: int, kind: Kind = Kind.EXACT) -> Tally:
    return Tally(kind=kind, passed=cases - int(failed), failed=int(failed))


def _by_chance(rng: np.random.Generator, allowed: float) -> Sequence[int]:
    return [int(one) for one in rng.binomial(CASES, allowed, LOOKS)]


def _drawn(rng: np.random.Generator, allowed: float) -> Sequence[int]:
    bad = round(SUITE * allowed)
    return [int(one) for one in rng.hypergeometric(bad, SUITE - bad, CASES, LOOKS)]


def _whole(rng: np.random.Generator, allowed: float) -> Sequence[int]:
    return [round(SUITE * allowed)] * LOOKS


def _level(
    threshold: Fraction,
    draw: Draw,
    how: str,
    runs: int,
) -> Row:
    fixed = draw is _whole
    cases, runs = (SUITE, 1) if fixed else (CASES, runs)
    allowed = float(1 - threshold)
    setting = (
        f"a stage at its threshold of {float(100 * threshold):g} % is stopped at any of {LOOKS} "
        f"looks of {cases}, {how}"
    )
    rng = generator(RULE, setting)
    alarms = share(
        stopped_at(draw(rng, allowed), threshold, cases=cases) is not None for _ in range(runs)
    )
    power = share(
        stopped_at(draw(rng, allowed + 0.1)[:5], threshold, cases=cases) is not None
        for _ in range(max(20, runs // 10))
    )
    return Row(
        "level",
        RULE,
        setting,
        FALSE_ALARMS,
        alarms,
        runs=None if fixed else runs,
        power=power,
        against="10 points below it, within 5 looks",
    )


def _two_kinds(runs: int) -> Row:
    """Look at two kinds at their thresholds, each with half of the level."""
    thresholds = {Kind.EXACT: THRESHOLDS[1], Kind.TOOL_CALLS: THRESHOLDS[2]}
    setting = f"two kinds at their thresholds of 95 and 99 %, any of {LOOKS} looks of {CASES} each"
    rng = generator(RULE, setting)

    def stopped(worse: float, most: int) -> bool:
        looks: list[tuple[Tally, ...]] = []
        for _ in range(most):
            rates = {kind: float(1 - rate) + worse for kind, rate in thresholds.items()}
            looks.append(
                tuple(_tally(rng.binomial(CASES, p), CASES, kind) for kind, p in rates.items())
            )
            if any(one.decides for one in weigh(looks, thresholds)):
                return True
        return False

    alarms = share(stopped(0.0, LOOKS) for _ in range(runs))
    power = share(stopped(0.1, 5) for _ in range(max(20, runs // 10)))
    against = "10 points below both, within 5 looks"
    return Row(
        "level", RULE, setting, FALSE_ALARMS, alarms, runs=runs, power=power, against=against
    )


def _none_allowed() -> Row:
    """Hold a stage that never fails to a threshold of 100 %: one failure decides."""
    threshold = Fraction(1)
    setting = f"a stage that never fails, held to 100 %, any of {LOOKS} looks of {CASES}"
    rng = generator(RULE, setting)
    found = share(
        stopped_at([int(one) for one in rng.binomial(CASES, 0.1, 1)], threshold) is not None
        for _ in range(50)
    )
    alarms = float(stopped_at([0] * LOOKS, threshold) is not None)
    against = "10 % fail, one look"
    return Row("level", RULE, setting, FALSE_ALARMS, alarms, power=found, against=against)


def _soon(threshold: Fraction, worse: Fraction, good: int, runs: int) -> list[Row]:
    """Count the rollouts that are stopped within so many looks from where the stage is worse."""
    percent = f"{float(100 * threshold):g} %"
    since = "from the first look on" if not good else f"after {good} looks at its threshold"
    setting = (
        f"{float(100 * worse):g} points below {percent} {since}, stopped within so many further "
        f"looks of {CASES}"
    )
    rng = generator(RULE, setting)
    allowed = float(1 - threshold)
    at = []
    for _ in range(max(20, runs)):
        before = rng.binomial(CASES, allowed, good)
        after = rng.binomial(CASES, allowed + float(worse), SIZES[-1])
        stopped = stopped_at([int(one) for one in (*before, *after)], threshold)
        at.append(LOOKS + 1 if stopped is None else stopped - good)
    return [
        Row(
            "characteristic",
            RULE,
            setting,
            None,
            share(one <= size for one in at),
            runs=len(at),
            size=str(size),
        )
        for size in SIZES
    ]
