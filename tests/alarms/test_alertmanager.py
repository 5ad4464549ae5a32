"""Alarms at a real Alertmanager (Debian's), which tells a webhook receiver of the test's own."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import aiohttp
import pytest

from denv.alarms import Action, make_sink
from denv.alarms.payloads import HELD_S, timestamp
from denv.errors import DeliveryError
from tests.alarms.alertmanagers import GROUP_INTERVAL_S, alertmanager
from tests.alarms.receiver import Receiver
from tests.alarms.samples import ALARM

SETTLED_S = 3 * GROUP_INTERVAL_S
"""After so long a notification that is to come has come."""


@pytest.fixture
async def hook():
    async with Receiver() as receiver:
        yield receiver


@pytest.fixture
async def url(hook):
    async with alertmanager(hook.url) as address:
        yield address


def sink_of(url):
    return make_sink({"alertmanager": {"url": url}})


def fresh(**changes):
    """Give an alarm that opened now: Alertmanager goes by the clock."""
    now = time.time()
    return replace(ALARM, opened=now, last=now, **changes)


async def notified(hook, count, *, within_s=10.0):
    """Wait for so many notifications and then for none more; give each one's single alert."""
    async with asyncio.timeout(within_s):
        while len(hook.taken) < count:
            await asyncio.sleep(0.05)
    await asyncio.sleep(SETTLED_S)
    alerts = [taken.json["alerts"] for taken in hook.taken]
    assert [len(each) for each in alerts] == [1] * len(alerts)
    return [each[0] for each in alerts]


async def test_one_notification_however_often_posted_then_resolved_then_fired_again(hook, url):
    """Posted five times with other runs it is told once; so are its resolve and a re-fire."""
    sink = sink_of(url)
    alarm = fresh()
    for number in range(5):
        await sink.deliver(replace(alarm, run=f"run-{number}", repeats=number), Action.FIRE)
        await asyncio.sleep(0.3)
    (fired,) = await notified(hook, 1)
    assert fired["status"] == "firing"
    assert fired["labels"]["identity"] == alarm.identity
    assert "run" not in fired["labels"]

    await sink.deliver(replace(alarm, resolved=time.time(), resolved_by="denv"), Action.RESOLVE)
    statuses = [each["status"] for each in await notified(hook, 2)]
    assert statuses == ["firing", "resolved"]

    await sink.deliver(replace(alarm, alarm="a2", run="run-9", last=time.time()), Action.FIRE)
    last = (await notified(hook, 3))[-1]
    assert (last["status"], last["annotations"]["run"]) == ("firing", "run-9")
    assert last["labels"] == fired["labels"]


async def test_what_alertmanager_holds(url):
    """Labels say who the alarm is; run, rollout and details are annotations; it lasts a day."""
    alarm = fresh()
    await sink_of(url).deliver(alarm, Action.FIRE)
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{url}/api/v2/alerts") as answer,
    ):
        (held,) = await answer.json()
    assert held["labels"] == {
        "alertname": "parity-fail",
        "severity": "critical",
        "service": "denv",
        "stage": alarm.stage,
        "release": alarm.release,
        "identity": alarm.identity,
    }
    assert held["annotations"] == {
        "summary": alarm.summary,
        "alarm": "a1",
        "run": alarm.run,
        "rollout": "rollout-1",
        "batch": "1",
    }
    assert held["startsAt"] == timestamp(alarm.opened)
    assert held["endsAt"][:15] >= timestamp(alarm.opened + HELD_S - 60)[:15]


async def test_resolved_without_ever_being_fired(hook, url):
    """A resolve whose fire is unknown there (its data were lost) is taken, and tells nobody."""
    alarm = fresh(resolved=time.time(), resolved_by="denv")
    await sink_of(url).deliver(alarm, Action.RESOLVE)
    await asyncio.sleep(SETTLED_S)
    assert hook.taken == []


async def test_resolved_at_the_moment_it_opened(hook, url):
    """Fired and resolved with equal times is taken: no end lies before its beginning."""
    sink = sink_of(url)
    alarm = fresh()
    await sink.deliver(alarm, Action.FIRE)
    await notified(hook, 1)
    await sink.deliver(replace(alarm, resolved=alarm.opened), Action.RESOLVE)
    assert [each["status"] for each in await notified(hook, 2)] == ["firing", "resolved"]


async def test_details_of_any_name_are_taken(url):
    """A detail whose name Alertmanager would refuse is written with underscores."""
    await sink_of(url).deliver(fresh(details={"look-1": "x", "2nd": 3}), Action.FIRE)
    async with aiohttp.ClientSession() as session, session.get(f"{url}/api/v2/alerts") as answer:
        (held,) = await answer.json()
    assert (held["annotations"]["look_1"], held["annotations"]["_2nd"]) == ("x", "3")


async def test_a_wrong_path(url):
    """Another root than Alertmanager's own is a refusal."""
    with pytest.raises(DeliveryError, match="answered 404"):
        await sink_of(f"{url}/prefix").deliver(fresh(), Action.FIRE)
