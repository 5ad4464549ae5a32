"""``denv parity compare``: two runs of one suite, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from denv.cli.completing import RUNS
from denv.cli.parity import FOLDER
from denv.errors import UsageError

if TYPE_CHECKING:
    from denv.report.model import Document

MOST_SHOWN = 50


@click.command()
@click.argument("one", metavar="A", shell_complete=RUNS)
@click.argument("other", metavar="B", shell_complete=RUNS)
@click.option("--common", is_flag=True, help="Compare the cases that different suites share.")
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def compare(*, one: str, other: str, common: bool, as_json: bool, store: Path | None) -> int:
    """Set two runs side by side: which cases changed, and whether the stages differ.

    A and B are ids of runs, report files (of a run, or public ones), or folders of public reports.

    Exit codes: 0 compared, 2 usage error, 4 error.
    """
    from denv.publish.comparing import compare as set_beside

    found = set_beside(_read(one, store), _read(other, store), common=common)
    click.echo(json.dumps(found, ensure_ascii=False) if as_json else "\n".join(_lines(found)))
    return 0


def _read(name: str, store: Path | None) -> Document:
    """Give a document by its file or folder, or by the id of its run."""
    path = Path(name)
    if path.is_dir():
        path /= "report.json"
    if path.is_file():
        return _from_file(path)
    if path.suffix == ".json" or path.name != name:
        raise UsageError(f"{name}: there is no such file")
    return _from_store(name, store)


def _from_file(path: Path) -> Document:
    from denv.publish.reading import read_document

    try:
        return read_document(path.read_bytes(), name=str(path))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def _from_store(run: str, store: Path | None) -> Document:
    from denv.cli.reporting import ended_run, warn_altered
    from denv.runner.ledger import stored_report
    from denv.store import data_folder, open_store

    opened = open_store(data_folder(store))
    try:
        record = ended_run(opened, run)
        report = stored_report(opened, record.run, record.head or {})
        names = ("id", "check", "kind", "outcome", "cause", "reason")
        cases = [{name: case[name] for name in names} for case in report.cases()]
        warn_altered(opened, record.run)
        return {**report.head, "cases": cases}
    finally:
        opened.close()


def _lines(found: dict[str, Any]) -> list[str]:
    from denv.report.text import interval, line, percent

    def side(name: str) -> str:
        run = found[name]
        return f"{name}: run {line(run['run'], 80)} of {run['finished']}, {run['verdict']}"

    lines = [side("a"), side("b"), f"{found['cases']} cases are in both"]
    for name, row in [*found["kinds"].items(), ("all", found["all"])]:
        if not row["pairs"]:
            lines.append(f"{name}: no case was counted in both")
            continue
        both = " → ".join(f"{percent(row[s]['pass_rate'])} ({interval(row[s]['interval'])})"
                          for s in ("a", "b"))  # fmt: skip
        lines.append(
            f"{name}, {row['pairs']} counted in both: {both}; only A passes {row['only_a']}, "
            f"only B {row['only_b']}; exact McNemar p = {row['p_value']:.3g}"
        )
    lines.append(found["says"])
    for case in found["changed"][:MOST_SHOWN]:
        why = f": {line(case['reason'], 200)}" if case["reason"] else ""
        lines.append(f"  {line(case['id'], 120)}  {case['a']} → {case['b']}{why}")
    more = len(found["changed"]) - MOST_SHOWN
    return [*lines, f"  and {more} more (--json names all)"] if more > 0 else lines
