"""What ``denv parity run`` does, apart from its options."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from denv.cli import loop
from denv.cli.plan import Plan, make_plan, set_options, storable
from denv.cli.progress import watching
from denv.errors import HarnessError, ResumeError, UsageError
from denv.report import (
    Report,
    print_report,
    write_html,
    write_json,
    write_junit,
    write_markdown,
)
from denv.runner import run_parity
from denv.store import SqlStore, data_folder, open_store
from denv.suite import load_suite

WRITERS: Mapping[str, tuple[str, Callable[[Report, Any], None]]] = {
    "json": ("json_file", write_json),
    "HTML": ("html_file", write_html),
    "JUnit": ("junit_file", write_junit),
    "Markdown": ("markdown_file", write_markdown),
}


def run_command(options: Mapping[str, Any]) -> str:
    """Run, write what was asked for, and give the verdict."""
    console = Console(stderr=True)
    check_outputs(options)
    store = open_store(data_folder(options["store"]))
    try:
        plan = _plan(options, store)
        report = run_plan(
            plan,
            store=store,
            resume=options["resume"],
            console=console,
            quiet=options["quiet"],
        )
        print_report(report, console, write_outputs(report, options))
        return str(report.head["verdict"])
    finally:
        store.close()


def _plan(options: Mapping[str, Any], store: SqlStore) -> Plan:
    stored = None
    if options["resume"]:
        record = store.get_run(options["resume"])
        if record is None:
            raise ResumeError(f"there is no run {options['resume']!r} to resume")
        stored = record.settings["options"]
    plan = make_plan(options, stored=stored)
    kept = storable({**(stored or {}), **set_options(options)}, plan.suite)
    return replace(plan, settings=replace(plan.settings, options=kept))


def run_plan(
    plan: Plan, *, store: SqlStore, resume: str | None, console: Console, quiet: bool
) -> Report:
    """Run a plan to its report; SIGINT and SIGTERM end it as cancelled."""
    suite = load_suite(plan.suite)

    async def go() -> Report:
        stop = asyncio.Event()
        with stopped_by_signals(stop), watching(console, quiet=quiet) as watch:
            return await run_parity(
                suite,
                stage=plan.stage,
                reference=plan.reference,
                settings=plan.settings,
                store=store,
                resume=resume,
                watch=watch,
                stop=stop,
                on_start=lambda run: console.print(f"run {run}", markup=False, highlight=False),
            )

    return loop.run(go())


@contextmanager
def stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """Set ``stop`` at the first signal; a second one has its usual effect."""
    events = asyncio.get_running_loop()
    taken: list[signal.Signals] = []

    def on_signal() -> None:
        stop.set()
        remove()

    def remove() -> None:
        while taken:
            events.remove_signal_handler(taken.pop())

    # Only the main thread may take signals; elsewhere whoever calls sets ``stop``.
    with suppress(ValueError, RuntimeError, NotImplementedError):
        for number in (signal.SIGINT, signal.SIGTERM):
            events.add_signal_handler(number, on_signal)
            taken.append(number)
    try:
        yield
    finally:
        remove()


def check_outputs(options: Mapping[str, Any]) -> None:
    """Refuse places that nothing can be written to, before anything is sent.

    Raises
    ------
    UsageError
        Names the option, and the folder that is missing or cannot be written.
    """
    targets = {
        f"--{name.lower()}": str(options[option])
        for name, (option, _) in WRITERS.items()
        if options.get(option) is not None
    }
    if list(targets.values()).count("-") > 1:
        raise UsageError("standard output takes one report: only one option may be -")
    for option, target in targets.items():
        folder = Path(target).absolute().parent
        if target == "-":
            continue
        if Path(target).is_dir():
            raise UsageError(f"{option} {target}: that is a folder")
        if not folder.is_dir():
            raise UsageError(f"{option} {target}: there is no folder {folder}")
        if not os.access(folder, os.W_OK) and not Path(target).exists():
            raise UsageError(f"{option} {target}: the folder {folder} cannot be written")


def write_outputs(report: Report, options: Mapping[str, Any]) -> dict[str, str]:
    """Write the report in every form that was asked for; give where each is.

    Raises
    ------
    HarnessError
        Names the option and what stood in the way; the run itself is kept.
    """
    written = {}
    for name, (option, write) in WRITERS.items():
        target = options.get(option)
        if target is None:
            continue
        if str(target) == "-":
            write(report, sys.stdout)
            sys.stdout.flush()
        else:
            try:
                write(report, Path(target))
            except OSError as error:
                raise HarnessError(f"--{name.lower()} {target}: {error.strerror}") from error
            written[name] = str(target)
    return written
