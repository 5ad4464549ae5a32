"""Real vLLM against real llama.cpp: ``make test-vllm``.

The first run installs vLLM into the lab's cache (2.5 GB). Nothing of this is a stub.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from denv.instruments.gates import Gates
from denv.instruments.selfcheck import run_selfcheck
from denv.instruments.tokens import Tokens
from denv.lab.cache import cache_dir
from denv.lab.model import fetch
from denv.lab.server import ServerConfig, serve
from denv.lab.weights import requantise
from denv.records import Endpoint
from denv.runner import run_measure
from denv.store import open_store
from tests.docs.pages import ROOT

pytestmark = [
    pytest.mark.skipif("DENV_VLLM" not in os.environ, reason="opt-in: make test-vllm"),
    pytest.mark.timeout(3600),
]

TEXTS = 20
MOST_TOKENS = 40
TOP = 300
CACHE = cache_dir()
"""Found before a test has a data folder of its own, so that all tests share one installation."""

SHORT = ("prose", "code", "mathematics", "languages", "structured")
"""Prompts of these fit the servers' contexts of 2048 tokens a slot."""


@asynccontextmanager
async def vllm(dtype: str) -> AsyncIterator[str]:
    """Run vLLM in a process of its own; give its base URL."""
    # Another folder than the lab's cache may hold the environment already.
    folder = os.environ["DENV_VLLM"]
    cache = str(CACHE) if folder == "1" else folder
    options = ["--dtype", dtype, "--port", "0", "--cache", cache]
    # A model this small leaves a tenth of its mass outside the default of 20 alternatives, and a
    # twenty-fifth outside 100: what is not reported counts as differing.
    options += ["--", "--max-logprobs", str(TOP)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "scripts" / "serve_vllm.py"),
        *options,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        url = (await process.stdout.readline()).decode().strip()
        assert url, "vLLM did not start; its log is above"
        yield url
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


@asynccontextmanager
async def llama_cpp() -> AsyncIterator[str]:
    """Run llama.cpp on the model's weights, written out as float32."""
    weights = requantise(fetch(CACHE, progress=print), "f32", CACHE)
    async with serve(ServerConfig(weights=weights)) as server:
        yield server.url


async def measured(instrument, stage: str, reference: str, folder):
    store = open_store(folder)
    try:
        return await run_measure(
            instrument,
            stage=Endpoint(url=stage, concurrency=4),
            reference=Endpoint(url=reference, concurrency=4),
            store=store,
        )
    finally:
        store.close()


def shown(name: str, document) -> None:
    """Print what was measured beside the floor."""
    print(f"\n{name}: {document['verdict']}")
    for figure in ("top1_agreement", "kl_lower_bound", "total_variation", "delta_nll"):
        print(f"  {figure}: {document[figure]} floor {document['floor'][figure]}")


async def test_engines_on_the_same_float32_weights(tmp_path, monkeypatch):
    """Real vLLM in float32 is faithful to llama.cpp in float32, and the gates find no fault."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path))
    async with vllm("float32") as stage, llama_cpp() as reference:
        gates = await measured(Gates(run_selfcheck()), stage, reference, tmp_path)
        for gate in gates.document["gates"]:
            print(f"{gate['id']} {gate['name']}: {gate['state']}: {gate['finding']}")
        failing = [gate for gate in gates.document["gates"] if gate["state"] == "fail"]
        assert failing == []
        tokens = Tokens(texts=TEXTS, max_tokens=MOST_TOKENS, categories=SHORT, top=TOP)
        found = await measured(tokens, stage, reference, tmp_path)
    shown("float32 against llama.cpp", found.document)
    assert found.document["verdict"] == "faithful"


async def test_bfloat16_is_within_the_margins_of_float32(tmp_path, monkeypatch):
    """Real vLLM in bfloat16 is faithful to vLLM in float32: honest rounding is no difference."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path))
    async with vllm("bfloat16") as stage, vllm("float32") as reference:
        tokens = Tokens(texts=TEXTS, max_tokens=MOST_TOKENS, categories=SHORT, top=TOP)
        found = await measured(tokens, stage, reference, tmp_path)
    shown("bfloat16 against float32", found.document)
    assert found.document["verdict"] == "faithful"
