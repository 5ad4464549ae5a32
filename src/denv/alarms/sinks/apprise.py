"""Slack, mail, Teams and all else that apprise knows; its URL is a secret of the environment."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from denv.alarms import payloads
from denv.alarms.posting import secret_of
from denv.alarms.records import Action, Alarm
from denv.errors import DeliveryError
from denv.records import Secret
from denv.release.alarms import Apprise

MISSING = "apprise is not installed: pip install 'denv-parity[alarms]'"


@dataclass(frozen=True, slots=True)
class AppriseSink:
    """Sends a message when an alarm fires and when it is resolved."""

    key: str
    settings: Apprise

    @property
    def shown(self) -> str:
        """The name of the variable that holds the address."""
        return f"apprise ${self.settings.url_env}"

    @property
    def resend_s(self) -> float | None:
        """Once is enough: people read each message."""
        return None

    async def deliver(self, alarm: Alarm, action: Action) -> None:
        """Send the message; apprise says whether, never why, so that no address is told."""
        url = secret_of(self.settings.url_env)
        try:
            async with asyncio.timeout(self.settings.timeout):
                taken = await asyncio.to_thread(_notify, url, alarm, action)
        except TimeoutError:
            raise DeliveryError(f"no answer in {self.settings.timeout:g} s") from None
        if not taken:
            raise DeliveryError("apprise could not deliver the message")


def _notify(url: Secret, alarm: Alarm, action: Action) -> bool:
    try:
        import apprise  # noqa: PLC0415 - an extra, and half a second
    except ImportError:
        raise DeliveryError(MISSING) from None
    # Its log names addresses with what is secret in them.
    logging.getLogger("apprise").disabled = True
    service = apprise.Apprise()
    if not service.add(url.reveal()):
        raise DeliveryError("apprise does not know the form of the address")
    kind = apprise.NotifyType.FAILURE if action is Action.FIRE else apprise.NotifyType.SUCCESS
    return bool(
        service.notify(
            title=payloads.title(alarm, action),
            body=payloads.text(alarm, action),
            body_format=apprise.NotifyFormat.TEXT,
            notify_type=kind,
        )
    )
