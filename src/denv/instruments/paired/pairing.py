"""Both sides' readings of the same items, paired, and what their difference decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from denv.records import Json
from denv.stats.paired import PairedCounts, tango


class Reading(Protocol):
    """What became of one item on one side, as far as pairs need it."""

    @property
    def right(self) -> bool:
        """Whether it is known to be right."""

    @property
    def resolved(self) -> bool:
        """Whether it is known what the model answers; else it may be right or not."""

    @property
    def usable(self) -> bool:
        """Whether the server gave an answer at all."""

    @property
    def degenerate(self) -> bool:
        """Whether the answer ends in a loop."""


R = TypeVar("R", bound=Reading)
T = TypeVar("T")

Pair = tuple[R, R]
"""The reference's reading and the stage's."""


@dataclass(frozen=True, slots=True)
class Table:
    """Pairs by which side was right, and the pairs that are open because a side is.

    ``maybe_reference_only`` could still be right for the reference alone, or the same on both
    sides; ``maybe_stage_only`` likewise; ``either_way`` could be anything.
    """

    both: int
    reference_only: int
    stage_only: int
    neither: int
    maybe_reference_only: int = 0
    maybe_stage_only: int = 0
    either_way: int = 0

    @property
    def resolved(self) -> int:
        """Pairs of which both answers are known."""
        return self.both + self.reference_only + self.stage_only + self.neither

    @property
    def open(self) -> int:
        """Pairs of which an answer is not known."""
        return self.maybe_reference_only + self.maybe_stage_only + self.either_way

    def counts(self) -> PairedCounts | None:
        """Give the resolved pairs as the tests take them, None where there are none."""
        if not self.resolved:
            return None
        return PairedCounts(self.both, self.reference_only, self.stage_only, self.neither)

    def worst(self) -> PairedCounts:
        """Resolve every open pair to the stage's disadvantage."""
        more = self.maybe_reference_only + self.either_way
        return PairedCounts(
            self.both, self.reference_only + more, self.stage_only,
            self.neither + self.maybe_stage_only,
        )  # fmt: skip

    def best(self) -> PairedCounts:
        """Resolve every open pair to the stage's advantage."""
        more = self.maybe_stage_only + self.either_way
        return PairedCounts(
            self.both, self.reference_only, self.stage_only + more,
            self.neither + self.maybe_reference_only,
        )  # fmt: skip

    def document(self) -> dict[str, Json]:
        """Give the counts as strict JSON."""
        return {
            "both": self.both,
            "reference_only": self.reference_only,
            "stage_only": self.stage_only,
            "neither": self.neither,
            "maybe_reference_only": self.maybe_reference_only,
            "maybe_stage_only": self.maybe_stage_only,
            "either_way": self.either_way,
            "open": self.open,
        }


@dataclass(frozen=True, slots=True)
class Change:
    """How much more often something happens on the stage, with Tango's interval.

    None where there is no pair to count.
    """

    pairs: int
    value: float | None
    interval: tuple[float, float] | None

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON."""
        interval = None if self.interval is None else list(self.interval)
        return {"pairs": self.pairs, "value": self.value, "interval": interval}


def tabulate(pairs: Iterable[Pair[R]]) -> Table:
    """Sort pairs by which side was right; all that is resolved and not right counts as not right.

    An item is never left out: where a side is truncated or unusable its pair is counted among
    the open ones, by what the other side's answer still allows.
    """
    names = [_cell(reference, stage) for reference, stage in pairs]
    return Table(**{name: names.count(name) for name in Table.__dataclass_fields__})


def _cell(reference: Reading, stage: Reading) -> str:
    ours, theirs = _right(stage), _right(reference)
    if ours is None and theirs is None:
        return "either_way"
    if ours is None:
        return "maybe_reference_only" if theirs else "maybe_stage_only"
    if theirs is None:
        return "maybe_stage_only" if ours else "maybe_reference_only"
    if ours is theirs:
        return "both" if ours else "neither"
    return "stage_only" if ours else "reference_only"


def _right(reading: Reading) -> bool | None:
    return reading.right if reading.resolved else None


def find_rise(
    pairs: Sequence[tuple[T, T]],
    happens: Callable[[T], bool],
    *,
    counted: Callable[[T], bool],
    confidence: float,
) -> Change:
    """Compare how often something happens, over the pairs of which both readings are counted."""
    kept = [(one, other) for one, other in pairs if counted(one) and counted(other)]
    if not kept:
        return Change(0, None, None)
    cells = [(happens(reference), happens(stage)) for reference, stage in kept]
    counts = PairedCounts(
        both=cells.count((True, True)),
        ref_only=cells.count((False, True)),  # the stage's rise is the drop with sides swapped
        cand_only=cells.count((True, False)),
        neither=cells.count((False, False)),
    )
    found = tango(counts, confidence=confidence)
    return Change(len(kept), found.difference, (found.low, found.high))
