"""Replicas of a stage: the chance that equal ones are found different at 1 %.

Two and three replicas are enumerated: each table has its binomial probability under one common
rate. Many replicas are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from scipy.stats import binom

from denv.stats.contingency import exact_test
from denv.verdict import REPLICA_LEVEL
from simulations.row import Row, generator, share

RULE = "replicas"
RATES = (0.5, 0.8, 0.9, 0.95, 0.99)
GOOD, BAD = 0.95, 0.7


def differ(passed: Sequence[int], cases: int) -> bool:
    """Whether the verdict takes replicas of so many cases each for different ones."""
    table = [(int(one), cases - int(one)) for one in passed]
    return exact_test(table).p_value <= REPLICA_LEVEL


def rows(quick: bool) -> Sequence[Row]:
    """Give the level for several numbers of replicas."""
    exact = ((2, 20),) if quick else ((2, 20), (2, 40), (2, 60), (3, 12), (3, 20))
    drawn = ((8, 30, 100),) if quick else ((8, 30, 1000), (32, 50, 400))
    return [
        *(_enumerated(count, cases) for count, cases in exact),
        *(_drawn(count, cases, runs=runs) for count, cases, runs in drawn),
    ]


def _enumerated(count: int, cases: int) -> Row:
    places = np.arange(cases + 1)
    ordered = {
        passed: differ(passed, cases)
        for passed in product(range(cases + 1), repeat=count)
        if list(passed) == sorted(passed)
    }
    tables = list(product(range(cases + 1), repeat=count))
    rejected = [one for one in tables if ordered[tuple(sorted(one))]]
    where = np.array(rejected).reshape(len(rejected), count)

    def chance(rates: Sequence[float]) -> float:
        pmf = [binom.pmf(places, cases, rate) for rate in rates]
        return float(np.prod([p[where[:, i]] for i, p in enumerate(pmf)], axis=0).sum())

    chances = [chance([rate] * count) for rate in RATES]
    return Row(
        "level",
        RULE,
        f"{count} equal replicas, at the worst pass rate of 50 to 99 %; cases each",
        REPLICA_LEVEL,
        max(chances),
        size=str(cases),
        power=chance([BAD, *[GOOD] * (count - 1)]),
        against=f"one passes {100 * BAD:g} %, the others {100 * GOOD:g} %",
    )


def _drawn(count: int, cases: int, *, runs: int) -> Row:
    setting = f"{count} equal replicas, {cases} cases each, pass rate {100 * GOOD:g} %"
    rng = generator(RULE, setting)
    equal = rng.binomial(cases, GOOD, (runs, count))
    one_bad = rng.binomial(cases, [BAD, *[GOOD] * (count - 1)], (runs // 10, count))
    return Row(
        "level",
        RULE,
        setting,
        REPLICA_LEVEL,
        share(differ(passed, cases) for passed in equal),
        runs=runs,
        power=share(differ(passed, cases) for passed in one_bad),
        against=f"one passes {100 * BAD:g} %, the others {100 * GOOD:g} %",
    )
