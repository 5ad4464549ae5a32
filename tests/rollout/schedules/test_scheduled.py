"""Firings of a schedule, against stub sides that change between them."""

from __future__ import annotations

import asyncio
from functools import cache

import pytest
from jsonschema import Draft202012Validator

from denv.client import http
from denv.errors import RunCancelledError, UsageError
from denv.records import Side
from denv.rollout.plan import freeze
from denv.rollout.schedules.documents import document_of
from denv.rollout.schedules.learned import Learned
from denv.rollout.schedules.scheduled import fire
from denv.schemas import schema
from tests.rollout.schedules.sides import CASES, DAY, START, add, plan_of
from tests.rollout.schedules.sides import Side as StubSide


@pytest.fixture
async def world(tmp_path, store, serve, release_of, monkeypatch):
    """Give two sides, and what adds a schedule over them and fires it."""
    # Reading the system's certificates is most of a firing's time here, and no part of any test.
    monkeypatch.setattr(http, "_tls_context", cache(http._tls_context))

    class World:
        def __init__(self):
            self.stage, self.reference, self.store = StubSide(), StubSide(), store
            self.slots = 0

        async def add(self, *, rate="50%", **timing):
            urls = {"stage": await serve(self.stage), "reference": await serve(self.reference)}
            self.plan = plan_of(release_of, tmp_path, rate=rate, **urls)
            add(store, self.plan, **timing)

        async def fire(self, **options):
            self.slots += 1
            slot = START + self.slots * DAY
            return await fire(store, "nightly", slot, clock=lambda: slot + 5, **options)

        def last(self, kind="full"):
            return [f for f in store.schedules.history("nightly") if f.kind == kind][-1]

        def open_kinds(self):
            return sorted(alarm.kind for alarm in store.alarms.list_alarms(only_open=True))

    yield World()
    shown = document_of(
        store.schedules.get_schedule("nightly"), store.schedules.history("nightly"), None
    )
    # Whatever a firing has written, the document that shows it follows its schema.
    Draft202012Validator(schema("schedule-1")).validate(shown)


async def test_the_first_run_is_the_baseline(world):
    """It asks each side three times and is held against nothing; the next ones ask once."""
    await world.add()
    found = await world.fire()
    assert (found.verdict, found.raised) == ("pass", ())
    assert world.stage.asked == world.reference.asked == 3 * CASES
    assert world.last().document["baseline"] is True
    assert world.store.schedules.get_schedule("nightly").baseline == found.run
    again = await world.fire()
    assert again.verdict == "pass"
    assert world.stage.asked == world.reference.asked == 4 * CASES
    assert world.last().document["drift"]["verdict"] == "none"
    assert world.open_kinds() == []


@pytest.mark.parametrize(
    ("stage", "reference", "verdict", "words"),
    [
        (15, 0, "stage", "drift of the stage: the stage got worse: 15 of 40 cases"),
        (0, 15, "reference", "drift of the reference: the reference got worse: 15 of 40 cases"),
        (15, 15, "both", "drift of the stage and the reference: the stage got worse"),
    ],
)
async def test_drift_is_told_apart(world, stage, reference, verdict, words):
    """Whichever side changes against itself is named, with an alarm that says how far."""
    await world.add()
    await world.fire()
    world.stage.wrong, world.reference.wrong = set(range(stage)), set(range(reference))
    found = await world.fire()
    assert "parity-drift" in found.raised
    assert world.last().document["drift"]["verdict"] == verdict
    (alarm,) = world.store.alarms.list_alarms(only_open=True)
    assert alarm.summary.startswith(words)
    assert alarm.run == found.run
    assert alarm.details["schedule"] == "nightly"


async def test_a_small_change_needs_several_looks(world):
    """Eight of forty cases worse are no alarm at the first look, and one after a few."""
    await world.add()
    await world.fire()
    world.stage.wrong = set(range(8))
    raised = [(await world.fire()).raised for _ in range(4)]
    assert raised[0] == ()
    assert ("parity-drift",) in raised


async def test_failing_share_is_pooled(world):
    """A run that fails by a little is no alarm yet; when all runs say so it is, once."""
    await world.add(rate="95%")
    world.stage.wrong = set(range(6))
    raised = [(await world.fire()) for _ in range(8)]
    assert {one.verdict for one in raised} == {"fail"}
    assert raised[0].raised == ()
    assert ("parity-fail",) in [one.raised for one in raised]


async def test_each_failing_run_may_alarm(world):
    """Where it is asked for, every failing run raises its alarm, which repeats and is resolved."""
    await world.add(rate="95%", fail_alarm="each")
    await world.fire()
    world.stage.wrong = {0, 1, 2}
    assert (await world.fire()).raised == ("parity-fail",)
    assert (await world.fire()).raised == ("parity-fail",)
    (alarm,) = world.store.alarms.list_alarms(only_open=True)
    assert alarm.repeats == 1
    world.stage.wrong = set()
    await world.fire()
    assert world.open_kinds() == []


async def test_a_gross_failure_alarms_at_once(world):
    """Half of the cases wrong where 5 % may be is an alarm at the first such run."""
    await world.add(rate="95%")
    await world.fire()
    world.stage.wrong = set(range(20))
    assert (await world.fire()).raised == ("parity-fail", "parity-drift")


async def test_a_stage_that_gives_no_answer_fails(world):
    """Errors in place of answers fail without waiting for more looks, and are no drift."""
    await world.add()
    await world.fire()
    world.stage.down = True
    found = await world.fire()
    assert (found.verdict, "parity-drift" in found.raised) == ("fail", False)
    assert "parity-fail" in found.raised
    assert world.last().document["drift"]["verdict"] == "undecided"


async def test_no_verdict_is_told_of(world):
    """A reference that gives no answers leaves the stage unproven, until a run proves it again."""
    await world.add()
    await world.fire()
    world.reference.down = True
    found = await world.fire()
    assert found.verdict in {"error", "inconclusive"}
    assert found.raised == ("parity-unproven",)
    world.reference.down = False
    await world.fire()
    assert world.open_kinds() == []


async def test_a_run_that_shows_no_noise_is_no_baseline(world):
    """Where a side gave no answers the next run is the baseline."""
    await world.add()
    world.reference.down = True
    await world.fire()
    assert world.last().document["no_baseline"] is True
    assert world.store.schedules.get_schedule("nightly").baseline is None
    world.reference.down = False
    found = await world.fire()
    assert world.store.schedules.get_schedule("nightly").baseline == found.run


async def test_ten_missed_slots_are_one_run_and_one_alarm(world):
    """What was missed is told of once, made up for by one run, and over with the next slot."""
    await world.add()
    await world.fire()
    missed = [START + (world.slots + n) * DAY for n in range(1, 11)]
    world.slots += 10
    runs = world.stage.asked
    found = await world.fire(missed=missed)
    assert (found.verdict, found.raised) == ("pass", ("parity-missed",))
    assert world.stage.asked == runs + CASES
    (alarm,) = world.store.alarms.list_alarms(only_open=True)
    assert alarm.summary == (
        "schedule nightly: nothing ran for 10 slots, 2027-01-17T08:00:00Z to "
        "2027-01-26T08:00:00Z; one run makes up for all"
    )
    assert world.last("missed").document["count"] == 10
    await world.fire()
    assert world.open_kinds() == []


async def test_a_slot_is_done_once(world):
    """Fired again, a slot asks nothing, raises nothing and leaves the detectors alone."""
    await world.add(rate="95%", fail_alarm="each")
    world.stage.wrong = {0, 1, 2}
    await world.fire(missed=[START + 1])
    before = world.store.schedules.get_schedule("nightly")
    asked = world.stage.asked
    world.slots -= 1
    again = await world.fire(missed=[START + 1])
    assert (again.again, again.raised) == (True, ())
    assert world.stage.asked == asked
    assert world.store.schedules.get_schedule("nightly") == before
    assert {a.repeats for a in world.store.alarms.list_alarms()} == {0}


async def test_a_stopped_run_goes_on(world):
    """A firing that was ended early is taken up with the same run; nothing is asked twice."""
    await world.add()
    stop = asyncio.Event()

    def beat(progress):
        if progress.done >= 5:
            stop.set()

    with pytest.raises(RunCancelledError, match="goes on where it was"):
        await world.fire(stop=stop, on_beat=beat)
    assert world.store.schedules.history("nightly") == []
    assert world.stage.asked < 3 * CASES
    world.slots -= 1
    found = await world.fire()
    assert found.verdict == "pass"
    assert 3 * CASES <= world.stage.asked <= 3 * CASES + 10


async def test_out_of_turn_runs_leave_slots_alone(world):
    """A run by hand does not count as a slot's, and says why it was made."""
    await world.add()
    await world.fire()
    done = Learned.of(world.store.schedules.get_schedule("nightly")).done_to
    await world.fire(due=False, why=["by hand"])
    assert Learned.of(world.store.schedules.get_schedule("nightly")).done_to == done
    assert world.last().document["why"] == ["by hand"]


async def test_a_new_baseline_ends_drift(world):
    """What changed for good becomes the new baseline: its alarm is over, detectors begin anew."""
    await world.add()
    await world.fire()
    world.stage.wrong = set(range(15))
    assert (await world.fire()).raised == ("parity-drift",)
    found = await world.fire(rebase=True)
    assert world.store.schedules.get_schedule("nightly").baseline == found.run
    assert world.open_kinds() == []
    await world.fire()
    assert world.last().document["drift"]["verdict"] == "none"
    detectors = Learned.of(world.store.schedules.get_schedule("nightly")).detectors
    assert detectors is not None
    assert detectors.by_name[f"drift:{Side.STAGE}"].looks == 1


async def test_a_key_that_is_missing(world, tmp_path, monkeypatch, release_of, serve):
    """A run that could not be begun is an error in the history, and an alarm."""
    await world.add()
    monkeypatch.setenv("STAGE_KEY", "k")
    text = (
        (tmp_path / "release.yaml").read_text().replace("stage: {", "stage: {key-env: STAGE_KEY, ")
    )
    add(world.store, freeze(release_of(text), data_folder=tmp_path / "home"), name="keyed")
    monkeypatch.delenv("STAGE_KEY")
    looked = await fire(world.store, "keyed", START + 60, kind="sentinel")
    assert "STAGE_KEY" in looked.escalate[0]
    found = await fire(world.store, "keyed", START + DAY)
    assert (found.verdict, found.raised) == ("error", ("parity-unproven",))
    row = world.store.schedules.history("keyed")[-1]
    assert "STAGE_KEY" in row.document["reasons"][0]


async def test_no_such_schedule(store):
    """A name that is not known is said to be so."""
    with pytest.raises(UsageError, match="there is no schedule 'x'"):
        await fire(store, "x", START)


# ---------------------------------------------------------------- the sentinel


async def test_a_calm_sentinel(world):
    """It asks the golden prompts, twice at first and then once, and no full run follows."""
    await world.add(sentinel_every_s=600.0)
    found = await world.fire(kind="sentinel")
    assert (found.verdict, found.escalate) == ("calm", ())
    first = world.stage.asked
    await world.fire(kind="sentinel")
    assert world.last("sentinel").verdict == "calm"
    assert world.stage.asked - first < first
    assert world.stage.asked < CASES


async def test_a_failed_golden_prompt_escalates_once(world):
    """A prompt that failed asks for a full run, and not again before the next slot."""
    await world.add(sentinel_every_s=600.0)
    await world.fire(kind="sentinel")
    world.stage.wrong = {1}
    found = await world.fire(kind="sentinel")
    assert found.escalate[0] == "the stage fails the golden prompt c1, which it passed"
    assert (await world.fire(kind="sentinel")).escalate == ()
    assert world.last("sentinel").verdict == "escalate"
    await world.fire()
    assert (await world.fire(kind="sentinel")).escalate != ()


async def test_an_escalation_survives_a_crash(world):
    """Fired again for the same slot, a sentinel still says why a full run is to follow."""
    await world.add(sentinel_every_s=600.0)
    await world.fire(kind="sentinel")
    world.reference.wrong = {0}
    found = await world.fire(kind="sentinel")
    assert any("the reference" in why for why in found.escalate)
    world.slots -= 1
    again = await world.fire(kind="sentinel")
    assert (again.again, again.escalate) == (True, found.escalate)


async def test_a_side_that_is_down_escalates(world):
    """No answer at all asks for a full run, which then says what it is."""
    await world.add(sentinel_every_s=600.0)
    world.stage.down = True
    found = await world.fire(kind="sentinel")
    assert len(found.escalate) >= 1
