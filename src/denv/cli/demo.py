"""What ``denv parity demo`` does: the main job on real servers, once right and once wrong."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from denv.cli.outputs import check_targets
from denv.cli.plan import Plan
from denv.cli.progress import watching
from denv.cli.running import stopped_by_signals
from denv.errors import UsageError
from denv.lab.cache import cache_dir
from denv.lab.demo import DemoServers, demo_servers
from denv.records import Endpoint, Thresholds, Verdict
from denv.report import Report, print_report, write_html, write_json
from denv.runner import Settings, run_parity
from denv.store import SqlStore, data_folder, open_store
from denv.suite import load_suite

REFERENCE_MAX_AGE_S = 3600.0
CONCURRENCY = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """One of the demo's two comparisons, and the verdict that it must have."""

    name: str
    about: str
    right: Verdict


PAIRS = (
    Pair("faithful", "a stage that serves the same weights in the same way", Verdict.PASS),
    Pair("damaged", "a stage with rounded weights and another chat template", Verdict.FAIL),
)


def demo_command(out: Path, *, wheel: Path | None, store: Path | None) -> int:
    """Run both comparisons, write their pages, and say where they are."""
    console = Console(stderr=True)
    _check_folder(out)
    opened = open_store(data_folder(store))
    try:
        verdicts = asyncio.run(_demo(out, wheel=wheel, store=opened, console=console))
    finally:
        opened.close()
    if None in verdicts or Verdict.CANCELLED in verdicts:
        return 130
    return 0 if verdicts == [pair.right for pair in PAIRS] else 4


def _check_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}") from None
    for pair in PAIRS:
        for target in _targets(out, pair):
            check_targets({"--out": target})


def _targets(out: Path, pair: Pair) -> tuple[Path, Path]:
    return out / f"{pair.name}.html", out / f"{pair.name}.json"


async def _demo(
    out: Path, *, wheel: Path | None, store: SqlStore, console: Console
) -> list[Verdict | None]:
    stop = asyncio.Event()
    verdicts: list[Verdict | None] = []

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False)

    with stopped_by_signals(stop):
        async with demo_servers(cache_dir(), say, wheel=wheel) as servers:
            for pair in PAIRS:
                if stop.is_set():
                    verdicts.append(None)
                    continue
                say(f"\n{pair.name}: {pair.about}")
                report = await _compare(pair, servers, store=store, stop=stop, console=console)
                page, document = _targets(out, pair)
                write_html(report, page)
                write_json(report, document)
                print_report(report, console, {"HTML": str(page), "JSON": str(document)})
                verdicts.append(Verdict(report.head["verdict"]))
    for pair, verdict in zip(PAIRS, verdicts, strict=True):
        say(f"{pair.name}: {verdict or 'not run'} (right: {pair.right})")
    return verdicts


async def _compare(
    pair: Pair, servers: DemoServers, *, store: SqlStore, stop: asyncio.Event, console: Console
) -> Report:
    stage = servers.faithful if pair.right is Verdict.PASS else servers.damaged
    recipe = servers.recipe
    plan = Plan(
        suite=recipe.suite,
        stage=_endpoint(stage, servers, name=f"{pair.name} stage"),
        reference=_endpoint(servers.reference, servers, name="reference"),
        settings=Settings(
            thresholds=Thresholds(rates=recipe.thresholds),
            max_tokens=recipe.max_tokens or Settings().max_tokens,
            max_age_s=REFERENCE_MAX_AGE_S,
            engine={"name": "llama.cpp", "version": None, "deterministic": True},
            recipe=recipe.label,
        ),
    )
    with watching(console) as watch:
        return await run_parity(
            load_suite(plan.suite),
            stage=plan.stage,
            reference=plan.reference,
            settings=plan.settings,
            store=store,
            watch=watch,
            stop=stop,
        )


def _endpoint(url: str, servers: DemoServers, *, name: str) -> Endpoint:
    return Endpoint(url=url, model=servers.model, name=name, concurrency=CONCURRENCY)
