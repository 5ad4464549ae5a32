"""What is delivered, and where to: an alarm as the store keeps it, and the protocol of a sink."""

from __future__ import annotations

from typing import Protocol

from denv.store.alarming import AlarmRecord, DeliveryAction

Alarm = AlarmRecord
Action = DeliveryAction


class Sink(Protocol):
    """One place that alarms are delivered to. Retries are the caller's."""

    @property
    def key(self) -> str:
        """What deliveries to this sink are kept by: its kind and a digest of its settings."""

    @property
    def shown(self) -> str:
        """What people are told of it; no secret is in it."""

    @property
    def resend_s(self) -> float | None:
        """How often an open alarm is to be fired again, in seconds; None where once is enough."""

    async def deliver(self, alarm: Alarm, action: Action) -> None:
        """Fire or resolve an alarm; the same once more changes nothing that people see.

        Raises
        ------
        DeliveryError
            It was not taken; the reason holds no secret.
        """
