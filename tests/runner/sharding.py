"""A process that asks whatever shards of a run are free, until all are done."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from denv.errors import ResumeError
from denv.records import Endpoint
from denv.runner import Settings, ShardPlan, run_shard
from denv.store import open_store
from denv.suite import load_suite

CONCURRENCY = 4


def side(url):
    """Give the endpoint that every process of the tests' runs asks."""
    return Endpoint(url=url, model="stub", retries=0, concurrency=CONCURRENCY)


async def work(home, suite_path, stage, reference, plan_text):
    """Take shard after shard; one that another process holds is tried again later."""
    store, suite = open_store(Path(home)), load_suite(suite_path)
    plan = ShardPlan(**json.loads(plan_text))
    left = list(plan.to_ask)
    while left:
        for shard in tuple(left):
            try:
                end = await run_shard(
                    suite,
                    plan=plan,
                    shard=shard,
                    stage=side(stage),
                    reference=side(reference),
                    settings=Settings(),
                    store=store,
                )
            except ResumeError:
                await asyncio.sleep(0.05)
                continue
            assert end.done == end.planned
            left.remove(shard)
    store.close()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:]))
