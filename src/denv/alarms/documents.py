"""An alarm as its document: its own fields, and what each sink was told of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from denv.alarms.payloads import record, timestamp
from denv.alarms.records import Alarm
from denv.store import DeliveryRecord


def document_of(alarm: Alarm, deliveries: Iterable[DeliveryRecord]) -> dict[str, Any]:
    """Show an alarm with its deliveries as strict JSON."""
    return {
        **record(alarm),
        "deliveries": [
            {
                "sink": each.sink,
                "action": each.action.value,
                "state": each.state.value,
                "attempts": each.attempts,
                "last_error": each.last_error,
                "delivered": None if each.delivered is None else timestamp(each.delivered),
            }
            for each in deliveries
        ],
    }
