"""Alertmanager, by its API v2: fired again while the alarm is open, resolved at its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from denv.alarms import payloads
from denv.alarms.posting import post, secret_headers
from denv.alarms.records import Action, Alarm
from denv.alarms.severity import TEST_KIND
from denv.release.alarms import Alertmanager

RESEND_S = 60.0
"""As Prometheus does; an Alertmanager that lost its data then knows the alert again."""


@dataclass(frozen=True, slots=True)
class AlertmanagerSink:
    """Posts alerts; equal labels make one notification however often they are posted."""

    key: str
    settings: Alertmanager
    clock: Callable[[], float]

    @property
    def shown(self) -> str:
        """Its address."""
        return f"alertmanager {self.settings.url}"

    @property
    def resend_s(self) -> float | None:
        """A minute."""
        return RESEND_S

    async def deliver(self, alarm: Alarm, action: Action) -> None:
        """Post the alert with its end in the future, or now where it is resolved.

        A test is left to end by itself: an alert that is resolved before its group is sent
        is told to nobody.
        """
        if alarm.kind == TEST_KIND and action is Action.RESOLVE:
            return
        headers = secret_headers(self.settings.headers_env)
        body = json.dumps(payloads.alertmanager(alarm, action, now=self.clock()))
        await post(
            f"{self.settings.url}/api/v2/alerts",
            body.encode(),
            timeout_s=self.settings.timeout,
            headers={
                "Content-Type": "application/json",
                **{name: secret.reveal() for name, secret in headers.items()},
            },
            secrets=tuple(headers.values()),
        )
