"""What ``denv alarm`` does, apart from its options."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from denv.alarms import (
    TEST_KIND,
    Action,
    Alarm,
    Attempt,
    Sink,
    deliver_due,
    give,
    identity_of,
    make_sink,
    sinks_of,
)
from denv.alarms.documents import document_of
from denv.alarms.payloads import timestamp
from denv.cli import loop
from denv.errors import DeliveryError, UsageError
from denv.release import Release, load_release
from denv.report.text import escaped, line
from denv.rollout.secrets import secrets_about, secrets_of_release
from denv.store import AlarmStore, DeliveryRecord, Resolve, data_folder, open_store

SCHEMA = "denv.alarms/1"
TEST_SUMMARY = "This is a test of where alarms go. Nothing is wrong, nothing is to be done."
LONGEST_NAME = 100
LONGEST_REASON = 400


def try_sinks(path: Path) -> int:
    """Send a marked test to each sink of a release and resolve it; 1 where one did not take it."""
    release = load_release(path)
    hidden = secrets_of_release(release)
    sinks = [make_sink(each, hidden=hidden) for each in sinks_of(release.alarms).values()]
    if not sinks:
        raise UsageError(f"{path}: alarms: the release names no sink")

    async def go() -> list[Attempt]:
        return list(await asyncio.gather(*(_try(sink, _test_alarm(release)) for sink in sinks)))

    attempts = loop.run(go())
    for attempt in attempts:
        click.echo(_line_of(attempt, good="taken", bad="not taken"))
    return 1 if any(attempt.error for attempt in attempts) else 0


def _test_alarm(release: Release) -> Alarm:
    now = time.time()
    # Each test is an alarm of its own: one that is known already would be told to nobody.
    token = f"test-{uuid.uuid4().hex[:12]}"
    return Alarm(
        alarm=token,
        identity=identity_of(TEST_KIND, stage=release.stage.url, digest=token),
        kind=TEST_KIND,
        stage=release.stage.url,
        release=release.name,
        summary=TEST_SUMMARY,
        run=None,
        rollout=None,
        details={"test": "true"},
        opened=now,
        last=now,
    )


async def _try(sink: Sink, alarm: Alarm) -> Attempt:
    try:
        await give(sink, alarm, Action.FIRE)
        ended = replace(alarm, resolved=time.time(), resolved_by="denv alarm test")
        await give(sink, ended, Action.RESOLVE)
    except DeliveryError as error:
        return Attempt(sink.key, sink.shown, str(error))
    return Attempt(sink.key, sink.shown)


def _line_of(attempt: Attempt, *, good: str, bad: str) -> str:
    said = good if attempt.error is None else f"{bad}: {attempt.error}"
    return line(f"{attempt.shown}: {said}")


def show_alarms(*, only_open: bool, as_json: bool, store: Path | None) -> int:
    """List the latest alarms with what each sink was told."""
    with closing(open_store(data_folder(store))) as data:
        alarms = data.alarms
        found = [
            (alarm, list(alarms.deliveries(alarm.alarm)))
            for alarm in alarms.list_alarms(only_open=only_open)
        ]
    if as_json:
        document = {"schema": SCHEMA, "alarms": [document_of(*each) for each in found]}
        click.echo(escaped(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)))
        return 0
    for alarm, deliveries in found:
        for shown in _lines(alarm, deliveries):
            click.echo(shown)
    if not found:
        click.echo("no open alarm" if only_open else "no alarm")
    return 0


def _lines(alarm: Alarm, deliveries: list[DeliveryRecord]) -> Iterator[str]:
    state = "open" if alarm.resolved is None else f"resolved by {alarm.resolved_by}"
    repeats = f", {alarm.repeats} repeats" if alarm.repeats else ""
    yield line(f"{alarm.alarm}  {alarm.kind}  {alarm.release}  {timestamp(alarm.opened)}  {state}")
    yield line(f"  {alarm.summary} (stage {alarm.stage}{repeats})")
    for each in deliveries:
        error = f" ({each.attempts} attempts; {each.last_error})" if each.last_error else ""
        yield line(f"  {each.sink}: {each.action} {each.state}{error}")


def resolve_by_hand(*, alarm_id: str, by: str, reason: str, store: Path | None) -> int:
    """Resolve one alarm with its reason, and tell its sinks at once where they can be reached."""
    _check_words(by, reason)
    with closing(open_store(data_folder(store))) as data:
        alarm = _open_one(data.alarms, alarm_id)
        resolved = data.alarms.resolve_alarm(
            Resolve(alarm.identity, at=time.time(), by=f"{by.strip()}: {reason.strip()}")
        )
        if resolved is None:
            raise UsageError(f"the alarm {alarm.alarm} is resolved already")
        make = partial(make_sink, hidden=secrets_about(data, resolved))
        attempts = loop.run(deliver_due(data.alarms, clock=time.time, only=resolved, make=make))
    click.echo(f"{resolved.alarm}: resolved")
    for attempt in attempts:
        click.echo(_line_of(attempt, good="told", bad="not told, still owed"))
    return 0


def _check_words(by: str, reason: str) -> None:
    for option, text, most in (("--by", by, LONGEST_NAME), ("--reason", reason, LONGEST_REASON)):
        if len(text) > most or not text.isprintable():
            raise UsageError(f"{option} must be a text of one line, up to {most} characters")


def _open_one(store: AlarmStore, given: str) -> Alarm:
    found = store.get_alarm(given) or store.open_alarm(given)
    if found is None:
        raise UsageError(f"there is no alarm {given!r} (denv alarm list shows them)")
    if found.resolved is not None:
        raise UsageError(f"the alarm {found.alarm} is resolved already")
    return found
