"""Schedules and what became of their slots. Times are Unix seconds, from the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from denv.records import Json
from denv.store.alarming import Raise, Resolve


@dataclass(frozen=True, slots=True)
class ScheduleRecord:
    """A schedule; ``paused`` is the note it was paused with, ``last_slot`` the last one done.

    ``spec`` is when it fires, ``plan`` what it then asks, ``detector`` what the drift detector
    has learned, ``baseline`` the run that it compares with.
    """

    name: str
    created: float
    spec: Mapping[str, Json]
    plan: Mapping[str, Json]
    paused: str | None = None
    baseline: str | None = None
    detector: Mapping[str, Json] = field(default_factory=dict)
    last_slot: float | None = None


@dataclass(frozen=True, slots=True)
class Firing:
    """What became of a slot: ``kind`` is ``full``, ``sentinel``, ``missed`` or ``skipped``."""

    schedule: str
    slot: float
    kind: str
    at: float
    verdict: str | None = None
    run: str | None = None
    document: Mapping[str, Json] = field(default_factory=dict)


class ScheduleStore(Protocol):
    """Keeps schedules and their history."""

    def add_schedule(self, record: ScheduleRecord) -> None:
        """Add a schedule; ``ScheduleExistsError`` where the name is taken by another."""

    def get_schedule(self, name: str) -> ScheduleRecord | None:
        """Give one schedule, or None."""

    def list_schedules(self) -> Sequence[ScheduleRecord]:
        """Give all schedules by name."""

    def pause_schedule(self, name: str, *, note: str | None) -> bool:
        """Pause with a note, or go on with None; False where there is no such schedule."""

    def set_baseline(self, name: str, run: str) -> bool:
        """Compare with another run from now on; False where there is no such schedule."""

    def remove_schedule(self, name: str) -> bool:
        """Remove a schedule; its history stays. False where there is no such schedule."""

    def commit_firing(
        self,
        firing: Firing,
        *,
        detector: Mapping[str, Json] | None = None,
        baseline: str | None = None,
        raised: Sequence[Raise] = (),
        resolved: Sequence[Resolve] = (),
    ) -> bool:
        """Write a firing and all that follows from it at once.

        False, and nothing is changed, where this slot's firing of this kind is there already.
        """

    def history(
        self,
        schedule: str,
        *,
        since: float | None = None,
        before: tuple[float, float, str] | None = None,
        most: int = 1000,
    ) -> Sequence[Firing]:
        """Give a schedule's latest firings, the oldest of them first.

        ``before`` is the slot, the time and the kind of the oldest one seen.
        """
