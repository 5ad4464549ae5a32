"""What ``denv doctor`` does, apart from its options."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from denv.cli import loop
from denv.cli.outputs import check_files, check_targets, is_standard_output, write_text
from denv.cli.temporal import given_connection
from denv.doctor.examining import Found, Subject, document_of, examine
from denv.doctor.finding import Finding, Level
from denv.report.text import escaped
from denv.store.home import folder_as_it_is

STYLES = {
    Level.OK: "green",
    Level.NOTE: "cyan",
    Level.WARNING: "bold yellow",
    Level.FAULT: "bold red",
}

NARROW_COLUMNS = 60
"""Below this what is said stands under its name, not beside it."""


def doctor_command(options: Mapping[str, Any]) -> int:
    """Look, show the findings, write the document, and give the exit code."""
    target, release = options["json_file"], options["release"]
    check_targets({"--json": target})
    if release is not None:
        check_files({"--json": target}, [("--release", release)])
    wants_temporal = any(options[name] for name in _TEMPORAL)
    subject = Subject(
        folder=folder_as_it_is(options["store"]),
        release=release,
        concurrency=options["concurrency"],
        temporal=given_connection(options) if wants_temporal else None,
    )
    found = loop.run(examine(subject))
    document = document_of(found)
    clean = target is not None and is_standard_output(target)
    _show(found, Console(file=sys.stderr if clean else sys.stdout))
    if target is not None:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
        write_text("--json", target, escaped(text) + "\n")
    return 1 if document["worst"] == Level.FAULT else 0


_TEMPORAL = (
    "temporal", "namespace", "tls", "tls_ca", "tls_cert", "tls_key",
    "temporal_key_env", "temporal_key_file",
)  # fmt: skip


def _show(found: Found, console: Console) -> None:
    area = None
    for each, finding in found:
        if each is not area:
            console.print(Text(each.value, style="bold"))
            area = each
        console.print(_row(finding, narrow=console.width < NARROW_COLUMNS))
    counts = document_of(found)["counts"]
    told = ", ".join(
        f"{counts[level]} {level if counts[level] == 1 else f'{level}s'}"
        for level in (Level.FAULT, Level.WARNING, Level.NOTE)
    )
    console.print(Text(told, style="bold"))


def _row(finding: Finding, *, narrow: bool) -> RenderableType:
    level = Text(f"  {finding.level}", style=STYLES[finding.level])
    said = Text(finding.text)
    if finding.advice is not None:
        said.append(f"\n→ {finding.advice}", style="italic")
    if narrow:
        return Group(Text.assemble(level, " ", finding.name), Padding(said, (0, 0, 0, 4)))
    row = Table(box=None, show_header=False, padding=(0, 2, 0, 0), expand=False)
    row.add_column(width=9, no_wrap=True)
    row.add_column(width=22, overflow="fold")
    row.add_column(overflow="fold")
    row.add_row(level, finding.name, said)
    return row
