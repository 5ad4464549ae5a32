"""What each sink is sent of an alarm: pure, one function a form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from denv.alarms.records import Action, Alarm
from denv.alarms.severity import TEST_KIND, severity_of

SCHEMA = "denv.alarm/1"
PAGERDUTY_SUMMARY = 1024
"""PagerDuty refuses longer summaries."""

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_]")
"""Alertmanager refuses an alert whose annotations have other characters in their names."""

HELD_S = 24 * 3600.0
"""A fired alert ends by itself so long after it was sent last, should nothing ever resolve it."""

TEST_HELD_S = 300.0
"""A test's ends by itself, later than a route usually waits for a group to gather."""


def document(alarm: Alarm, action: Action) -> dict[str, Any]:
    """Give an alarm as ``denv.alarm/1``: for commands, and the data of a CloudEvent."""
    return {
        "schema": SCHEMA,
        "action": action.value,
        "test": alarm.kind == TEST_KIND,
        **record(alarm),
    }


def record(alarm: Alarm) -> dict[str, Any]:
    """Give an alarm's own fields as strict JSON, as every document shows them."""
    return {
        "alarm": alarm.alarm,
        "identity": alarm.identity,
        "kind": alarm.kind,
        "severity": severity_of(alarm.kind),
        "stage": alarm.stage,
        "release": alarm.release,
        "summary": alarm.summary,
        "run": alarm.run,
        "rollout": alarm.rollout,
        "opened": timestamp(alarm.opened),
        "last": timestamp(alarm.last),
        "repeats": alarm.repeats,
        "resolved": None if alarm.resolved is None else timestamp(alarm.resolved),
        "resolved_by": alarm.resolved_by,
        "details": dict(alarm.details),
    }


def alertmanager(alarm: Alarm, action: Action, *, now: float) -> list[dict[str, Any]]:
    """Give the body of ``POST /api/v2/alerts``.

    Labels are who the alert is: they stay the same over repeats. What changes is an annotation.
    """
    held_s = TEST_HELD_S if alarm.kind == TEST_KIND else HELD_S
    ended = now + held_s if action is Action.FIRE else min(now, alarm.resolved or now)
    # An end that is not after the beginning is refused.
    began = min(alarm.opened, ended - 0.001)
    return [
        {
            "labels": {
                "alertname": alarm.kind,
                "severity": severity_of(alarm.kind),
                "service": "denv",
                "stage": alarm.stage,
                "release": alarm.release,
                "identity": alarm.identity,
            },
            "annotations": _annotations(alarm),
            "startsAt": timestamp(began),
            "endsAt": timestamp(ended),
        }
    ]


def _annotations(alarm: Alarm) -> dict[str, str]:
    given = {
        **_texts(alarm.details),
        "summary": alarm.summary,
        "alarm": alarm.alarm,
        "run": alarm.run,
        "rollout": alarm.rollout,
    }
    return {name: value for name, value in given.items() if value}


def _texts(details: Mapping[str, Any]) -> dict[str, str]:
    return {
        _NOT_IN_NAMES.sub("_", f"_{name}" if name[:1].isdigit() else name): value
        if isinstance(value, str)
        else json.dumps(value)
        for name, value in details.items()
    }


def pagerduty(alarm: Alarm, action: Action, *, routing_key: str) -> dict[str, Any]:
    """Give an event of PagerDuty's Events API v2; it holds the key, and is never to be shown."""
    event: dict[str, Any] = {
        "routing_key": routing_key,
        "event_action": "trigger" if action is Action.FIRE else "resolve",
        "dedup_key": alarm.identity,
    }
    if action is Action.RESOLVE:
        return event
    return {
        **event,
        "client": "denv",
        "payload": {
            "summary": f"{alarm.kind}: {alarm.summary}"[:PAGERDUTY_SUMMARY],
            "source": alarm.stage,
            "severity": severity_of(alarm.kind),
            "timestamp": timestamp(alarm.opened),
            "component": alarm.release,
            "group": alarm.stage,
            "class": alarm.kind,
            "custom_details": _annotations(alarm),
        },
    }


def cloudevent(alarm: Alarm, action: Action) -> dict[str, Any]:
    """Give a CloudEvent 1.0 in its structured form; sent again it has the same id."""
    fired = action is Action.FIRE
    at = alarm.opened if fired else (alarm.resolved or alarm.last)
    return {
        "specversion": "1.0",
        "id": f"{alarm.alarm}-{action.value}",
        "source": "urn:denv:alarms",
        "type": "denv.alarm.fired" if fired else "denv.alarm.resolved",
        "subject": alarm.identity,
        "time": timestamp(at),
        "datacontenttype": "application/json",
        "data": document(alarm, action),
    }


def title(alarm: Alarm, action: Action) -> str:
    """Give the one line that a chat shows first."""
    state = "FIRING" if action is Action.FIRE else "RESOLVED"
    return f"[{state}] {alarm.kind}: {alarm.release}"


def text(alarm: Alarm, action: Action) -> str:
    """Give the lines that a chat shows below."""
    lines = [alarm.summary, f"stage {alarm.stage}"]
    lines += [f"run {alarm.run}"] if alarm.run else []
    lines += [f"rollout {alarm.rollout}"] if alarm.rollout else []
    if action is Action.RESOLVE and alarm.resolved_by:
        lines.append(f"resolved by {alarm.resolved_by}")
    return "\n".join(lines)


def timestamp(seconds: float) -> str:
    """Give Unix seconds as RFC 3339 in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
