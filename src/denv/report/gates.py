"""The gates' document as tables on a terminal and as one page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from denv.records import Json
from denv.report.measure_page import Part, Section, measure_page
from denv.report.measure_page import Table as PageTable
from denv.report.text import line

Document = Mapping[str, Json]

_STYLES = {
    "pass": "bold green", "fail": "bold red", "unknown": "bold yellow",
    "yes": "bold green", "no": "bold red",
}  # fmt: skip
_STATES = frozenset({"state", "admissible"})
"""The columns whose words have colours."""


VERDICTS = {
    "pass": "What is measured between these sides can mean what it says.",
    "fail": "Some of what is measured between these sides would mean nothing.",
    "unknown": "Not all that must hold of these sides could be seen.",
}

GATE_COLUMNS = ("gate", "asks", "state", "finding")
CHECK_COLUMNS = ("gate", "check", "side", "state", "finding")
ADMISSIBLE_COLUMNS = ("measurement", "admissible", "why not")


# ---------------------------------------------------------------- rows, for both forms


def gate_rows(document: Document) -> Iterator[list[str]]:
    """Give each gate with its state and finding."""
    for gate in document["gates"]:
        yield [gate["id"], gate["name"], gate["state"], gate["finding"]]


def check_rows(document: Document) -> Iterator[list[str]]:
    """Give the checks that do not pass; those of one finding stand together."""
    names: dict[tuple[str, ...], list[str]] = {}
    for gate in document["gates"]:
        for check in gate["evidence"]["checks"]:
            if check["state"] != "pass":
                row = gate["id"], check["side"] or "both", check["state"], check["finding"]
                names.setdefault(row, []).append(check["check"])
    for (gate, side, state, finding), named in names.items():
        yield [gate, ", ".join(named), side, state, finding]


def admissible_rows(document: Document) -> Iterator[list[str]]:
    """Give what may be measured, and why other measurements may not."""
    for name, allowed in document["admissible"].items():
        reasons = "; ".join(document["reasons"].get(name, ()))
        yield [name, "yes" if allowed else "no", reasons]


def verdict_of(document: Document) -> str:
    """Give the word for all gates: the worst state among them."""
    states = {gate["state"] for gate in document["gates"]}
    return next((word for word in ("fail", "unknown") if word in states), "pass")


# ---------------------------------------------------------------- terminal


def render(document: Document) -> RenderableType:
    """Show each gate, the checks that do not pass, and what may be measured."""
    parts: list[RenderableType] = [_shown("Gates", GATE_COLUMNS, gate_rows(document))]
    checks = list(check_rows(document))
    if checks:
        parts += [Text(), _shown("Checks that do not pass", CHECK_COLUMNS, checks)]
    admissible = _shown("Measurements", ADMISSIBLE_COLUMNS, admissible_rows(document))
    return Group(*parts, Text(), admissible)


def _shown(title: str, columns: tuple[str, ...], rows: Iterable[list[str]]) -> Table:
    table = _table(title, columns)
    for row in rows:
        styled = zip(columns, row, strict=True)
        table.add_row(
            *(_say(cell, _STYLES[cell] if name in _STATES else "") for name, cell in styled)
        )
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


# ---------------------------------------------------------------- page


def page(document: Document) -> str:
    """Give the document as one web page that needs nothing else."""
    return measure_page(document, part(document))


def part(document: Document) -> Part:
    """Give the verdict of the gates and their findings for a page."""
    verdict = verdict_of(document)
    tables = (
        PageTable("Gates", GATE_COLUMNS, list(gate_rows(document)), prose=True),
        PageTable("Checks that do not pass", CHECK_COLUMNS, list(check_rows(document)), prose=True),
        PageTable("Measurements", ADMISSIBLE_COLUMNS, list(admissible_rows(document)), prose=True),
    )
    admitted = [name for name, allowed in document["admissible"].items() if allowed]
    return Part(
        title="gates",
        verdict=verdict,
        says=VERDICTS[verdict],
        summary=f"Admissible: {', '.join(admitted) or 'nothing'}.",
        sections=[Section("What was found", tables=tables)],
    )
