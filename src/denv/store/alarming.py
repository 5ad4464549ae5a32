"""Alarms and their deliveries, as the store keeps them. Times are Unix seconds, from the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from denv.records import Json


class DeliveryAction(StrEnum):
    """What a sink is told."""

    FIRE = "fire"
    RESOLVE = "resolve"


class DeliveryState(StrEnum):
    """How far a sink was told."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    DROPPED = "dropped"
    """Given up by hand, or the sink is no longer known."""


@dataclass(frozen=True, slots=True)
class Raise:
    """An alarm to be raised; where its identity is open already, that one counts a repeat.

    ``once`` names the occasion: the same occasion again changes nothing, also when the alarm
    was resolved meanwhile. ``sinks`` gives each sink's key its settings, without any secret.
    """

    once: str
    identity: str
    kind: str
    stage: str
    release: str
    summary: str
    at: float
    run: str | None = None
    rollout: str | None = None
    details: Mapping[str, Json] = field(default_factory=dict)
    sinks: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resolve:
    """An identity's open alarm is over; where none is open nothing happens."""

    identity: str
    at: float
    by: str = "denv"


@dataclass(frozen=True, slots=True)
class AlarmRecord:
    """An alarm: open while ``resolved`` is None; ``repeats`` counts the occasions after the first.

    Summary, run and details are those of the latest occasion.
    """

    alarm: str
    identity: str
    kind: str
    stage: str
    release: str
    summary: str
    run: str | None
    rollout: str | None
    details: Mapping[str, Json]
    opened: float
    last: float
    repeats: int = 0
    resolved: float | None = None
    resolved_by: str | None = None


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    """What one sink was told, or is still to be told, of one alarm."""

    alarm: str
    sink: str
    action: DeliveryAction
    state: DeliveryState
    settings: Mapping[str, Json]
    created: float
    attempts: int = 0
    last_error: str | None = None
    next_at: float | None = None
    delivered: float | None = None


class AlarmStore(Protocol):
    """Keeps alarms. Raising and resolving write what each sink is owed in the same transaction."""

    def raise_alarm(self, given: Raise) -> AlarmRecord:
        """Open an alarm, or count a repeat; give it as it now is."""

    def resolve_alarm(self, given: Resolve) -> AlarmRecord | None:
        """Close an identity's open alarm; None where none is open."""

    def get_alarm(self, alarm: str) -> AlarmRecord | None:
        """Give one alarm, or None."""

    def open_alarm(self, identity: str) -> AlarmRecord | None:
        """Give an identity's open alarm, or None."""

    def list_alarms(
        self,
        *,
        only_open: bool = False,
        before: tuple[float, str] | None = None,
        most: int = 100,
    ) -> Sequence[AlarmRecord]:
        """Give the alarms, the newest first.

        ``before`` is when the last one seen was opened, and its id.
        """

    def deliveries(self, alarm: str) -> Sequence[DeliveryRecord]:
        """Give what each sink was told, in the order in which it was to be told."""

    def waiting_deliveries(self, *, due: float | None = None) -> Sequence[DeliveryRecord]:
        """Give what is still to be told, the oldest first; with ``due`` only what is due then."""

    def note_delivery(
        self,
        alarm: str,
        sink: str,
        *,
        action: DeliveryAction,
        state: DeliveryState,
        at: float,
        error: str | None = None,
        next_at: float | None = None,
    ) -> DeliveryRecord:
        """Count an attempt and say how it ended; what was delivered stays delivered."""
