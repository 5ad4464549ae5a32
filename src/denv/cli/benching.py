"""What ``denv bench speed`` does, apart from its options."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rich.console import Console

from denv.cli import loop
from denv.cli.measuring import LINE_EVERY_S, price_of
from denv.cli.outputs import check_files, check_targets, write_text
from denv.cli.running import stopped_by_signals
from denv.cli.sides import endpoint, read
from denv.client.secrets import check_url, origin
from denv.errors import UsageError
from denv.instruments.speed import Speed, Target
from denv.instruments.speed.asking import DRAFT_FIELD
from denv.records import Endpoint, Side
from denv.report.speed import page, render
from denv.runner.benching import Benched, Benching, run_bench
from denv.runner.settings import MAX_CONCURRENCY
from denv.store import data_folder, open_store

MOST_DEPTH = 10_000_000
MOST_DRAFT = 1000


def speed_command(options: Mapping[str, Any]) -> int:
    """Measure, keep and write what was asked for, and give the exit code."""
    console = Console(stderr=True)
    targets = {"--json": options["json_file"], "--html": options["html_file"]}
    check_targets(targets)
    check_files(targets, [])
    speed, endpoints = plan(options)
    store = open_store(data_folder(options["store"]))
    try:
        benched = _run(speed, endpoints, console, quiet=options["quiet"])
        try:
            store.create_measure(benched.record)
        finally:  # what was measured is shown although it cannot be kept
            _write(benched, targets, console)
    finally:
        store.close()
    _say(f"speed run {benched.bench} is kept", console)
    return 0


def _write(benched: Benched, targets: Mapping[str, Any], console: Console) -> None:
    if targets["--json"]:
        text = json.dumps(benched.document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        write_text("--json", targets["--json"], text)
    if targets["--html"]:
        write_text("--html", targets["--html"], page(benched.document))
    console.print(render(benched.document))


def _say(line: str, console: Console) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


# ---------------------------------------------------------------- options


def plan(options: Mapping[str, Any]) -> tuple[Speed, dict[str, Endpoint]]:
    """Give what is measured, and where each target of it is.

    Raises
    ------
    UsageError
        Names the option.
    """
    levels = _numbers("--concurrency", options["concurrency"], most=MAX_CONCURRENCY)
    given = {**options, "concurrency": max(levels)}
    stage = endpoint(Side.STAGE, given)
    endpoints = {Side.STAGE.value: stage}
    targets = [Target(Side.STAGE.value, Side.STAGE)]
    for length, url in _draft_servers(options["draft_server"]):
        name = f"stage, draft {length}"
        targets.append(Target(name, Side.STAGE, draft=length))
        endpoints[name] = _moved(stage, url, length)
    if options["reference_url"]:
        targets.append(Target(Side.REFERENCE.value, Side.REFERENCE))
        endpoints[Side.REFERENCE.value] = endpoint(Side.REFERENCE, given)
    speed = Speed(
        targets=tuple(targets),
        rounds=options["rounds"],
        tokens=options["tokens"],
        depths=_numbers("--depth", options["depth"], most=MOST_DEPTH),
        levels=levels,
        drafts=_drafts(options, stage),
    )
    return speed, endpoints


def _numbers(option: str, text: str, *, most: int, least: int = 1) -> tuple[int, ...]:
    try:
        found = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise UsageError(f"{option} {text!r}: write whole numbers, as in 1,2,4") from None
    if found[0] < least or found[-1] > most:
        raise UsageError(f"{option} {text!r}: numbers from {least} to {most:,}")
    return tuple(found)


def _drafts(options: Mapping[str, Any], stage: Endpoint) -> tuple[int, ...]:
    if options["draft"] is None:
        return ()
    if options["draft_server"]:
        raise UsageError("--draft and --draft-server exclude each other")
    if DRAFT_FIELD in stage.extra:
        raise UsageError(f"--draft sets {DRAFT_FIELD}: leave it out of --stage-extra")
    lengths = _numbers("--draft", options["draft"], least=0, most=MOST_DRAFT)
    if len(lengths) < 2:
        raise UsageError("--draft takes at least two lengths, since they are compared")
    return lengths


def _draft_servers(given: tuple[str, ...]) -> list[tuple[int, str]]:
    found: dict[int, str] = {}
    for text in given:
        length, equals, url = text.partition("=")
        if not equals or not length.isdecimal() or int(length) > MOST_DRAFT:
            raise UsageError("--draft-server: write it as N=URL, N being the draft length")
        if int(length) in found:
            raise UsageError(f"--draft-server: the length {int(length)} stands twice")
        found[int(length)] = read("--draft-server", check_url, url)
    return sorted(found.items())


def _moved(stage: Endpoint, url: str, length: int) -> Endpoint:
    """Give the stage at another URL; its key and headers go to no other host."""
    if (stage.key is not None or stage.headers) and origin(url) != origin(stage.url):
        raise UsageError(
            f"--draft-server {length}=…: the stage's key and headers go to its own host alone"
        )
    name = f"{stage.name}, draft {length}" if stage.name else None
    return replace(stage, url=url, name=name)


# ---------------------------------------------------------------- the run


def _say_cost(speed: Speed, endpoints: Mapping[str, Endpoint], console: Console) -> None:
    for name, cost in speed.cost().items():
        line = (
            f"{name}: at most {cost.requests:,} requests, about {cost.prompt_tokens:,} prompt "
            f"tokens (most of them cached where it caches) and {cost.completion_tokens:,} "
            "completion tokens"
        )
        price = endpoints[name].price
        if price is not None:
            line += f", {price_of(cost, price):.4f} at the given price"
        _say(line, console)


def _run(
    speed: Speed, endpoints: Mapping[str, Endpoint], console: Console, *, quiet: bool
) -> Benched:
    async def go() -> Benched:
        stop = asyncio.Event()
        with stopped_by_signals(stop):
            watch = None if quiet else _Lines(console)
            return await run_bench(
                speed,
                endpoints=endpoints,
                watch=watch,
                stop=stop,
                on_checked=lambda: _say_cost(speed, endpoints, console),
            )

    return loop.run(go())


class _Lines:
    """Says now and then how far a run is."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown_s = 0.0

    def __call__(self, benching: Benching) -> None:
        if benching.elapsed_s - self._shown_s < LINE_EVERY_S:
            return
        self._shown_s = benching.elapsed_s
        line = f"{benching.asked} of at most {benching.planned} requests"
        _say(f"{line} · {benching.elapsed_s:.0f} s", self._console)
