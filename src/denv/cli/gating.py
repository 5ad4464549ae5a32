"""What ``denv gate`` does, apart from its options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from denv.cli.outputs import check_apart
from denv.cli.parity import EXIT_CODES
from denv.cli.running import run_report
from denv.errors import HarnessError, UsageError
from denv.records import Verdict
from denv.release import load_release
from denv.report.gate import broken, ended, opened
from denv.report.text import escaped
from denv.runner.gates import GATE_ID, GateFolder, new_gate_id, now
from denv.store import data_folder


def gate_command(release_file: Path | None, options: Mapping[str, Any]) -> int:
    """Run, print the document, keep it, and give the exit code."""
    given = _run_options(release_file, options)
    gate = options["gate_id"] or new_gate_id()
    if not GATE_ID.fullmatch(gate):
        raise UsageError("--id takes letters, digits, dots, dashes and underscores, at most 128")
    release = load_release(given["release"]) if given["release"] else None
    about = None if release is None else {"name": release.name, "digest": release.digest}
    document = opened(gate, release=about, started=now())
    folder = GateFolder(data_folder(options["store"]))
    folder.begin(document)
    try:
        document = _decided(document, given, int(options["inconclusive_as"]))
    except BaseException as error:
        # Whoever waits for this gate is to learn that it is over.
        code = getattr(error, "exit_code", 4)
        folder.keep(broken(document, _reason(error), exit_code=code, finished=now()))
        raise
    folder.keep(document)
    click.echo(escaped(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)))
    return int(document["exit_code"])


def _run_options(release_file: Path | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Give the options of the run: the gate's own are taken out."""
    own = ("inconclusive_as", "gate_id")
    given = {name: value for name, value in options.items() if name not in own}
    if release_file is not None and given["release"] is not None:
        raise UsageError("a release is given twice, as an argument and by --release")
    check_apart(given, "standard output holds the gate's document; name a file")
    return {**given, "release": release_file or given["release"]}


def _decided(
    document: Mapping[str, Any], options: Mapping[str, Any], inconclusive_as: int
) -> dict[str, Any]:
    try:
        report = run_report(options)
    except HarnessError as error:
        return broken(document, str(error), exit_code=error.exit_code, finished=now())
    verdict = str(report.head["verdict"])
    code = inconclusive_as if verdict == Verdict.INCONCLUSIVE else EXIT_CODES[verdict]
    return ended(document, report, exit_code=code, finished=now())


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__
