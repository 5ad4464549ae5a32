"""CloudEvents 1.0 over HTTP in their structured form, signed as Standard Webhooks are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from denv.alarms import payloads
from denv.alarms.posting import post, secret_headers, secret_of
from denv.alarms.records import Action, Alarm
from denv.alarms.signature import signed_headers
from denv.errors import DeliveryError, UsageError
from denv.release.alarms import CloudEvents

CONTENT_TYPE = "application/cloudevents+json; charset=UTF-8"


@dataclass(frozen=True, slots=True)
class CloudEventsSink:
    """Posts one event each for the firing and the resolve; sent again they keep their ids."""

    key: str
    settings: CloudEvents
    clock: Callable[[], float]

    @property
    def shown(self) -> str:
        """Its address."""
        return f"cloudevents {self.settings.url}"

    @property
    def resend_s(self) -> float | None:
        """Once is enough."""
        return None

    async def deliver(self, alarm: Alarm, action: Action) -> None:
        """Post the event; the signature is of the very bytes that are sent."""
        secret = secret_of(self.settings.secret_env)
        headers = secret_headers(self.settings.headers_env)
        event = payloads.cloudevent(alarm, action)
        body = json.dumps(event, ensure_ascii=False).encode()
        try:
            signed = signed_headers(secret, message=event["id"], sent=self.clock(), body=body)
        except UsageError as error:
            raise DeliveryError(f"{self.settings.secret_env}: {error}") from None
        await post(
            self.settings.url,
            body,
            timeout_s=self.settings.timeout,
            headers={
                "Content-Type": CONTENT_TYPE,
                **signed,
                **{name: value.reveal() for name, value in headers.items()},
            },
            secrets=(secret, *headers.values()),
        )
