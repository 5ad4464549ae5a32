"""A release's sinks as settings to keep with each alarm, and the sinks made out of them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never

from pydantic import ValidationError

from denv.alarms.records import Sink
from denv.alarms.sinks.alertmanager import AlertmanagerSink
from denv.alarms.sinks.apprise import AppriseSink
from denv.alarms.sinks.cloudevents import CloudEventsSink
from denv.alarms.sinks.command import CommandSink
from denv.alarms.sinks.pagerduty import PagerDutySink
from denv.errors import DeliveryError
from denv.records import Json, Secret
from denv.release.alarms import (
    AlarmCommand,
    AlarmEntry,
    Alertmanager,
    Apprise,
    CloudEvents,
    PagerDuty,
)
from denv.release.alarms import Sink as Section

_DIGITS = 8


def settings_of(section: Section) -> dict[str, Json]:
    """Give a sink's settings as strict JSON, as a release writes them: names, never secrets."""
    return {section.kind: section.model_dump(mode="json", by_alias=True)}


def sink_key(settings: Mapping[str, Any]) -> str:
    """Give what deliveries to a sink are kept by, as ``alertmanager-3f2a9c01``."""
    canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    return f"{next(iter(settings))}-{digest[:_DIGITS]}"


def sinks_of(sections: Sequence[Section]) -> dict[str, dict[str, Json]]:
    """Give the settings of a release's sinks by their keys, for an alarm that is raised."""
    settings = [settings_of(section) for section in sections]
    return {sink_key(each): each for each in settings}


def make_sink(
    settings: Mapping[str, Any],
    *,
    clock: Callable[[], float] = time.time,
    hidden: Sequence[Secret] = (),
) -> Sink:
    """Make a sink out of settings as they are kept.

    ``hidden`` are secrets that the process knows beside its environment: a command may print them.

    Raises
    ------
    DeliveryError
        For settings that are none; another version of the program wrote them.
    """
    try:
        section = AlarmEntry.model_validate(settings).sink
    except ValidationError:
        raise DeliveryError("the sink's settings cannot be read by this version") from None
    key = sink_key(settings)
    match section:
        case Alertmanager():
            return AlertmanagerSink(key, section, clock)
        case PagerDuty():
            return PagerDutySink(key, section)
        case CloudEvents():
            return CloudEventsSink(key, section, clock)
        case Apprise():
            return AppriseSink(key, section)
        case AlarmCommand():
            return CommandSink(key, section, tuple(hidden))
        case _:
            assert_never(section)
