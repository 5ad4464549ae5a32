"""What metrics count over all runs of a stage, without reading a run twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from denv.records import Json


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A run that has ended; one that is gone on with ends again, and then later."""

    run: str
    stage: str
    verdict: str
    finished: float


class Figures(Protocol):
    """Runs that have ended, in short and at length."""

    def ended(self, stages: Collection[str], *, since: float = 0.0) -> list[EndedRun]:
        """Give the runs of some stages that have ended since then, in the order of their ends."""

    def heads(self, runs: Collection[str]) -> Mapping[str, Mapping[str, Json]]:
        """Give the reports' heads of some runs by their ids."""
