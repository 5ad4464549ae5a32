"""What one side's readings show by themselves, whatever the bank is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from denv.instruments.paired.pairing import Reading
from denv.instruments.paired.shares import Share, share
from denv.records import Json
from denv.stats.truncation import AccuracyBounds, accuracy_bounds

MOST_REASONS = 20
"""Reasons that are listed, the commonest first."""


class Counted(Reading, Protocol):
    """A reading with the word for what became of it, and a line that says more."""

    @property
    def state(self) -> StrEnum:
        """One of the instrument's states."""

    @property
    def reason(self) -> str:
        """Why, where there is more to say."""


@dataclass(frozen=True, slots=True)
class SideCounts:
    """One side's counts.

    ``accuracy`` is a share of all items; ``bounds`` let each open item be wrong or right.
    ``degenerate`` is a share of the usable answers. ``unusable`` holds the reasons why no
    usable answer came, with their counts.
    """

    counts: Mapping[str, int]
    accuracy: Share
    bounds: AccuracyBounds
    degenerate: Share
    unusable: Mapping[str, int]

    @property
    def items(self) -> int:
        """How many there are in all."""
        return sum(self.counts.values())

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON."""
        bounds = self.bounds
        listed = Counter(self.unusable).most_common(MOST_REASONS)
        return {
            "items": self.items,
            **self.counts,
            "unusable_reasons": [{"reason": why, "answers": count} for why, count in listed],
            "accuracy": self.accuracy.document(),
            "accuracy_bounds": {
                "lower": bounds.lower,
                "upper": bounds.upper,
                "complete_case": bounds.complete_case,
            },
            "degenerate_rate": self.degenerate.document(),
        }


def count_side(
    readings: Sequence[Counted], *, states: Iterable[StrEnum], confidence: float
) -> SideCounts:
    """Count one side's readings, one for each item, in the order of ``states``.

    Raises
    ------
    ValueError
        Where there is no item.
    """
    counts = {state.value: 0 for state in states}
    for one in readings:
        counts[one.state.value] += 1
    items = len(readings)
    right = sum(one.right for one in readings)
    open_ = sum(not one.resolved for one in readings)
    usable = sum(one.usable for one in readings)
    return SideCounts(
        counts,
        accuracy=share(right, items, confidence=confidence),
        bounds=accuracy_bounds(right, items - right - open_, truncated=open_),
        degenerate=share(sum(one.degenerate for one in readings), usable, confidence=confidence),
        unusable=Counter(one.reason for one in readings if not one.usable),
    )
