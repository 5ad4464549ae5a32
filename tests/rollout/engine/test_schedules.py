"""Schedules on a real Temporal server: its own calculation over clock changes, and firings."""

from __future__ import annotations

import asyncio
import json
import uuid
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from denv.errors import UsageError
from denv.release import load_release
from denv.rollout.engine import schedules
from denv.rollout.engine.connection import connect
from denv.rollout.engine.schedule_activities import ScheduleActivities
from denv.rollout.engine.schedule_messages import FireDone, ScheduleOrder
from denv.rollout.engine.schedule_workflow import NOMINAL
from denv.rollout.plan import freeze
from denv.rollout.schedules import full
from denv.rollout.schedules.pausing import go_on
from denv.rollout.schedules.timing import Timing
from denv.store import ScheduleRecord

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture
async def client(temporal):
    """Connect to the server."""
    return await connect(temporal)


@pytest.fixture
def name():
    """Give a name that no other test has."""
    return f"s{uuid.uuid4().hex[:10]}"


async def slots(client, name, timing, *, start, end):
    """Give the local times at which the server would fire a schedule."""
    await schedules.create(client, name, timing, queue="none", now=NOW)
    found = await schedules.matching_times(
        client, schedules.full_id(name), after=start.timestamp(), to=end.timestamp()
    )
    assert len(set(found)) == len(found)
    return [datetime.fromtimestamp(each, UTC).astimezone(start.tzinfo) for each in found]


def local(month, day, hour=0, minute=0):
    return datetime(2027, month, day, hour, minute, tzinfo=BERLIN)


# ---------------------------------------------------------------- clock changes


async def test_clocks_go_forward(client, name):
    """A daily 2:30, which is left out on 28 March, still fires once that day: at 3:00."""
    timing = Timing(cron="30 2 * * *", timezone="Europe/Berlin")
    found = await slots(client, name, timing, start=local(3, 26), end=local(3, 31))
    assert [f"{one:%d %H:%M}" for one in found] == [
        "26 02:30", "27 02:30", "28 03:00", "29 02:30", "30 02:30",
    ]  # fmt: skip


async def test_clocks_go_back(client, name):
    """A daily 2:30, which comes twice on 31 October, fires once that day."""
    timing = Timing(cron="30 2 * * *", timezone="Europe/Berlin")
    found = await slots(client, name, timing, start=local(10, 29), end=local(11, 3))
    assert [one.day for one in found] == [29, 30, 31, 1, 2]
    assert all((one.hour, one.minute) == (2, 30) for one in found)


@pytest.mark.parametrize(("month", "day", "hours"), [(3, 28, 23), (10, 31, 24)])
async def test_each_hour_of_the_clock_is_one_slot(client, name, month, day, hours):
    """An hourly schedule fires once for each hour that the clock shows that day."""
    timing = Timing(cron="15 * * * *", timezone="Europe/Berlin")
    start = local(month, day)
    end = start + timedelta(days=1)
    found = await slots(client, name, timing, start=start, end=end)
    assert len({one.hour for one in found}) == len(found) == hours


@pytest.mark.parametrize("month", [3, 10])
async def test_a_steady_pace_knows_no_clock(client, name, month):
    """Every six hours stays every six hours."""
    timing = Timing(every_s=21_600.0)
    start = datetime(2027, month, 26, tzinfo=UTC)
    found = await slots(client, name, timing, start=start, end=start + timedelta(days=7))
    assert {b - a for a, b in pairwise(found)} == {timedelta(hours=6)}
    assert len(found) == 28


async def test_mean_cadence(client, name):
    """Of a cron it is the year's length over its slots: on weekdays, 7/5 of a day."""
    await schedules.create(client, name, Timing(cron="0 4 * * 1-5"), queue="none", now=NOW)
    found = await schedules.mean_cadence_s(client, name, now=NOW)
    assert found == pytest.approx(86_400 * 7 / 5, rel=0.01)


async def test_more_slots_than_a_page(client, name):
    """A thousand slots are one page; all of four days of minutes are found."""
    timing = Timing(every_s=60.0)
    start = datetime(2027, 1, 1, tzinfo=UTC)
    found = await slots(client, name, timing, start=start, end=start + timedelta(days=4))
    assert len(found) == 4 * 24 * 60


# ---------------------------------------------------------------- what the server says


@pytest.mark.parametrize(
    ("timing", "words"),
    [
        (Timing(cron="99 * * * *"), "--cron '99"),
        (Timing(cron="1 2 3 4 x"), "--cron '1 2 3 4 x'"),
        (Timing(cron="0 0 * * *", timezone="Mars/Base"), "--timezone 'Mars/Base'"),
    ],
)
async def test_what_cannot_be_read(client, name, timing, words):
    """It is refused in words that name the option, and nothing is made."""
    with pytest.raises(UsageError, match=words):
        await schedules.create(client, name, timing, queue="none", now=NOW)
    with pytest.raises(UsageError, match=f"the server has no schedule '{name}'"):
        await schedules.describe(client, name)


async def test_one_of_a_name(client, name):
    """A second of the same name is refused; both parts go when it is removed."""
    timing = Timing(every_s=3600.0, sentinel_every_s=600.0)
    await schedules.create(client, name, timing, queue="none", now=NOW)
    with pytest.raises(UsageError, match="has a schedule"):
        await schedules.create(client, name, timing, queue="none", now=NOW)
    described = await schedules.describe(client, name)
    assert described.paused
    await schedules.resume(client, name)
    described = await schedules.describe(client, name)
    assert not described.paused
    ahead = [b - a for a, b in pairwise(described.next_times)]
    assert ahead
    assert set(ahead) == {3600.0}
    await schedules.pause(client, name, note="maintenance")
    assert (await schedules.describe(client, name)).note == "maintenance"
    assert await schedules.delete(client, name)
    assert not await schedules.delete(client, name)


# ---------------------------------------------------------------- firings


class Fires:
    """A schedule with its worker, whose clock stands where the test sets it."""

    def __init__(self, client, store, releases, *, name):
        self.client, self.store, self.name = client, store, name
        self.queue, self.now = f"q-{name}", 0.0
        self._releases = releases

    async def add(self, timing, *, created, **rollout):
        self.now = created.timestamp()
        await schedules.create(self.client, self.name, timing, queue=self.queue, now=created)
        release = load_release(self._releases.write(**rollout))
        plan = freeze(release, data_folder=self._releases.folder / "home")
        cadence_s = await schedules.mean_cadence_s(self.client, self.name, now=created)
        spec = {**timing.to_json(), "cadence_s": cadence_s}
        self.store.schedules.add_schedule(
            ScheduleRecord(self.name, self.now, spec, json.loads(plan.to_json()))
        )

    async def at(self, moment, **order):
        """Let the server run the workflow as it does at a slot, at this time of ours."""
        self.now = moment.timestamp()
        activities = ScheduleActivities(self.store, self.client, clock=lambda: self.now)
        worker = Worker(
            self.client,
            task_queue=self.queue,
            workflows=list(schedules.WORKFLOWS),
            activities=activities.all,
            workflow_runner=UnsandboxedWorkflowRunner(),
        )
        async with worker:
            return await self.client.execute_workflow(
                "schedule",
                ScheduleOrder(self.name, **order),
                id=f"{self.name}-{self.now}",
                task_queue=self.queue,
                result_type=FireDone,
                search_attributes=TypedSearchAttributes([SearchAttributePair(NOMINAL, moment)]),
            )

    def rows(self, kind="full"):
        return [f for f in self.store.schedules.history(self.name) if f.kind == kind]

    def open_kinds(self):
        return [alarm.kind for alarm in self.store.alarms.list_alarms(only_open=True)]


@pytest.fixture
def fires(client, store, releases, name):
    """Give a schedule that is fired by hand of the test's clock."""
    return Fires(client, store, releases, name=name)


@pytest.mark.slow
async def test_each_slot_over_the_change_is_done_once(fires):
    """Fired at and again after each slot around 28 March, there is one run a day."""
    await fires.add(Timing(cron="30 2 * * *", timezone="Europe/Berlin"), created=local(3, 27, 1))
    for moment in (local(3, 27, 2, 30), local(3, 28, 3, 0), local(3, 29, 2, 30)):
        await fires.at(moment)
        assert (await fires.at(moment.astimezone(UTC) - timedelta(seconds=1))).again
    found = [datetime.fromtimestamp(firing.slot, BERLIN) for firing in fires.rows()]
    assert [f"{one:%d %H:%M}" for one in found] == ["27 02:30", "28 03:00", "29 02:30"]
    assert fires.rows("missed") == []


async def test_ten_missed_slots(fires):
    """After ten slots without a worker one run makes up for all, and one alarm says so."""
    start = datetime(2027, 3, 27, 0, 30, tzinfo=UTC)
    await fires.add(Timing(every_s=3600.0), created=start)
    await fires.at(start + timedelta(minutes=30))
    done = await fires.at(start + timedelta(hours=11, minutes=30))
    assert (done.verdict, done.raised) == ("pass", ["parity-missed"])
    assert len(fires.rows()) == 2
    (missed,) = fires.rows("missed")
    assert missed.document["count"] == 10
    assert fires.open_kinds() == ["parity-missed"]
    late = await fires.at(start + timedelta(hours=9, minutes=30))
    assert late.again
    await fires.at(start + timedelta(hours=12, minutes=30))
    assert fires.open_kinds() == []
    assert len(fires.rows()) == 3


async def test_slots_of_a_pause_are_not_missed(fires):
    """After a pause of many slots the next one is done, and none was missed."""
    start = datetime(2027, 1, 1, 0, 30, tzinfo=UTC)
    await fires.add(Timing(every_s=3600.0), created=start)
    fires.store.schedules.pause_schedule(fires.name, note="maintenance")
    await go_on(fires.store, fires.name, now=(start + timedelta(hours=9)).timestamp())
    assert fires.store.schedules.get_schedule(fires.name).paused is None
    await fires.at(start + timedelta(hours=9, minutes=30))
    assert fires.rows("missed") == []
    assert fires.rows("skipped")[0].document["note"] == "maintenance"


async def test_a_sentinel_escalates_to_a_full_run(fires, releases):
    """A golden prompt that goes wrong leads to a full run out of turn, in the same workflow."""
    start = datetime(2027, 1, 1, 0, 30, tzinfo=UTC)
    await fires.add(Timing(every_s=86_400.0, sentinel_every_s=600.0), created=start)
    calm = await fires.at(start + timedelta(minutes=10), kind="sentinel")
    assert (calm.kind, calm.verdict) == ("sentinel", "calm")
    releases.stage.wrong = True
    done = await fires.at(start + timedelta(minutes=20), kind="sentinel")
    assert (done.kind, done.verdict) == ("full", "fail")
    assert fires.rows()[-1].document["why"][0].startswith("the stage fails the golden prompt c0")
    assert fires.open_kinds() == ["parity-fail"]


async def test_a_full_run_is_asked_in_shards(fires, releases, monkeypatch):
    """Each shard is an activity of its own, which any worker may take; the run is one."""
    shards = []
    asked = vars(full)["run_shard"]

    async def run_shard(*given, **named):
        shards.append(named["shard"])
        return await asked(*given, **named)

    monkeypatch.setattr(full, "run_shard", run_shard)
    start = datetime(2027, 1, 1, 0, 30, tzinfo=UTC)
    await fires.add(Timing(every_s=3600.0), created=start, shards=3)
    done = await fires.at(start + timedelta(minutes=30))
    assert (done.verdict, sorted(shards)) == ("pass", [0, 1, 2])
    cases = [asked for asked in releases.stage.asked if asked.startswith("number")]
    assert len(cases) == 3 * 24  # a baseline asks three times
    assert set(cases) == {f"number {n};" for n in range(24)}
    assert fires.rows()[-1].run == done.run
    assert (await fires.at(start + timedelta(minutes=30))).again
    assert len(shards) == 3


async def test_a_side_that_refuses_amid_a_full_run_is_told(fires, releases, monkeypatch):
    """A key that is gone when a shard is asked ends the slot as an error, once, and alarms."""

    async def run_shard(*given, **named):
        raise UsageError("the environment variable KEY is not set")

    monkeypatch.setattr(full, "run_shard", run_shard)
    start = datetime(2027, 1, 1, 0, 30, tzinfo=UTC)
    await fires.add(Timing(every_s=3600.0), created=start, shards=2)
    done = await fires.at(start + timedelta(minutes=30))
    assert (done.verdict, done.raised) == ("error", ["parity-unproven"])
    assert fires.rows()[-1].document["reasons"] == ["the environment variable KEY is not set"]


async def test_a_removed_schedule_asks_nothing(fires):
    """What was on its way when the schedule was removed ends without a word."""
    start = datetime(2027, 1, 1, 0, 30, tzinfo=UTC)
    await fires.add(Timing(every_s=3600.0), created=start)
    fires.store.schedules.remove_schedule(fires.name)
    done = await fires.at(start + timedelta(hours=1))
    assert done.again


async def test_the_server_fires_it(engine, releases, name):
    """A schedule of seconds, begun on the engine, makes its runs by itself until it is paused."""
    now = datetime.now(UTC)
    timing = Timing(every_s=3.0, jitter_s=1.0, cadence_s=3.0)
    await schedules.create(engine.client, name, timing, queue=engine.queue, now=now)
    plan = freeze(load_release(releases.write()), data_folder=engine.folder)
    engine.store.schedules.add_schedule(
        ScheduleRecord(name, now.timestamp(), timing.to_json(), json.loads(plan.to_json()))
    )
    await schedules.resume(engine.client, name)
    async with asyncio.timeout(120):
        while sum(f.kind == "full" for f in engine.store.schedules.history(name)) < 2:
            await asyncio.sleep(0.3)
    await schedules.pause(engine.client, name, note="enough")
    done = [f for f in engine.store.schedules.history(name) if f.kind == "full"]
    assert {f.verdict for f in done} == {"pass"}
    assert len({f.slot for f in done}) == len(done)
    asked = datetime.now(UTC)
    id_ = await schedules.trigger(engine.client, name, queue=engine.queue, rebase=True, now=asked)
    async with asyncio.timeout(120):
        await engine.client.get_workflow_handle(id_).result()
    record = engine.store.schedules.get_schedule(name)
    # A slot that was under way when it was paused may end last.
    history = engine.store.schedules.history(name)
    (by_hand,) = [
        f for f in history if f.document.get("baseline") and f.slot >= asked.timestamp() - 1
    ]
    assert record.baseline == by_hand.run
