"""Two workers share a large run; one is killed halfway, and the report is that of one process."""

from __future__ import annotations

import asyncio
import json
import uuid

import pytest

from denv.report import write_json
from denv.rollout.plan import Plan
from denv.runner import run_parity, stored_report
from denv.store import open_store
from tests.rollout.engine.killed import killer
from tests.rollout.engine.staging import LATE_CANCEL, Engine, Releases
from tests.runner.test_kill import comparable

CASES = 2000
SHARDS = 8

pytestmark = [pytest.mark.slow, LATE_CANCEL]


@pytest.mark.timeout(600)
async def test_two_workers_share_2000_cases_and_one_is_killed(tmp_path, models, store, temporal):
    """Each case is answered, few are asked again, and the report is the single process's."""
    releases = Releases(tmp_path, stage=await models(), reference=await models(), cases=CASES)
    path = releases.write(
        golden=None, bake="0s", parity_every=None, batches=["100%"], shards=SHARDS
    )
    task = {
        "kills": "worker",
        "queue": f"q-{uuid.uuid4().hex[:8]}",
        "folder": str(tmp_path / "home"),
        "temporal": temporal.address,
    }
    engine = Engine(temporal, store, tmp_path / "home", queue=task["queue"])
    async with killer(tmp_path / "a", **task) as first, killer(tmp_path / "b", **task) as second:
        living = asyncio.create_task(second.live())
        rollout = await engine.start(path)
        dying = asyncio.create_task(first.live())
        await engine.until(lambda: len(releases.stage.calls) > CASES // 2, lambda: "not halfway")
        first.end(9)
        assert await dying == 9
        assert (await engine.end(rollout)).phase == "promoted"
        second.end()
        await living
    # At most the slots of the killed process were paid for twice.
    assert (
        CASES <= len([c for c in releases.stage.calls if c.asked.startswith("number")]) <= CASES + 8
    )
    (run,) = [
        d.event["run"]
        for d in store.rollouts.decisions(rollout)
        if d.event["type"] == "parity-ended"
    ]
    shared = stored_report(store, run, store.get_run(run).head)
    plan = Plan.from_json(json.dumps(store.rollouts.get_rollout(rollout).plan))
    alone = open_store(tmp_path / "alone")
    single = await run_parity(
        plan.suite.load(),
        stage=plan.stage_at(1),
        reference=plan.reference.endpoint(),
        settings=plan.settings(),
        store=alone,
    )
    alone.close()
    assert written(shared, tmp_path / "a.json") == written(single, tmp_path / "b.json")


def written(report, path):
    """Write a report where ``comparable`` reads it."""
    write_json(report, path)
    return comparable(path)
