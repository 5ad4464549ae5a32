"""What ``denv parity report`` does, apart from its options."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console

from denv.cli import publishing
from denv.cli.outputs import (
    check_outputs,
    check_overwriting,
    is_standard_output,
    write_outputs,
)
from denv.errors import UsageError
from denv.report import print_report
from denv.runner.ledger import stored_report
from denv.store import RunRecord, SqlStore, data_folder, open_store

_PUBLIC = ("key", "suite", "stale_after", "with_suite", "indexed", "expires", "out")
_FORMS = ("json_file", "html_file", "junit_file", "markdown_file")


def report_command(options: Mapping[str, Any]) -> None:
    """Show the run, write the forms that were asked for, and the public files.

    Raises
    ------
    UsageError
        There is no such run, it has not ended, or options do not go together.
    """
    _check(options)
    check_outputs(options)
    folder = data_folder(options["store"])
    store = open_store(folder)
    try:
        if options["revoke"] is not None:
            publishing.revoke(store, options["revoke"])
            return
        if options["published"]:
            publishing.list_published(store)
            return
        record = ended_run(store, options["run"])
        report = stored_report(store, record.run, record.head or {})
        clean = any(is_standard_output(options[name]) for name in _FORMS if options[name])
        console = Console(file=sys.stderr if clean else sys.stdout)
        written = write_outputs(report, options)
        if options["public"]:
            publishing.publish(options, store=store, record=record, report=report, folder=folder)
        else:
            print_report(report, console, written)
            warn_altered(store, record.run)
    finally:
        store.close()


def _check(options: Mapping[str, Any]) -> None:
    given = [name for name in _PUBLIC if options[name]]
    if given and not options["public"]:
        name = "index" if given[0] == "indexed" else given[0].replace("_", "-")
        raise UsageError(f"--{name} needs --public")
    if options["expires"] is not None and options["out"] is not None:
        raise UsageError("--expires is for reports that are served: files in --out stay there")
    if options["suite"] is not None:
        check_overwriting(options, [("--suite", options["suite"])])


def warn_altered(store: SqlStore, run: str) -> None:
    """Say on standard error where a run's report is not the one that was logged as it ended."""
    fault = store.log.fault(run)
    if fault is not None:
        click.echo(f"denv: warning: {fault}: see what `denv db check` says", err=True)


def ended_run(store: SqlStore, run: str | None) -> RunRecord:
    """Find a run by its id, or the latest, that has come to an end.

    Raises
    ------
    UsageError
        There is none, or it has not ended.
    """
    record = store.latest_run() if run is None else store.get_run(run)
    if record is None:
        raise UsageError("there are no runs yet" if run is None else f"there is no run {run!r}")
    if record.head is None or record.state == "running":
        raise UsageError(
            f"run {record.run} has not ended: name another, or go on with "
            f"`denv parity run --resume {record.run}`"
        )
    return record
