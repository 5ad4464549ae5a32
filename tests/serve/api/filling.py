"""A data folder with some of everything, made by the program itself against stub sides."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial

from denv import cli
from denv.instruments.speed import Speed
from denv.publish.keys import new_key
from denv.records import Endpoint
from denv.release import load_release
from denv.rollout.schedules.scheduled import fire
from denv.runner import run_measure
from denv.runner.benching import run_bench
from denv.store import RunRecord
from tests import suites
from tests.cli.publishing import stage_of
from tests.instruments.speed.test_live import speaking
from tests.rollout.schedules import sides
from tests.runner.test_measuring import Counting
from tests.serve.pages.playing import Played
from tests.stubs import StubServer

QUICK = Speed(tokens=12, depths=(60,), levels=(1,))
UNFINISHED = RunRecord(
    "run-unfinished",
    1.0,
    "running",
    {
        "identity": {
            "suite": {"name": "s", "sha256": "0" * 64, "cases": 3},
            "stage": {"url": "http://stage/v1", "model": None},
            "reference": {"url": "http://reference/v1", "model": "m"},
            "release": None,
        }
    },
    {},
)


async def fill(store, home, folder) -> None:
    """Write runs, a measurement, rollouts with alarms, schedules and a signed publication."""
    new_key(home / "publisher.key")
    async with AsyncExitStack() as stack:

        async def serve(handler=None):
            return await stack.enter_async_context(StubServer(handler))

        await _runs(folder, serve)
        stage, reference = await serve(), await serve()
        await run_measure(
            Counting(), stage=Endpoint(stage.url), reference=Endpoint(reference.url), store=store
        )
        quick = Endpoint((await serve(speaking(pause_s=0.004))).url)
        benched = await run_bench(QUICK, endpoints={"stage": quick})
        store.create_measure(benched.record)
        await _schedule(store, folder / "schedule", serve)
    store.create_run(UNFINISHED)
    for name, act in (("failed", Played.fail), ("baking", Played.bake)):
        where = folder / name
        where.mkdir()
        act(Played(store, where, rollout=f"chat-{name}-1"))


async def _runs(folder, serve) -> None:
    """Ask a suite of one stage that is right, and of one that is wrong and refuses."""
    suite = suites.write(folder, suites.numbered(30), "core.jsonl")
    reference = await serve()
    for faults in ({}, {"wrong": {"3", "7"}, "refused": {"9"}}):
        stage = await serve(stage_of(**faults))
        code = await asyncio.to_thread(
            cli.run,
            [
                *("parity", "run", "--suite", str(suite), "--pass", "exact=95%", "--quiet"),
                *("--stage", stage.url, "--reference", reference.url),
            ],
        )
        assert code in {0, 1, 3}, code


async def _schedule(store, folder, serve) -> None:
    folder.mkdir()

    def release_of(text):
        path = folder / "release.yaml"
        path.write_text(text)
        return load_release(path)

    stage, reference = sides.Side(), sides.Side()
    plan = sides.plan_of(
        release_of, folder, stage=await serve(stage), reference=await serve(reference)
    )
    sides.add(store, plan)
    for day in (1, 2):
        slot = sides.START + day * sides.DAY
        await fire(store, "nightly", slot, clock=partial(float, slot + 5))
        stage.wrong = {1, 2, 3}
    sides.add(store, plan, name="paused")
    store.schedules.pause_schedule("paused", note="moving house")
