"""Where alarms go: one entry of the release's list names one sink, and no secret itself."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from denv.release.commands import Command
from denv.release.fields import (
    EnvironmentName,
    HeadersFromEnvironment,
    Section,
    SomeTime,
    WebUrl,
)

PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue"


class Alertmanager(Section):
    """An Alertmanager's root, whose API v2 takes the alarm; also written as its URL alone."""

    kind: ClassVar[str] = "alertmanager"

    url: WebUrl
    headers_env: HeadersFromEnvironment = Field(default_factory=dict)
    timeout: SomeTime = 10.0


class PagerDuty(Section):
    """PagerDuty's Events API v2; the environment holds the integration's routing key."""

    kind: ClassVar[str] = "pagerduty"

    routing_key_env: EnvironmentName
    url: WebUrl = PAGERDUTY_URL
    timeout: SomeTime = 10.0


class CloudEvents(Section):
    """A receiver of CloudEvents over HTTP, each signed with the key of ``secret-env``."""

    kind: ClassVar[str] = "cloudevents"

    url: WebUrl
    secret_env: EnvironmentName
    headers_env: HeadersFromEnvironment = Field(default_factory=dict)
    timeout: SomeTime = 10.0


class Apprise(Section):
    """Slack and the rest through apprise, whose URL is a secret and stands in the environment."""

    kind: ClassVar[str] = "apprise"

    url_env: EnvironmentName
    timeout: SomeTime = 30.0


class AlarmCommand(Command):
    """A program that is given the alarm as JSON on its standard input."""

    kind: ClassVar[str] = "command"


Sink: TypeAlias = Alertmanager | PagerDuty | CloudEvents | Apprise | AlarmCommand
"""One place that alarms are delivered to; ``kind`` is the key it is written under."""


def _from_url(value: Any) -> Any:
    return {"url": value} if isinstance(value, str) else value


ShortAlertmanager = Annotated[
    Alertmanager, BeforeValidator(_from_url, json_schema_input_type=WebUrl | Alertmanager)
]


class AlarmEntry(Section):
    """One entry of the list: exactly one key, which says what the sink is."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    alertmanager: ShortAlertmanager | None = None
    pagerduty: PagerDuty | None = None
    cloudevents: CloudEvents | None = None
    apprise: Apprise | None = None
    command: AlarmCommand | None = None

    @classmethod
    def of(cls, sink: Sink) -> AlarmEntry:
        """Give the entry that names a sink."""
        return cls.model_validate({sink.kind: sink})

    @property
    def sink(self) -> Sink:
        """The one sink that the entry names."""
        return next(sink for sink in self._sinks if sink is not None)

    @property
    def _sinks(self) -> tuple[Sink | None, ...]:
        return (self.alertmanager, self.pagerduty, self.cloudevents, self.apprise, self.command)

    @model_validator(mode="after")
    def _exactly_one(self) -> AlarmEntry:
        if sum(sink is not None for sink in self._sinks) != 1:
            raise ValueError(
                "must name one sink: alertmanager, pagerduty, cloudevents, apprise or command"
            )
        return self
