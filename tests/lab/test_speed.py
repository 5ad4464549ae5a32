"""Speed of real llama.cpp servers: counts must be right, and measured rates the server's own."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from denv.instruments.speed import Speed, Target
from denv.lab.server import ServerConfig, serve
from denv.records import Endpoint, Side
from denv.runner.benching import run_bench

pytestmark = pytest.mark.lab

DRAFTING = """
import json, os, sys, threading
from denv.lab.child import end_with_parent, parameters
from denv.lab.extra import load_extra

config = json.loads(sys.stdin.buffer.readline())
threading.Thread(target=end_with_parent, daemon=True).start()
engine = load_extra("xllamacpp")
p = parameters(engine, config)
p.speculative.types = [engine.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
draft = p.speculative.draft
draft.mparams.path, draft.n_max = p.model.path, config["draft"]
draft.cpuparams.n_threads = draft.cpuparams_batch.n_threads = 1
answer = os.dup(1)
os.dup2(2, 1)
server = engine.Server(p)
os.write(answer, json.dumps(server.listening_address).encode() + b"\\n")
threading.Event().wait()
"""


@asynccontextmanager
async def drafting(weights, length):
    """Run a server that drafts with the model itself, so that every draft is accepted."""
    config = {
        "weights": str(weights), "alias": "smollm2", "n_ctx": 512, "n_parallel": 1,
        "n_threads": 1, "host": "127.0.0.1", "port": 0, "cache_type_k": "f16",
        "cache_type_v": "f16", "chat_template": None, "cache_prompt": True, "draft": length,
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", DRAFTING),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(config).encode() + b"\n")
        url = json.loads(await process.stdout.readline())
        await healthy(url)
        yield f"{url}/v1"
    finally:
        process.terminate()
        await process.wait()


async def healthy(url):
    async with aiohttp.ClientSession() as session:
        for _ in range(1200):
            try:
                async with session.get(f"{url}/health") as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.05)
    raise AssertionError("the server did not come up")


@pytest.mark.slow
async def test_a_real_server(weights):
    """What is counted is exact, and the rates that arrive are those that the server tells."""
    config = ServerConfig(weights=weights, n_ctx=1024, n_parallel=2, cache_prompt=True)
    speed = Speed(tokens=9, depths=(160, 320, 1000), levels=(1, 2))
    async with serve(config) as server:
        stage = Endpoint(url=server.url, concurrency=2)
        document = (await run_bench(speed, endpoints={"stage": stage})).document
    about = document["servers"]["stage"]
    assert (about["engine"], about["slots"], about["context"]) == ("llama.cpp", 2, 512)
    for row in document["depths"][:2]:
        (cell,) = row["cells"]
        assert (cell["usable"], cell["completion_tokens"], cell["drafts"]) == (3, 27, None)
        assert cell["prompt_tokens"]["median"] == pytest.approx(row["depth"], abs=25)
        assert cell["prompt_tokens"]["median"] - cell["cached_tokens"]["median"] < 40
        # a token is an evaluation where nothing is drafted
        product = cell["tokens_per_s"]["median"] * cell["ms_per_evaluation"]["median"]
        assert product == pytest.approx(1000)
        told = cell["server_side"]["tokens_per_s"]["median"]
        assert told / 2 < cell["tokens_per_s"]["median"] < told * 2
    assert document["depths"][1]["servers"][0]["prefill"]["tokens_per_s"]["samples"] == 3
    assert "exceed" in document["depths"][2]["servers"][0]["reason"]
    assert [row["usable"] for row in document["load"]] == [3, 6]


@pytest.mark.slow
async def test_draft_lengths_of_servers(weights):
    """With drafts that are all accepted an evaluation gives one token more than the length.

    The counts prove the length, whatever this machine's speed is; and a server that ignores the
    request's field, as this one does, is found out.
    """
    other = Target("stage, draft 3", Side.STAGE, 3)
    small: dict[str, Any] = {"tokens": 9, "depths": (64,), "levels": (1,)}
    async with drafting(weights, 1) as one, drafting(weights, 3) as three:
        endpoints = {"stage": Endpoint(url=one), other.name: Endpoint(url=three)}
        speed = Speed(targets=(Target("stage", Side.STAGE), other), **small)
        compared = (await run_bench(speed, endpoints=endpoints)).document
        asked = Speed(**small, drafts=(1, 3))
        ignored = (await run_bench(asked, endpoints={"stage": Endpoint(url=three)})).document
    cells = compared["depths"][0]["cells"]
    assert [cell["draft"] for cell in cells] == [None, 3]
    each = [cell["drafts"]["tokens_per_evaluation"] for cell in cells]
    # 8 tokens after the first: 4 evaluations of two, 2 of four
    assert each == pytest.approx([2.0, 4.0], rel=0.15)
    assert compared["depths"][0]["best"]["stage"] is not None
    assert ignored["drafting"]["state"] == "ignored"
    assert [cell["draft"] for cell in ignored["depths"][0]["cells"]] == [None]
