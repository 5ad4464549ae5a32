"""The gates' document as tables on a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from denv.records import Json
from denv.report.text import line

Document = Mapping[str, Json]

_STYLES = {"pass": "bold green", "fail": "bold red", "unknown": "bold yellow"}


def render(document: Document) -> RenderableType:
    """Show each gate, the checks that do not pass, and what may be measured."""
    parts: list[RenderableType] = [_gates(document["gates"])]
    checks = [
        (gate["id"], check)
        for gate in document["gates"]
        for check in gate["evidence"]["checks"]
        if check["state"] != "pass"
    ]
    if checks:
        parts += [Text(), _checks(checks)]
    return Group(*parts, Text(), _admissible(document))


def _gates(gates: list[Document]) -> Table:
    table = _table("Gates", ("gate", "asks", "state", "finding"))
    for gate in gates:
        state = gate["state"]
        name = _say(gate["name"])
        table.add_row(_say(gate["id"]), name, _say(state, _STYLES[state]), _say(gate["finding"]))
    return table


def _checks(checks: list[tuple[str, Document]]) -> Table:
    table = _table("Checks that do not pass", ("gate", "check", "side", "state", "finding"))
    names: dict[tuple[str, ...], list[str]] = {}
    for gate, check in checks:
        row = gate, check["side"] or "both", check["state"], check["finding"]
        names.setdefault(row, []).append(check["check"])
    for (gate, side, state, finding), named in names.items():
        table.add_row(
            _say(gate),
            _say(", ".join(named)),
            _say(side),
            _say(state, _STYLES[state]),
            _say(finding),
        )
    return table


def _admissible(document: Document) -> Table:
    table = _table("Measurements", ("measurement", "admissible", "why not"))
    for name, allowed in document["admissible"].items():
        reasons = "; ".join(document["reasons"].get(name, ()))
        state = _say("yes", _STYLES["pass"]) if allowed else _say("no", _STYLES["fail"])
        table.add_row(_say(name), state, _say(reasons))
    return table


def _table(title: str, columns: tuple[str, ...]) -> Table:
    table = Table(
        title=Text(title),
        box=box.SIMPLE,
        show_edge=False,
        padding=(0, 1, 0, 0),
        title_justify="left",
        title_style="bold",
    )
    for column in columns:
        folds = column in {"check", "finding", "why not"}
        table.add_column(Text(column), overflow="fold", no_wrap=not folds)
    return table


def _say(value: object, style: str = "", limit: int = 600) -> Text:
    return Text(line(value, limit), style=style, overflow="fold")
