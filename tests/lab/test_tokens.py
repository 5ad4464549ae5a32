"""Texts forced through real servers: the same weights, rounded ones, a coarser cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from denv.instruments.tokens import Tokens
from denv.lab.cache import cache_dir
from denv.lab.server import ServerConfig, serve, serve_many
from denv.lab.weights import requantise
from denv.records import Endpoint
from denv.runner.measuring import run_measure
from denv.schemas import schema
from denv.store import open_store

pytestmark = [pytest.mark.lab, pytest.mark.asyncio(loop_scope="session")]

SMALL: dict[str, Any] = {
    "texts": 10, "max_tokens": 8, "categories": ("code", "mathematics"), "resamples": 999,
}  # fmt: skip
SHORT = "{% for message in messages %}{{ message.content }}\n{% endfor %}"
"""A template that adds next to nothing: reading prompts is most of the time here."""

STRENGTHS = ("f16", "q8_0", "q5_0", "q4_0")


async def measure(folder, stage: str, reference: str, **settings: Any) -> Mapping[str, Any]:
    """Measure as the command does; the document fits its schema."""
    store = open_store(folder / "home")
    try:
        measured = await run_measure(
            Tokens(**{**SMALL, **settings}),
            stage=Endpoint(url=stage, model="smollm2", retries=1),
            reference=Endpoint(url=reference, model="smollm2", retries=1),
            store=store,
        )
    finally:
        store.close()
    Draft202012Validator(schema("tokens-1")).validate(measured.document)
    return measured.document


async def test_the_same_weights_are_faithful(tmp_path, monkeypatch, weights):
    """Two servers of one file agree in every token, over all their slots at once."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    async with serve_many([ServerConfig(weights=weights)] * 2) as (stage, reference):
        document = await measure(tmp_path, stage.url, reference.url)
    assert document["verdict"] == "faithful", document["reasons"]
    assert (document["path"], document["reference_path"]) == ("stepwise", "stepwise")
    assert document["lanes"] == {"stage": 4, "reference": 4}
    assert document["kl_lower_bound"]["value"] <= 1e-6
    assert document["floor"]["kl_lower_bound"]["value"] <= 1e-6
    assert document["top1_agreement"]["value"] == 1
    assert document["matched"]["ids"] == document["texts"] == 10
    assert document["warnings"] == []


@pytest.mark.slow
async def test_coarser_weights_differ_more(tmp_path, monkeypatch, weights):
    """At four strengths the divergence rises in order, and each interval excludes the floor."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    found = []
    config = ServerConfig(weights=weights, chat_template=SHORT)
    async with serve(config) as reference:
        for strength in STRENGTHS:
            rounded = requantise(weights, strength, cache_dir())
            async with serve(replace(config, weights=rounded)) as stage:
                document = await measure(
                    tmp_path, stage.url, reference.url, texts=6, categories=("prose",)
                )
                found.append(document)
    divergences = [one["kl_lower_bound"]["value"] for one in found]
    assert divergences == sorted(divergences)
    for document in found:
        floor = document["floor"]["kl_lower_bound"]
        assert floor["value"] <= 1e-6
        assert document["kl_lower_bound"]["interval"][0] > floor["interval"][1]
    assert found[-1]["verdict"] == "different"


@pytest.mark.slow
async def test_a_coarser_cache_has_its_slope_by_position(tmp_path, monkeypatch, weights):
    """With keys and values at q4_0 the slope is reported with its interval, whatever its sign."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    config = ServerConfig(weights=weights, chat_template=SHORT)
    coarse = replace(config, cache_type_k="q4_0", cache_type_v="q4_0")
    async with serve_many([coarse, config]) as (stage, reference):
        document = await measure(tmp_path, stage.url, reference.url, texts=6, max_tokens=16)
    slope = document["by_position"]["kl_slope"]
    assert slope["interval"][0] < slope["value"] < slope["interval"][1]
    assert document["verdict"] == "different", document["reasons"]


@pytest.mark.slow
async def test_prefill_reads_what_steps_read(tmp_path, monkeypatch, weights):
    """Chat that continues a begun message shows the same distributions, but for its batches."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    async with serve(ServerConfig(weights=weights)) as server:
        document = await measure(
            tmp_path, server.url, server.url, texts=1, max_tokens=5, path="assistant-prefill"
        )
    assert document["path"] == "assistant-prefill"
    assert document["matched"]["bytes"] == 1
    assert document["top1_agreement"]["value"] == 1
    assert document["verdict"] == "undecided"  # of one text
