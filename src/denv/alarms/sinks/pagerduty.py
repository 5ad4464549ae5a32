"""PagerDuty, by its Events API v2: the alarm's identity is the key that events are joined by."""

from __future__ import annotations

import json
from dataclasses import dataclass

from denv.alarms import payloads
from denv.alarms.posting import post, secret_of
from denv.alarms.records import Action, Alarm
from denv.release.alarms import PagerDuty


@dataclass(frozen=True, slots=True)
class PagerDutySink:
    """Triggers and resolves; an event that comes twice joins the incident that is there."""

    key: str
    settings: PagerDuty

    @property
    def shown(self) -> str:
        """Its address."""
        return f"pagerduty {self.settings.url}"

    @property
    def resend_s(self) -> float | None:
        """Once is enough: an incident stays open."""
        return None

    async def deliver(self, alarm: Alarm, action: Action) -> None:
        """Send the event; the routing key is in its body alone."""
        key = secret_of(self.settings.routing_key_env)
        body = json.dumps(payloads.pagerduty(alarm, action, routing_key=key.reveal()))
        await post(
            self.settings.url,
            body.encode(),
            timeout_s=self.settings.timeout,
            headers={"Content-Type": "application/json"},
            secrets=(key,),
        )
