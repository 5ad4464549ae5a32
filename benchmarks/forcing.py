"""Tokens a second at which texts are forced stepwise, beside those at which they are generated.

    python -m benchmarks.forcing [--slots 1,4] [--texts N] [--max-tokens N] [--rounds N]

One llama.cpp server with the lab's model does both, in turn and round by round, through the same
client and journal: it generates a text for each prompt by chat with logprobs, and is forced
through texts, all slots at once. What is forced are its own texts, and those of a server whose
weights were rounded, with which it does not always agree. Ratios are of one round over all
texts, and their median is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from denv.instruments.bank import Prompt, prompts
from denv.instruments.probes import SideFacts, Strand
from denv.instruments.tokens.abilities import Abilities, find_abilities
from denv.instruments.tokens.passes import ask_texts, find_targets, force_all
from denv.instruments.tokens.targets import Target, Text
from denv.lab.cache import cache_dir
from denv.lab.model import fetch
from denv.lab.server import ServerConfig, serve
from denv.lab.weights import requantise
from denv.records import Endpoint, Side
from denv.runner.probing import Prober
from denv.runner.sides import Sides
from denv.store import open_store

CATEGORIES = ("prose", "code", "mathematics")
OTHER = "q8_0"


class Server:
    """One server with what drives it, each pass with a journal of its own."""

    def __init__(self, url: str, folder: Path, *, slots: int) -> None:
        self.facts = SideFacts(model="smollm2", concurrency=slots)
        self._endpoint = Endpoint(url=url, model="smollm2", concurrency=slots)
        self._folder = folder
        self._passes = 0

    async def play(self, strand: Strand[Any]) -> tuple[Any, float]:
        """Run a strand as a measurement does; give its result and the seconds it took."""
        self._passes += 1
        store = open_store(self._folder / f"{self.facts.concurrency}-{self._passes}")
        sides = Sides(
            dict.fromkeys(Side, self._endpoint), notes={}, offline=False, on_note=lambda: None
        )
        prober = Prober(sides, store=store, measure="benchmark")
        began = time.perf_counter()
        try:
            found = await prober.play(strand)
            return found, time.perf_counter() - began
        finally:
            prober.close()
            await sides.close()
            store.close()


async def texts_of(
    server: Server, asked: Sequence[Prompt], abilities: Abilities, *, max_tokens: int
) -> tuple[list[Text], float]:
    """Generate; give the texts and the seconds."""
    strand = ask_texts(asked, abilities, max_tokens=max_tokens, facts=server.facts)
    found, seconds = await server.play(strand)
    return [one for one in found if isinstance(one, Text)], seconds


async def forced(server: Server, texts: Sequence[Text], abilities: Abilities) -> tuple[int, float]:
    """Force; give the tokens and the seconds, the preparation of the prompts left out."""
    forcer = abilities.forcers["stepwise"]
    found, _ = await server.play(find_targets(texts, abilities, forcer, origin=abilities))
    targets = [one for one in found if isinstance(one, Target)]
    lanes = abilities.lanes(server.facts)
    result, seconds = await server.play(force_all(targets, forcer, lanes=lanes))
    return sum(len(one) for one in result.values() if isinstance(one, tuple)), seconds


async def measured(weights: Path, other: Path, chosen: argparse.Namespace, *, slots: int) -> None:
    """Measure one server with so many slots."""
    asked = prompts(CATEGORIES, limit=chosen.texts)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        config = ServerConfig(weights=weights, n_parallel=slots, n_ctx=1024 * slots)
        theirs = await stack.enter_async_context(serve(replace(config, weights=other)))
        foreign_server = Server(theirs.url, folder / "other", slots=slots)
        abilities, _ = await foreign_server.play(find_abilities(Side.STAGE, top=chosen.top))
        foreign, _ = await texts_of(foreign_server, asked, abilities, max_tokens=chosen.max_tokens)
        running = await stack.enter_async_context(serve(config))
        server = Server(running.url, folder / "own", slots=slots)
        abilities, _ = await server.play(find_abilities(Side.STAGE, top=chosen.top))
        foreign_name = f"texts of {OTHER}"
        ratios: dict[str, list[float]] = {"its own texts": [], foreign_name: []}
        size = max(4, 2 * slots)
        for number in range(chosen.rounds):
            generated, forcing = Rate(), {name: Rate() for name in ratios}
            # In small groups, so that other work on the machine slows both alike.
            for first in range(0, len(asked), size):
                group = asked[first : first + size]
                own, seconds = await texts_of(
                    server, group, abilities, max_tokens=chosen.max_tokens
                )
                generated.add(sum(one.length for one in own), seconds)
                names = {one.id for one in group}
                theirs_of = [one for one in foreign if one.prompt.id in names]
                forcing["its own texts"].add(*await forced(server, own, abilities))
                forcing[foreign_name].add(*await forced(server, theirs_of, abilities))
            for name, rate in forcing.items():
                ratios[name].append(rate.value / generated.value)
                print(
                    f"{slots} slots, round {number + 1}: generated {generated.value:.1f} tokens/s, "
                    f"forced {rate.value:.1f} ({name}), ratio {ratios[name][-1]:.2f}",
                    flush=True,
                )
        for name, found in ratios.items():
            middle = statistics.median(found)
            print(f"{slots} slots, {name}: forced / generated, median {middle:.2f}", flush=True)


@dataclass
class Rate:
    """Tokens and the seconds that they took."""

    tokens: int = 0
    seconds: float = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        """Add what was measured."""
        self.tokens += tokens
        self.seconds += seconds

    @property
    def value(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--slots", default="1,4")
    options.add_argument("--texts", type=int, default=16)
    options.add_argument("--max-tokens", type=int, default=48)
    options.add_argument("--top", type=int, default=100)
    options.add_argument("--rounds", type=int, default=3)
    chosen = options.parse_args()
    weights = fetch(cache_dir(), progress=print)
    other = requantise(weights, OTHER, cache_dir())
    for slots in map(int, chosen.slots.split(",")):
        asyncio.run(measured(weights, other, chosen, slots=slots))


if __name__ == "__main__":
    main()
