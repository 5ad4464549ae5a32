"""A rollout on a terminal: where it stands, what it waits for, its latest decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

SHOWN_DECISIONS = 12

COLOURS = {
    "promoted": "green",
    "rolled-back": "red",
    "rollback-incomplete": "bold red",
    "cancelled": "yellow",
    "refused": "yellow",
    "holding": "yellow",
}


def view_of(document: Mapping[str, Any], *, most: int = SHOWN_DECISIONS) -> RenderableType:
    """Draw a rollout: where it stands, what it waits for, its latest decisions."""
    head = Text(f"{document['rollout']} · {document.get('release', '')} · ")
    head.append(document["phase"], style=COLOURS.get(document["phase"], "bold"))
    parts: list[RenderableType] = [head]
    if document.get("batch"):
        shares = " → ".join(f"{share:.0%}" for share in document["batches"])
        parts.append(Text(f"batch {document['batch']} of {len(document['batches'])} ({shares})"))
    unsure = "" if document.get("weights_confirmed") else " (wanted, not confirmed)"
    parts += [
        Text(f"  {row['weight']:7.2%} {row['release']} {row['replica']}{unsure}")
        for row in document.get("weights") or ()
    ]
    for wait in document.get("waits_for") or ():
        until = f", until {wait['until']}" if wait["until"] else ""
        parts.append(Text(f"waits for {wait['for']}{until}"))
    if document.get("cause"):
        parts.append(Text(f"because {document['cause']}"))
    parts.append(_log(document.get("decisions", [])[-most:]))
    return Group(*parts)


def _log(decisions: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 1), show_header=False)
    for decision in decisions:
        table.add_row(
            str(decision["seq"]),
            str(decision["at"])[11:19],
            f"{decision['phase']} → {decision['next_phase']}"
            if decision["phase"] != decision["next_phase"]
            else str(decision["phase"]),
            Text(f"[{decision['rule']}] {decision['text']}"),
        )
    return table
