"""Rollouts by the engine, on stub models and a real Temporal server."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager

import pytest
from temporalio.testing import ActivityEnvironment

from denv.errors import RolloutRefusedError, StoreError
from denv.release import load_release
from denv.rollout.documents import now_document
from denv.rollout.engine import parity_activities, stage_workflow
from denv.rollout.engine.beating import HeartbeatMemory
from denv.rollout.engine.messages import ShardTask, StageOrder, Task
from denv.rollout.engine.orders import ask_status, order_of, start_rollout, take_up, workflow_id
from denv.rollout.plan import freeze
from denv.store import Override
from tests.rollout.engine.staging import LATE_CANCEL

pytestmark = LATE_CANCEL

OFTEN = {"passes": 2, "every": "100ms", "timeout": "5s"}


async def test_a_good_release_is_promoted_through_its_batches(engine, releases):
    """Every batch has its proof, the last weights read back as all, and nobody is alarmed."""
    rollout = await engine.start(releases.write())
    record = await engine.end(rollout)
    rules = engine.rules(rollout)
    assert record.phase == "promoted"
    assert rules.count("parity-pass") == 2
    assert rules[0] == "begin"
    assert rules[-1] == "promoted"
    assert releases.weights() == {"r1": 1.0}
    assert engine.store.rollouts.get_stage(releases.stage.url).incumbent.rollout == rollout
    assert engine.store.alarms.list_alarms() == []


async def test_a_failing_release_is_rolled_back_with_one_alarm_and_latched(engine, releases):
    """The proof that failed raises one alarm, is not tried again, and the incumbent has all."""
    await engine.end(await engine.start(releases.write("r1", golden=None)))
    releases.stage.wrong = True
    second = await engine.start(releases.write("r2", golden=None))
    record = await engine.end(second)
    assert record.phase == "rolled-back"
    assert releases.weights() == {"r1": 1.0, "r2": 0.0}
    alarms = engine.store.alarms.list_alarms()
    assert [(alarm.kind, alarm.repeats) for alarm in alarms] == [("parity-fail", 0)]
    await engine.until(releases.told, lambda: "the alarm was not told")
    assert releases.told() == [("parity-fail", "fire")]
    assert engine.store.rollouts.latched(record.proof).rollout == second
    releases.stage.wrong = False
    third = await engine.start(releases.write("r2", golden=None))
    assert (await engine.end(third)).phase == "refused"
    assert engine.rules(third) == ["refused-latched"]


async def test_an_override_lets_a_latched_release_be_tried_once(engine, releases):
    """Someone's word is used up by the next rollout, shown in it, and not good for another."""
    releases.stage.wrong = True
    first = await engine.start(releases.write(golden=None))
    proof = (await engine.end(first)).proof
    engine.store.rollouts.add_override(Override(proof, "ann", "the network was down", 1.0))
    second = await engine.start(releases.write(golden=None))
    record = await engine.end(second)
    assert engine.rules(second)[0] == "begin-overridden"
    assert record.state["override"] == {"by": "ann", "reason": "the network was down"}
    assert record.phase == "rolled-back"
    third = await engine.start(releases.write(golden=None))
    assert (await engine.end(third)).phase == "refused"


async def test_a_release_that_falls_ill_while_it_bakes_is_rolled_back(engine, releases):
    """Health is watched while customers are served; a first release's traffic goes to nobody."""
    rollout = await engine.start(releases.write(bake="60s", parity_every="60s"))
    await engine.reach(rollout, "baking")
    assert releases.weights() == {"r1": 0.5}
    releases.stage.sick = True
    record = await engine.end(rollout)
    assert record.phase == "rolled-back"
    assert releases.weights() == {"r1": 0.0}
    assert [alarm.kind for alarm in engine.store.alarms.list_alarms()] == ["health-fail"]


async def test_a_release_that_turns_bad_while_it_bakes_is_rolled_back_and_latched(engine, releases):
    """Looks at parity go on while the release bakes, and what they show is remembered."""
    rollout = await engine.start(releases.write(bake="60s", parity_every="500ms", look_cases=12))
    await engine.reach(rollout, "baking")
    releases.stage.wrong = True
    record = await engine.end(rollout)
    assert record.phase == "rolled-back"
    assert "looks-fail" in engine.rules(rollout)
    assert engine.store.rollouts.latched(record.proof).rollout == rollout


async def test_what_is_not_answered_is_asked_again_and_alone(engine, releases):
    """While the reference is away nothing is decided; when it is back only the rest is asked."""
    releases.reference.gone = True
    rollout = await engine.start(releases.write(golden=None, bake="0s", parity_every=None))
    await engine.until(
        lambda: "parity-retry" in engine.rules(rollout), engine.shown(rollout, ("a retry",))
    )
    releases.reference.gone = False
    assert (await engine.end(rollout)).phase == "promoted"


async def test_what_is_not_proven_by_its_deadline_is_rolled_back_as_unproven(engine, releases):
    """A deadline is the batch's, counted by the engine, and is no failure of parity."""
    releases.reference.gone = True
    rollout = await engine.start(releases.write(golden=None, deadline="3s"))
    assert (await engine.end(rollout)).phase == "rolled-back"
    assert "deadline" in engine.rules(rollout)
    assert [alarm.kind for alarm in engine.store.alarms.list_alarms()] == ["parity-unproven"]
    assert engine.store.rollouts.latched(engine.record(rollout).proof) is None


@pytest.mark.slow
async def test_a_newer_release_supersedes_the_older_cleanly(engine, releases):
    """The older one is taken back first; then the newer begins; never two on a stage."""
    older = await engine.start(releases.write("r1", bake="60s", parity_every="60s"))
    await engine.reach(older, "baking")
    newer = await engine.start(releases.write("r2"))
    assert engine.record(older).phase == "rolled-back"
    assert "superseded" in engine.rules(older)
    assert (await engine.end(newer)).phase == "promoted"
    assert engine.record(older).ended <= engine.store.rollouts.decisions(newer)[0].at
    assert engine.store.alarms.list_alarms() == []


async def test_the_same_release_started_twice_is_one_rollout(engine, releases):
    """A start that is repeated, by the command or by the network, begins nothing anew."""
    path = releases.write(bake="60s", parity_every="60s", batches=["100%"])
    rollout = await engine.start(path)
    await engine.reach(rollout, "baking")
    assert await engine.start(path) == rollout
    plan = freeze(load_release(path), data_folder=engine.folder)
    order = order_of(plan, rollout=rollout, started=1.0)
    await asyncio.gather(*(start_rollout(engine.client, order, queue=engine.queue) for _ in "ab"))
    assert await take_up(engine.client, engine.store, queue=engine.queue) == []
    assert "superseded" not in engine.rules(rollout)
    await engine.say("promote", rollout)
    await engine.say("promote", rollout)
    assert (await engine.end(rollout)).phase == "promoted"


async def test_words_of_people_are_in_the_log(engine, releases):
    """A person's rollback is carried out and says who wanted it and why, and alarms nobody."""
    rollout = await engine.start(releases.write(bake="60s", parity_every="60s"))
    await engine.reach(rollout, "baking")
    async with asyncio.timeout(60):
        while True:  # between two watches there is nothing under way for a moment
            status = await ask_status(engine.client, releases.stage.url)
            assert status is not None
            if status.performing == ["watch"]:
                break
            await asyncio.sleep(0.05)
    await engine.say("rollback", rollout, by="ben", reason="customers complain")
    record = await engine.end(rollout)
    assert record.phase == "rolled-back"
    assert record.state["cause"]["text"] == "rolled back by ben: customers complain"
    assert engine.store.alarms.list_alarms() == []


async def test_an_incomplete_rollback_can_be_asked_for_again(engine, releases):
    """Weights that do not read back are an alarm of their own, until a person tries again."""
    rollout = await engine.start(releases.write(bake="60s", parity_every="60s"))
    await engine.reach(rollout, "baking")
    with releases.unwritable():
        await engine.say("rollback", rollout)
        record = await engine.reach(rollout, "rollback-incomplete")
    assert record.ended is None
    assert [a.kind for a in engine.store.alarms.list_alarms()] == ["rollback-incomplete"]
    await engine.say("rollback", rollout)
    assert (await engine.end(rollout)).phase == "rolled-back"
    assert releases.weights() == {"r1": 0.0}
    assert engine.store.alarms.list_alarms(only_open=True) == []
    await engine.until(lambda: ("rollback-incomplete", "resolve") in releases.told(), releases.told)


async def test_a_worker_that_is_ended_leaves_its_work_to_the_next(engine, releases):
    """Ended in the middle of a parity run, all that was answered is kept and not asked again."""
    releases.stage.delay_s = 0.2
    rollout = await engine.start(releases.write(golden=None, bake="0s", parity_every=None))
    await engine.reach(rollout, "parity")
    await engine.until(lambda: len(releases.stage.asked) > 4, lambda: "nothing was asked")
    await engine.stop_worker()
    releases.stage.delay_s = 0.0
    await engine.add_worker()
    assert (await engine.end(rollout)).phase == "promoted"
    cases = [asked for asked in releases.stage.asked if asked.startswith("number")]
    # Once for each batch: what was under way at the end was waited for and kept.
    assert len(cases) == 2 * 24


async def test_a_try_that_is_thought_dead_keeps_its_cases_until_it_ends(
    engine, releases, monkeypatch
):
    """A worker that lives but is not heard of and its successor ask no case twice."""
    monkeypatch.setenv("DENV_HEARTBEAT_S", "1.5")
    monkeypatch.setattr(HeartbeatMemory, "beat", lambda _: None)
    tries = []
    asked = vars(parity_activities)["run_shard"]

    async def run_shard(*given, **named):
        tries.append(named["shard"])
        return await asked(*given, **named)

    monkeypatch.setattr(parity_activities, "run_shard", run_shard)
    releases.stage.delay_s = 1.0  # 24 cases in 8 slots: twice as long as the silence
    rollout = await engine.start(
        releases.write(golden=None, bake="0s", parity_every=None, batches=["100%"])
    )
    assert (await engine.end(rollout)).phase == "promoted"
    assert len(tries) > 1
    cases = [asked for asked in releases.stage.asked if asked.startswith("number")]
    assert sorted(cases) == sorted({f"number {n};" for n in range(24)})


async def test_two_workers_share_the_shards_of_one_run(engine, releases):
    """A run that is cut into shards asks each case once, whoever asks it."""
    await engine.add_worker()
    path = releases.write(golden=None, bake="0s", parity_every=None, shards=4, batches=["100%"])
    rollout = await engine.start(path)
    assert (await engine.end(rollout)).phase == "promoted"
    cases = [asked for asked in releases.stage.asked if asked.startswith("number")]
    assert sorted(cases) == sorted(set(cases))
    assert len(cases) == 24


async def test_a_rollout_that_the_server_forgot_goes_on_from_the_store(engine, releases):
    """All that is needed stands in the data; what waits there is taken up, once."""
    rollout = await engine.start(releases.write(bake="60s", parity_every="60s"))
    await engine.reach(rollout, "baking")
    await engine.client.get_workflow_handle(workflow_id(releases.stage.url)).terminate("lost")
    assert await take_up(engine.client, engine.store, queue=engine.queue) == [rollout]
    await engine.say("rollback", rollout)
    assert (await engine.end(rollout)).phase == "rolled-back"


def test_orders_hold_no_key(tmp_path, releases):
    """What travels to the server names keys and never holds one."""
    plan = freeze(load_release(releases.write()), data_folder=tmp_path)
    order = StageOrder(order_of(plan, rollout="r", started=1.0))
    assert order.order.plan["stage"]["key"] == {"env": None, "file": None}


@pytest.mark.slow
async def test_a_long_history_is_begun_anew(engine, releases, monkeypatch):
    """A rollout that outgrows one history goes on in another as if nothing were."""
    monkeypatch.setattr(stage_workflow, "MOST_EVENTS", 40)
    rollout = await engine.start(releases.write())
    assert (await engine.end(rollout)).phase == "promoted"
    assert engine.rules(rollout).count("parity-pass") == 2
    listed = engine.client.list_workflows(f"WorkflowId = '{workflow_id(releases.stage.url)}'")
    assert len([execution async for execution in listed]) > 1


@asynccontextmanager
async def incomplete(engine, releases):
    """Leave half of the traffic on a release that could not be taken back, for as long as this."""
    older = await engine.start(releases.write("r1", bake="60s", parity_every="60s"))
    await engine.reach(older, "baking")
    with releases.unwritable():
        await engine.say("rollback", older)
        await engine.reach(older, "rollback-incomplete")
        yield older


@pytest.mark.slow
async def test_a_newer_release_takes_what_is_incomplete_back_first(engine, releases):
    """No traffic is left on a failed release while a newer one is proven, and both end as said."""
    async with incomplete(engine, releases) as older:
        pass
    newer = await engine.start(releases.write("r2"))
    record = engine.record(older)
    assert record.phase == "rolled-back"
    assert "rollback-again" in engine.rules(older)
    assert engine.store.alarms.list_alarms(only_open=True) == []
    assert (await engine.end(newer)).phase == "promoted"
    assert record.ended <= engine.store.rollouts.decisions(newer)[0].at
    assert releases.weights() == {"r2": 1.0}


async def test_a_newer_release_is_refused_while_the_rollback_stays_incomplete(engine, releases):
    """It does not begin by itself later; the older one stays open, and a person can finish it."""
    async with incomplete(engine, releases) as older:
        for _ in "ab":
            with pytest.raises(RolloutRefusedError, match=older) as refused:
                await engine.start(releases.write("r2"))
            assert "\n" not in str(refused.value)
            assert engine.record(older).phase == "rollback-incomplete"
        assert [one.rollout for one in engine.store.rollouts.list_rollouts(active=True)] == [older]
        document = now_document(engine.store, older)
        assert document["weights_confirmed"] is False
    await engine.say("cancel", older)
    assert (await engine.end(older)).phase == "rolled-back"
    assert now_document(engine.store, older)["weights_confirmed"] is True
    assert [one.rollout for one in engine.store.rollouts.list_rollouts()] == [older]


async def test_a_release_started_twice_at_once_begins_once(engine, releases):
    """Two starts of one file that do not see each other yet give one rollout."""
    path = releases.write(bake="60s", parity_every="60s")
    first, second = await asyncio.gather(engine.start(path), engine.start(path))
    assert first == second
    assert [one.rollout for one in engine.store.rollouts.list_rollouts()] == [first]
    await engine.reach(first, "baking")
    newer = releases.write("r2", bake="60s", parity_every="60s")
    waiting = await asyncio.gather(engine.start(newer), engine.start(newer))
    assert waiting[0] == waiting[1] != first
    assert len(engine.store.rollouts.list_rollouts()) == 2
    await engine.say("cancel", waiting[0])
    await engine.end(waiting[0])


@pytest.mark.slow
async def test_a_worker_that_is_ended_while_a_release_bakes_loses_no_observed_time(
    engine, releases
):
    """What was watched counts, the time without a worker does not, and the bake goes on."""
    rollout = await engine.start(
        releases.write(bake="4s", parity_every="4s", batches=["100%"], look_cases=4)
    )
    await engine.reach(rollout, "baking")
    await asyncio.sleep(1.0)
    began = time.monotonic()
    await engine.stop_worker()
    assert time.monotonic() - began < 3.0
    await asyncio.sleep(3.0)
    await engine.add_worker()
    assert (await engine.end(rollout)).phase == "promoted"
    log = engine.store.rollouts.decisions(rollout)
    first = next(d.at for d in log if d.next_phase == "baking")
    last = next(d.at for d in log if d.phase == "baking" and d.next_phase != "baking")
    observed_s = sum(d.event["observed_s"] for d in log if d.event["type"] == "watched")
    assert 4.0 <= observed_s <= last - first - 3.0 + 0.1


@pytest.mark.slow
async def test_a_start_finds_a_rollout_that_the_server_forgot_and_takes_it_up_first(
    engine, releases
):
    """What stands in the data has its stage: it is taken back, and then the newer one begins."""
    older = await engine.start(releases.write("r1", bake="60s", parity_every="60s"))
    await engine.reach(older, "baking")
    await engine.client.get_workflow_handle(workflow_id(releases.stage.url)).terminate("lost")
    newer = await engine.start(releases.write("r2"))
    assert engine.record(older).phase == "rolled-back"
    assert "superseded" in engine.rules(older)
    assert (await engine.end(newer)).phase == "promoted"


async def test_a_rollout_that_the_server_forgot_is_not_superseded_by_itself(engine, releases):
    """An order for just what stands in the data takes that up, and nothing follows it."""
    path = releases.write("r1", bake="60s", parity_every="60s", batches=["100%"])
    older = await engine.start(path)
    await engine.reach(older, "baking")
    await engine.client.get_workflow_handle(workflow_id(releases.stage.url)).terminate("lost")
    plan = freeze(load_release(path), data_folder=engine.folder)
    order = order_of(plan, rollout="another", started=1.0)
    await start_rollout(engine.client, order, queue=engine.queue)
    await engine.say("promote", older)  # heard, although it is not taken up yet
    assert (await engine.end(older)).phase == "promoted"
    assert "promoted-early" in engine.rules(older)
    assert [one.rollout for one in engine.store.rollouts.list_rollouts()] == [older]


async def test_weights_that_others_change_while_it_bakes_are_set_again_once(engine, releases):
    """The first change may be a mistake: it is undone and logged. The second takes it back."""
    rollout = await engine.start(
        releases.write(bake="60s", parity_every="60s", health=OFTEN, batches=["50%", "100%"])
    )
    await engine.reach(rollout, "baking")
    edited = releases.edit_weights(0.9)
    await engine.until(
        lambda: "weights-set-again" in engine.rules(rollout), engine.shown(rollout, ("set again",))
    )
    assert releases.weights() == {"r1": 0.5}
    assert engine.store.alarms.list_alarms() == []
    log = engine.store.rollouts.decisions(rollout)
    (changed,) = [one for one in log if one.rule == "weights-changed"]
    assert f"it holds other weights, version {edited}, than were set" in changed.text
    releases.edit_weights(0.9)
    assert (await engine.end(rollout)).phase == "rolled-back"
    assert "weights-changed-again" in engine.rules(rollout)
    assert releases.weights() == {"r1": 0.0}
    assert [alarm.kind for alarm in engine.store.alarms.list_alarms()] == ["health-fail"]


@pytest.mark.slow
async def test_a_clock_that_is_set_bakes_and_skips_nothing(engine, releases, monkeypatch):
    """An hour forward and back while a release bakes: the time that was watched is the bake's."""
    rollout = await engine.start(
        releases.write(bake="3s", parity_every=None, batches=["100%"], health=OFTEN)
    )
    await engine.reach(rollout, "baking")
    began, wall = time.monotonic(), time.time
    for hours in (1, -1):
        monkeypatch.setattr(time, "time", lambda step=3600 * hours: wall() + step)
        await asyncio.sleep(0.5)
    record = await engine.end(rollout)
    assert record.phase == "promoted"
    assert time.monotonic() - began > 2.0
    watched = [
        d.event["observed_s"]
        for d in engine.store.rollouts.decisions(rollout)
        if d.event["type"] == "watched"
    ]
    assert 3.0 <= sum(watched) < 60.0


async def test_a_late_try_of_a_look_ends_quietly(engine, releases, caplog):
    """Overtaken by a person's word, a look finds its rollout elsewhere and asks nobody."""
    rollout = await engine.start(
        releases.write(bake="60s", parity_every="200ms", health=OFTEN, batches=["50%", "100%"])
    )
    log = await engine.until(
        lambda: (
            [d for d in engine.store.rollouts.decisions(rollout) if d.rule == "look-due"] or None
        ),
        engine.shown(rollout, ("a look",)),
    )
    (look,) = [action for action in log[0].actions if action["type"] == "look"]
    await engine.say("promote", rollout)
    await engine.until(
        lambda: "promoted-early" in engine.rules(rollout), engine.shown(rollout, ("batch 2",))
    )
    task, asked = Task(rollout, look), len(releases.stage.calls)
    activities = parity_activities.ParityActivities(engine.store)
    environment = ActivityEnvironment()
    await engine.stop_worker()
    asked = len(releases.stage.calls)
    opened = await environment.run(activities.open_parity, task)
    assert opened.event is not None
    assert opened.event["missing"] == "it is no longer awaited"
    shard = ShardTask(task, {"run": "none"}, 0)
    assert await environment.run(activities.ask_shard, shard) == 0
    closed = await environment.run(activities.close_parity, shard)
    assert (closed["type"], closed["tallies"]) == ("look-ended", [])
    assert len(releases.stage.calls) == asked
    assert "ResumeError" not in caplog.text


async def test_a_store_that_cannot_be_written_loses_nothing(engine, releases, read_only):
    """What was done waits to be written; written again, the rollout goes on as if nothing were."""
    rollout = await engine.start(releases.write(bake="60s", parity_every="60s", batches=["100%"]))
    await engine.reach(rollout, "baking")
    before = engine.rules(rollout)
    read_only(True)
    with pytest.raises(StoreError, match="attempt to write a readonly database"):
        engine.store.rollouts.set_weights("s", {}, at=1.0)
    await engine.say("promote", rollout)
    await asyncio.sleep(1.0)
    assert engine.rules(rollout) == before
    assert engine.record(rollout).phase == "baking"
    read_only(False)
    assert (await engine.end(rollout)).phase == "promoted"
    assert engine.rules(rollout)[: len(before)] == before
    assert engine.rules(rollout).count("promoted-early") == 1
