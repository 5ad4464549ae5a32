"""A sentinel on real servers: calm on the same weights, not on rounded ones."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from denv.lab.server import ServerConfig, serve_many
from denv.lab.templates import template
from denv.recipes import load as load_recipe
from denv.release import load_release
from denv.rollout.plan import freeze
from denv.rollout.schedules.sentinel import run_sentinel
from denv.store import open_store

pytestmark = [pytest.mark.lab, pytest.mark.asyncio(loop_scope="session")]

RELEASE = """
release: r1
stage: {{url: {stage}, model: smollm2}}
recipe: smollm2
parity: {{reference: {{url: {reference}, model: smollm2}}}}
"""


@pytest.mark.slow
async def test_rounded_weights_are_seen(tmp_path, weights, coarse_weights):
    """The recipe's golden prompts and forced tokens, twice calm; then the stage is requantised."""
    config = ServerConfig(weights=weights, chat_template=template("tools"))
    rounded = replace(config, weights=coarse_weights)
    recipe = load_recipe("smollm2")
    store = open_store(tmp_path / "home")

    def plan_of(stage, reference):
        path = tmp_path / "release.yaml"
        path.write_text(RELEASE.format(stage=stage.url, reference=reference.url))
        return freeze(load_release(path), recipe, data_folder=tmp_path / "home")

    try:
        async with serve_many([config, config, rounded]) as (stage, reference, coarse):
            plan = plan_of(stage, reference)
            first = await run_sentinel(plan, memory={}, store=store)
            assert first.why == ()
            assert first.memory["stage"]["forced"]
            began = time.monotonic()
            again = await run_sentinel(plan, memory=first.memory, store=store)
            assert again.why == ()
            assert time.monotonic() - began < 60
            for figures in (first, again):
                print(figures.document)
            found = await run_sentinel(plan_of(coarse, reference), memory=first.memory, store=store)
            print(found.why)
    finally:
        store.close()
    assert any("the stage" in why for why in found.why)
    assert not any("the reference" in why for why in found.why)
