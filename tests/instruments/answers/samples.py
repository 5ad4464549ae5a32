"""Readings and items, written shortly."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat

from denv.instruments.answers.bank import Condition, Item
from denv.instruments.answers.confidence import Confidence
from denv.instruments.answers.readings import Reading, State
from denv.instruments.answers.scoring import Assessment, assess
from denv.instruments.paired.judging import Settings

LETTERS = {
    "r": State.RIGHT, "w": State.WRONG, "u": State.UNSURE, "a": State.ABSENT,
    "d": State.DEGENERATE, "t": State.TRUNCATED, "x": State.UNUSABLE,
}  # fmt: skip


def reading(letter: str, logprob: float | None = None) -> Reading:
    """Give a reading of the state that a letter stands for."""
    sure = None if logprob is None else Confidence(logprob, 1)
    return Reading(LETTERS[letter], confidence=sure)


def pairs(counts: Mapping[str, int]) -> list[tuple[Reading, Reading]]:
    """Give pairs from counts of two letters, the reference's first: ``{"rw": 3}``."""
    return [
        (reading(letters[0]), reading(letters[1]))
        for letters, count in counts.items()
        for _ in repeat(None, count)
    ]


def numbered(count: int) -> tuple[Item, ...]:
    """Give so many items."""
    return tuple(Item(f"i{n}", "sum", 1, f"What is {n} + 0?", n) for n in range(count))


def assessed(*conditions: Mapping[str, int], settings: Settings | None = None) -> Assessment:
    """Assess pairs that are given by their counts, one mapping for each condition."""
    sides = {}
    size = 0
    for condition, counts in zip(Condition, conditions, strict=False):
        both = pairs(counts)
        size = len(both)
        reference = {f"i{n}": one for n, (one, _) in enumerate(both)}
        stage = {f"i{n}": other for n, (_, other) in enumerate(both)}
        sides[condition] = (reference, stage)
    return assess(numbered(size), sides, settings=settings)
