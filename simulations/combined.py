"""Measure all: three looks at a third of the level each, joined by the product's rule.

A stage at every margin at once is called different where any look says so: at most the sum of
the three chances, whatever binds them. It is called faithful where all say so: at most the least
of their chances, and for a stage at one margin alone at most that look's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from denv.instruments.measure_all import LOOKS
from simulations import pairs, tokens
from simulations.row import Row
from simulations.texts import POPULATIONS

RULE = "measure all"
ALPHA = 0.05
TEXTS = 40
DERIVATIONS = 246


def rows(quick: bool) -> Sequence[Row]:
    """Give both verdicts."""
    each, runs = ALPHA / len(LOOKS), 150 if quick else 3000
    rule = pairs.Rule(0.05, each)
    setting = tokens.Setting(POPULATIONS["skewed"], TEXTS, runs, each)
    said = tokens.verdicts(setting, times=1.0, runs=runs)
    far = tokens.verdicts(setting, times=tokens.FAR, runs=max(50, runs // 20))
    near = tokens.verdicts(setting, times=tokens.NEAR, runs=max(50, runs // 20))
    both = pairs.CONDITIONS * pairs.worst(rule, "different", pairs.BANK)
    derivations = pairs.worst(rule, "different", DERIVATIONS)
    items = (pairs.BANK, DERIVATIONS)
    looks = (said.count("faithful") / runs, *(pairs.worst(rule, "faithful", n) for n in items))
    power = near.count("faithful") / len(near)
    for count, conditions in zip(items, (pairs.CONDITIONS, 1), strict=True):
        power *= pairs.chance(rule, "faithful", count, drop=0.0, stage_only=0.005) ** conditions
    return [
        Row(
            "level",
            RULE,
            f"`different`, {TEXTS} texts, {pairs.BANK} and {DERIVATIONS} items, a stage at all "
            "margins, at most",
            ALPHA,
            said.count("different") / runs + both + derivations,
            runs=runs,
            power=far.count("different") / len(far),
            against=f"divergence of {tokens.FAR:g} × its margin alone",
        ),
        Row(
            "level",
            RULE,
            f"`faithful`, {TEXTS} texts, {pairs.BANK} and {DERIVATIONS} items, a stage at the one "
            "margin where it comes easiest, at most",
            ALPHA,
            max(looks),
            runs=runs,
            power=power,
            against="a tenth of the margin, equal rates, 1 % discordant, looks independent",
        ),
    ]
