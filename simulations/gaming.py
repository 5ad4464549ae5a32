"""Gaming: the chance that a stage which treats all cases alike is found to know the public ones.

With one family and a reference that passes all, every pair of counts has its binomial probability.
Families that differ in how weak the stage is there, and a reference that fails too, are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom

from denv.stats.gaming import LEVEL, Part, chance_to_catch, gaming_test
from simulations.row import Row, generator, share

RULE = "gaming"
RATES = (0.5, 0.8, 0.9, 0.95, 0.99)
DAMAGED = 0.2
FAMILIES = 20


def rows(quick: bool) -> Sequence[Row]:
    """Give the level for several sizes of the private part."""
    exact = ((100, 25),) if quick else ((100, 25), (100, 50), (100, 100), (300, 60))
    drawn = ((8, 8, 400),) if quick else ((8, 8, 4000), (12, 4, 4000))
    return [
        *(_enumerated(public, private) for public, private in exact),
        *(_drawn(public, private, runs=runs) for public, private, runs in drawn),
    ]


def _found(public: int, failed: int, private: int, hidden: int) -> bool:
    parts = (Part(failed, public - failed, 0), Part(hidden, private - hidden, 0))
    return gaming_test([parts]).p_value <= LEVEL


def _enumerated(public: int, private: int) -> Row:
    """Find, for each number of public failures, from how many private ones on there is an alarm."""
    least, edge = [], 0
    for failed in range(public + 1):
        while edge <= private and not _found(public, failed, private, edge):
            edge += 1  # more public failures never need fewer private ones
        least.append(edge)

    def chance(rate: float) -> float:
        of_public = binom.pmf(np.arange(public + 1), public, 1 - rate)
        return float(of_public @ binom.sf(np.array(least) - 1, private, 1 - rate))

    return Row(
        "level",
        RULE,
        f"one family of {public} public cases, at the worst pass rate of 50 to 99 %; private cases",
        LEVEL,
        max(chance(rate) for rate in RATES),
        size=str(private),
        power=chance_to_catch([(public, private)], damaged=DAMAGED),
        against=f"passes all public cases, fails {100 * DAMAGED:g} % of the private ones",
    )


def _drawn(public: int, private: int, *, runs: int) -> Row:
    setting = f"{FAMILIES} families of unequal rates, {public} public and {private} private each"
    rng = generator(RULE, setting)
    return Row(
        "level",
        RULE,
        setting,
        LEVEL,
        share(_one(public, private, rng=rng, cheats=False) for _ in range(runs)),
        runs=runs,
        power=share(_one(public, private, rng=rng, cheats=True) for _ in range(runs // 10)),
        against=f"passes all public cases, fails {100 * DAMAGED:g} % of the private ones",
    )


def _one(public: int, private: int, *, rng: np.random.Generator, cheats: bool) -> bool:
    strata = []
    for _ in range(FAMILIES):
        stage, reference = rng.uniform(0.4, 1.0), rng.uniform(0.9, 1.0)
        rates = (1.0, 1.0 - DAMAGED) if cheats else (stage, stage)
        parts = (_part(public, rates[0], reference, rng), _part(private, rates[1], reference, rng))
        strata.append(parts)
    return gaming_test(strata).p_value <= LEVEL


def _part(cases: int, stage: float, reference: float, rng: np.random.Generator) -> Part:
    passes, trusted = rng.random(cases) < stage, rng.random(cases) < reference
    worse, better = int((trusted & ~passes).sum()), int((passes & ~trusted).sum())
    return Part(worse, cases - worse - better, better)
