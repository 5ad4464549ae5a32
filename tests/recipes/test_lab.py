"""The lab's own recipe is within its model's reach, on real servers."""

from dataclasses import replace

import pytest

from denv.lab.cache import cache_dir
from denv.lab.server import ServerConfig, serve_many
from denv.lab.templates import template
from denv.lab.weights import requantise
from denv.recipes import load
from denv.records import Endpoint
from denv.runner import Settings, run_parity
from denv.store import open_store
from denv.suite import load_suite

pytestmark = [pytest.mark.lab, pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_golden_prompts_pass_on_the_model_as_it_is_and_at_eight_bits(tmp_path, weights):
    """All of them pass where the stage serves the model's own weights, and where q8_0 of them."""
    recipe = load("smollm2")
    assert recipe.golden is not None
    suite = load_suite(recipe.golden)
    config = ServerConfig(weights=weights, chat_template=template("tools"))
    eight = replace(config, weights=requantise(weights, "q8_0", cache_dir()))
    store = open_store(tmp_path)
    try:
        async with serve_many([config, config, eight]) as (reference, twin, rounded):
            for stage in (twin, rounded):
                report = await run_parity(
                    suite,
                    stage=Endpoint(url=stage.url, model=stage.model),
                    reference=Endpoint(url=reference.url, model=reference.model),
                    settings=Settings(
                        max_tokens=recipe.max_tokens or 96,
                        max_age_s=3600,
                    ),
                    store=store,
                )
                outcomes = {case["id"]: case["outcome"] for case in report.cases()}
                assert set(outcomes.values()) == {"pass"}, outcomes
                assert len(outcomes) >= 10
    finally:
        store.close()
