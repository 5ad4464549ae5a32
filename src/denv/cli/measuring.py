"""What the measuring commands share: a run to the document, and its exit code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from denv.cli import loop
from denv.cli.outputs import check_files, check_targets, write_text
from denv.cli.plan import both_sides
from denv.cli.running import stopped_by_signals
from denv.instruments.probes import Cost, Instrument
from denv.records import Endpoint, Json, Price, Side
from denv.runner.measuring import Measured, Measuring, run_measure
from denv.store import data_folder, open_store

EXIT_CODES = {
    "pass": 0, "faithful": 0, "done": 0,
    "fail": 1, "different": 1,
    "unknown": 3, "undecided": 3,
    "error": 4,
}  # fmt: skip

LINE_EVERY_S = 15.0

MOST_BYTES = 64 * 1024 * 1024
"""Documents are some hundred kilobytes."""


def measure_command(
    instrument: Instrument,
    options: Mapping[str, Any],
    *,
    render: Callable[[Mapping[str, Json]], RenderableType],
    page: Callable[[Mapping[str, Json]], str] | None = None,
) -> int:
    """Measure, write what was asked for, and give the exit code."""
    console = Console(stderr=True)
    targets = {"--json": options["json_file"], "--html": options.get("html_file")}
    check_targets(targets)
    check_files(targets, _inputs(options))
    sides = both_sides(options)
    store = open_store(data_folder(options["store"]))
    try:
        measured = _run(instrument, sides, options, store=store, console=console)
    finally:
        store.close()
    if targets["--json"]:
        text = json.dumps(measured.document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        write_text("--json", targets["--json"], text)
    if targets["--html"] and page is not None:
        write_text("--html", targets["--html"], page(measured.document))
    console.print(render(measured.document))
    return EXIT_CODES[measured.exit_verdict]


def _inputs(options: Mapping[str, Any]) -> list[tuple[str, Path]]:
    """Give the files that a measurement reads, each with the option that names it."""
    named = {
        "--gates": options.get("gates"),
        "--release": options.get("release"),
        **{f"--{side}-key-file": options.get(f"{side}_key_file") for side in Side},
    }
    return [(option, Path(path)) for option, path in named.items() if path]


def _run(
    instrument: Instrument,
    sides: Mapping[Side, Endpoint],
    options: Mapping[str, Any],
    *,
    store: Any,
    console: Console,
) -> Measured:
    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    async def go() -> Measured:
        stop = asyncio.Event()
        with stopped_by_signals(stop):
            return await run_measure(
                instrument,
                stage=sides[Side.STAGE],
                reference=sides[Side.REFERENCE],
                store=store,
                resume=options["resume"],
                watch=None if options["quiet"] else Lines(say),
                stop=stop,
                on_checked=lambda: say_cost(instrument.cost(), sides, console),
                on_start=lambda name: say(
                    f"measurement {name} (--resume takes this id, beside the same options)"
                ),
            )

    return loop.run(go())


class Lines:
    """Says now and then how far a measurement is."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._shown_s = 0.0

    def __call__(self, measuring: Measuring) -> None:
        """Say it, where the last time is long enough ago."""
        if measuring.elapsed_s - self._shown_s < LINE_EVERY_S:
            return
        self._shown_s = measuring.elapsed_s
        parts = [
            f"{side}: {measuring.asked[side].requests:,} requests"
            f" of at most {measuring.planned.get(side, Cost()).requests:,}"
            for side in Side
        ]
        self._say(f"{' · '.join(parts)} · {measuring.elapsed_s:.0f} s")


def say_cost(costs: Mapping[Side, Cost], sides: Mapping[Side, Endpoint], console: Console) -> None:
    """Say before anything is sent what will be asked, and its price where prices are given."""
    for side, cost in costs.items():
        line = (
            f"{side}: at most {cost.requests:,} requests, {cost.prompt_tokens:,} prompt and "
            f"{cost.completion_tokens:,} completion tokens"
        )
        price = sides[side].price
        if price is not None:
            line += f", {price_of(cost, price):.4f} at the given price"
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def price_of(cost: Cost, price: Price) -> float:
    """Give the price of a cost, in the price's currency."""
    prompt = cost.prompt_tokens * price.prompt_per_million
    return (prompt + cost.completion_tokens * price.completion_per_million) / 1e6


def read_document(option: str, path: Path) -> Mapping[str, Json]:
    """Read an earlier document of ours; the error names the option."""
    from denv import strictjson
    from denv.errors import UsageError

    if path.exists() and not path.is_file():
        raise UsageError(f"{option} {path}: not a file")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{option} {path}: larger than {MOST_BYTES} bytes, not a document")
        document = strictjson.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror}") from None
    except strictjson.StrictJsonError as error:
        raise UsageError(f"{option} {path}: not JSON ({error})") from None
    if not isinstance(document, dict):
        raise UsageError(f"{option} {path}: not a document of denv")
    return document
