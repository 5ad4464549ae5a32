"""What one side's readings show by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from denv.instruments.answers.readings import OPEN, Reading, State
from denv.instruments.paired.shares import Share, share
from denv.instruments.paired.summary import SideCounts, count_side
from denv.records import Json
from denv.stats.auroc import Auroc, auroc

BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
"""Edges of confidence, finer where models say that they are sure; the last bin holds 1 as well."""


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers whose confidence lies from ``low`` to below ``high``, and the right ones' share.

    ``confidence`` is their mean one: a calibrated model is right as often as that.
    """

    low: float
    high: float
    confidence: float | None
    right: Share

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON."""
        return {
            "from": self.low,
            "to": self.high,
            "confidence": self.confidence,
            "right": self.right.document(),
        }


@dataclass(frozen=True, slots=True)
class SideSummary(SideCounts):
    """One side in one condition.

    ``answered_and_wrong`` is a share of all items; ``wrong_of_answered`` is the conditional one,
    which a side can improve by answering less. ``auroc`` is that of confidence to correctness
    over the ``sure`` answers that have one; ``calibration`` sorts these by their confidence.
    """

    answered_and_wrong: Share
    wrong_of_answered: Share
    sure: int
    auroc: Auroc | None
    calibration: tuple[Bin, ...]

    @property
    def open(self) -> int:
        """How many answers are not known: truncated or unusable."""
        return sum(self.counts[state] for state in OPEN)

    def document(self) -> dict[str, Json]:
        """Give the figures as strict JSON."""
        return {
            **SideCounts.document(self),
            "answered_and_wrong": self.answered_and_wrong.document(),
            "wrong_of_answered": self.wrong_of_answered.document(),
            "with_confidence": self.sure,
            "auroc": None if self.auroc is None else _auroc_document(self.auroc),
            "calibration": [one.document() for one in self.calibration],
        }


def summarise(readings: Sequence[Reading], *, confidence: float = 0.95) -> SideSummary:
    """Count one side's readings, one for each item.

    Raises
    ------
    ValueError
        Where there is no item.
    """
    base = count_side(readings, states=State, confidence=confidence)
    right, wrong = base.counts[State.RIGHT], base.counts[State.WRONG]
    sure = [one for one in readings if one.answered and one.confidence is not None]
    return SideSummary(
        base.counts,
        base.accuracy,
        base.bounds,
        base.degenerate,
        base.unusable,
        answered_and_wrong=share(wrong, len(readings), confidence=confidence),
        wrong_of_answered=share(wrong, right + wrong, confidence=confidence),
        sure=len(sure),
        auroc=auroc(
            _logprobs(sure, State.RIGHT), _logprobs(sure, State.WRONG), confidence=confidence
        ),
        calibration=_calibration(sure, confidence=confidence),
    )


def _calibration(sure: Sequence[Reading], *, confidence: float) -> tuple[Bin, ...]:
    known = [(one.confidence.probability, one.right) for one in sure if one.confidence is not None]
    return tuple(
        _bin(
            [one for one in known if low <= one[0] < high or one[0] == high == BINS[-1]],
            (low, high),
            confidence=confidence,
        )
        for low, high in pairwise(BINS)
    )


def _bin(
    held: Sequence[tuple[float, bool]], edges: tuple[float, float], *, confidence: float
) -> Bin:
    mean = sum(value for value, _ in held) / len(held) if held else None
    right = share(sum(right for _, right in held), len(held), confidence=confidence)
    return Bin(*edges, confidence=mean, right=right)


def _logprobs(sure: Iterable[Reading], state: State) -> list[float]:
    """Give the confidences on the log scale, on which none vanishes and the order is the same."""
    return [
        one.confidence.logprob for one in sure if one.state is state and one.confidence is not None
    ]


def _auroc_document(found: Auroc) -> dict[str, Json]:
    return {
        "value": found.value,
        "interval": list(found.interval),
        "method": found.method,
        "right": found.correct,
        "wrong": found.wrong,
    }
