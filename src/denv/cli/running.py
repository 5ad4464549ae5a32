"""What ``denv parity run`` does, apart from its options."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from rich.console import Console

from denv.cli import loop
from denv.cli.outputs import check_outputs, check_overwriting, write_outputs
from denv.cli.plan import Plan, inputs_of, make_plan, set_options, storable, without_gate
from denv.cli.progress import watching
from denv.errors import ResumeError
from denv.report import Report, print_report
from denv.runner import run_parity
from denv.store import SqlStore, data_folder, open_store
from denv.suite import load_suite

FAILING_KEPT = 10


def run_command(options: Mapping[str, Any]) -> str:
    """Run, write what was asked for, and give the verdict."""
    return str(run_report(options).head["verdict"])


def run_report(options: Mapping[str, Any]) -> Report:
    """Run, write what was asked for, and give the report; of its cases the first that failed."""
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
        # The store is closed below, and the cases are read out of it.
        failing = list(report.failing(FAILING_KEPT))
        return Report(report.head, lambda: iter(failing))
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
    check_overwriting(options, inputs_of({**(stored or {}), **set_options(options)}))
    kept = storable({**(stored or {}), **set_options(options)}, plan.suite)
    if plan.settings.private is not None and plan.settings.private.shapes is not None:
        kept["shapes"] = plan.settings.private.shapes.text  # a router's table changes
    return replace(plan, settings=replace(plan.settings, options=kept))


def run_plan(
    plan: Plan, *, store: SqlStore, resume: str | None, console: Console, quiet: bool
) -> Report:
    """Run a plan to its report; SIGINT and SIGTERM end it as cancelled."""
    suite = load_suite(plan.suite)

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    ungated = without_gate(plan.settings.thresholds, suite.kinds)
    if ungated:
        say(ungated)

    def on_stop() -> None:
        say("finishing what is in flight; once more gives it up")

    async def go() -> Report:
        stop = asyncio.Event()
        with stopped_by_signals(stop, on_stop), watching(console, quiet=quiet) as watch:
            return await run_parity(
                suite,
                stage=plan.stage,
                reference=plan.reference,
                settings=plan.settings,
                store=store,
                resume=resume,
                watch=watch,
                stop=stop,
                on_start=lambda run: say(f"run {run} (--resume takes this id)"),
            )

    return loop.run(go())


@contextmanager
def stopped_by_signals(
    stop: asyncio.Event, on_stop: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Set ``stop``, and call ``on_stop``, at the first signal; the second ends the task at once.

    A third one has its usual effect.
    """
    events = asyncio.get_running_loop()
    task = asyncio.current_task()
    taken: list[signal.Signals] = []

    def on_signal() -> None:
        if not stop.is_set():
            stop.set()
            on_stop()
            return
        remove()
        if task is not None:
            # No KeyboardInterrupt: it may strike within a callback, where it stops no task.
            task.cancel()

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
    except asyncio.CancelledError:
        if stop.is_set() and not taken:
            raise KeyboardInterrupt from None  # as a command says that it was interrupted
        raise
    finally:
        remove()
