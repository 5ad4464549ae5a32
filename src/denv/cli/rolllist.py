"""A list of rollouts for people: a block a stage, a line a rollout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from denv.cli.rollview import COLOURS
from denv.rollout.states import Phase

LONGEST_PHASE = max(len(phase) for phase in Phase)

WIDE = 100
"""From this width on there is room for when each began; its id says so too."""


def list_of(rows: Sequence[Mapping[str, Any]], *, width: int) -> RenderableType:
    """Draw rows of :func:`~denv.rollout.documents.summary_of`; stages by the newest first."""
    if not rows:
        return Text("no rollout")
    stages = dict.fromkeys(row["stage"] for row in rows)
    parts: list[RenderableType] = []
    for stage in stages:
        parts.append(Text(stage, style="bold", overflow="fold"))
        parts.append(_table([row for row in rows if row["stage"] == stage], width=width))
    return Group(*parts)


def _table(rows: Sequence[Mapping[str, Any]], *, width: int) -> Table:
    wide = width >= WIDE
    form = "%Y-%m-%d %H:%M" if wide else "%m-%d %H:%M"
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("rollout", no_wrap=True)
    table.add_column("release", overflow="fold", ratio=1)
    table.add_column("phase", no_wrap=True, min_width=LONGEST_PHASE)
    table.add_column("batch", no_wrap=True)
    if wide:
        table.add_column("started (UTC)", no_wrap=True)
    table.add_column("ended (UTC)", no_wrap=True)
    for row in rows:
        started = [_written(row["started"], form)] if wide else []
        table.add_row(
            row["rollout"],
            Text(row["release"]),
            Text(row["phase"], style=COLOURS.get(row["phase"], "")),
            f"{row['batch']}/{len(row['batches'])}",
            *started,
            _written(row["ended"], form),
        )
    return table


def _written(time: str | None, form: str) -> str:
    """Write a time; nothing for one that is not yet."""
    return "" if time is None else datetime.fromisoformat(time).strftime(form)
