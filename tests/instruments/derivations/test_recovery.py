"""Synthetic models of known accuracy and truncation, and what the instrument finds of them.

Each model answers every problem of the bank in text, by chance alone; what is measured of these
answers must cover what the model was made with, as often as the intervals state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from denv.instruments.derivations import Item, oracle
from denv.instruments.derivations.instrument import Derivations
from denv.instruments.probes import play
from denv.records import Side
from tests.instruments.derivations.questions import shaken
from tests.instruments.paired.documents import FACTS, answering
from tests.stubs.models import Said, Script, cut, declared, looping

compare = lru_cache(maxsize=None)(oracle.compare)
REPLICATES = 150
UNLIKELY = 1e-3
"""A right interval of 95 % falls short of the bound below once in so many tests."""


@dataclass(frozen=True)
class Model:
    """What a model does with each item, by chance alone.

    It loops in a share ``loops`` of the items, forgets the FINAL line in ``forgets`` and is cut
    off in ``cut`` of those that are left; ``right`` is what its answers would be without that.
    """

    right: float
    loops: float = 0.0
    forgets: float = 0.0
    cut: float = 0.0


@cache
def bank() -> tuple[tuple[Item, str], ...]:
    """Give each item with an answer that the oracle tells from its truth.

    A changed last digit is within the tolerance of some decimals; one more than they are is not.
    """
    return tuple((item, _wrong(item)) for item in Derivations(compare).items())


def _wrong(item: Item) -> str:
    for one in (*shaken(item.truth), f"1 + {item.truth}"):
        if compare(one, item.truth, item.form).result == "different":
            return str(one)
    raise AssertionError(item)


def said(rng: np.random.Generator, model: Model, answer: str) -> Said:
    roll = rng.random()
    if roll < model.loops:
        return looping()
    if roll < model.loops + model.forgets:
        return Said((("So it is clear.", -0.1),))
    if rng.random() < model.cut:
        return cut()
    return declared(answer)


def measured(
    rng: np.random.Generator, reference: Model, stage: Model, *, shared: float
) -> tuple[Mapping[str, Any], float]:
    """Measure two models once; in a share ``shared`` of the items one chance decides for both.

    Also gives the drop that uncut answers would have shown.
    """
    scripts: dict[Side, dict[str, Any]] = {side: {} for side in Side}
    would = []
    for item, wrong in bank():
        one, other = rng.random(2)
        other = one if rng.random() < shared else other
        rights = {
            Side.REFERENCE: bool(one < reference.right),
            Side.STAGE: bool(other < stage.right),
        }
        would.append(rights[Side.REFERENCE] - rights[Side.STAGE])
        for side, model in ((Side.REFERENCE, reference), (Side.STAGE, stage)):
            scripts[side][item.prompt] = said(rng, model, item.truth if rights[side] else wrong)
    return found(scripts), float(np.mean(would))


def found(scripts: Mapping[Side, Script]) -> Mapping[str, Any]:
    return play(Derivations(compare).strand(FACTS), answering(scripts)).body


def covers(interval: list[float], truth: float) -> bool:
    return interval[0] - 1e-12 <= truth <= interval[1] + 1e-12


def least(confidence: float) -> int:
    """Give the fewest hits that a right interval makes but for an unlikely chance."""
    return int(binom.ppf(UNLIKELY, REPLICATES, confidence))


@pytest.mark.slow
def test_recovery():
    """Accuracy, degenerate rate, drop and the rise of loops are covered as stated."""
    rng = np.random.default_rng([20_250, 11])
    reference, stage = Model(0.8), Model(0.7, loops=0.04, forgets=0.05)
    speaks = 1 - stage.loops - stage.forgets
    truths = {
        "accuracy": 0.8,
        "stage accuracy": 0.7 * speaks,
        "degenerate": 0.04,
        "rise of loops": 0.04,
        "drop": 0.8 - 0.7 * speaks,
    }
    hits = dict.fromkeys(truths, 0)
    for _ in range(REPLICATES):
        body, _ = measured(rng, reference, stage, shared=0.6)
        ours = body["sides"]["stage"]
        intervals = {
            "accuracy": body["sides"]["reference"]["accuracy"]["interval"],
            "stage accuracy": ours["accuracy"]["interval"],
            "degenerate": ours["degenerate_rate"]["interval"],
            "rise of loops": body["degenerate_rise"]["interval"],
            "drop": body["drop"]["interval"],
        }
        for name, truth in truths.items():
            hits[name] += covers(intervals[name], truth)
    assert {name: hit for name, hit in hits.items() if hit < least(0.95)} == {}


@pytest.mark.slow
def test_truncation_is_bounded():
    """Bounds always hold what uncut answers would have been, the drop's limits nearly always."""
    rng = np.random.default_rng([20_250, 13])
    reference, stage = Model(0.75, cut=0.05), Model(0.70, cut=0.12)
    hits = 0
    for _ in range(REPLICATES):
        body, would = measured(rng, reference, stage, shared=0.8)
        pairs, items = body["pairs"], len(bank())
        known = pairs["reference_only"] - pairs["stage_only"]
        least_drop = (known - pairs["maybe_stage_only"] - pairs["either_way"]) / items
        most_drop = (known + pairs["maybe_reference_only"] + pairs["either_way"]) / items
        assert least_drop - 1e-12 <= would <= most_drop + 1e-12
        bounds, open_ = (
            body["sides"]["stage"]["accuracy_bounds"],
            body["sides"]["stage"]["truncated"],
        )
        assert bounds["upper"] - bounds["lower"] == pytest.approx(open_ / items)
        hits += covers(body["drop"]["faithful_limits"], 0.05)
    assert hits >= least(0.92)


@pytest.mark.slow
def test_verdicts():
    """The same model is faithful but for its noise, one that lost 20 points is different.

    One whose every fifth answer is cut off is never called either.
    """
    rng = np.random.default_rng([20_250, 17])
    same, worse, short = Model(0.8), Model(0.6), Model(0.8, cut=0.2)
    for stage, right, share in ((same, "faithful", 0.99), (worse, "different", 0.95),
                                (short, "undecided", 1.0)):  # fmt: skip
        verdicts = [measured(rng, same, stage, shared=1.0)[0]["verdict"] for _ in range(40)]
        assert verdicts.count(right) >= share * len(verdicts), (stage, right)
