"""A speed run's document as tables on a terminal and as one page with pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from denv.records import Json
from denv.report.environment import environment
from denv.report.html import figure
from denv.report.pictures import STYLE
from denv.report.speed_pictures import depth_picture, load_picture
from denv.report.text import line, percent, without_surrogates

Document = Mapping[str, Json]

DEPTH_COLUMNS = (
    "depth", "server", "draft", "tokens/s", "ms an evaluation", "first token, s", "drafts accepted",
)  # fmt: skip
LOAD_COLUMNS = (
    "at once", "server", "tokens/s, all together", "tokens/s, each", "first token, s",
)  # fmt: skip
SERVER_COLUMNS = ("depth", "server", "prefill, tokens/s", "as the server tells it", "not measured")
DASH = "–"


def number(value: float | None) -> str:
    """Write a figure with about three significant digits."""
    if value is None:
        return DASH
    decimals = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{decimals}f}"


def spread(found: Document | None) -> str:
    """Write a median with its range."""
    if found is None:
        return DASH
    low, high = number(found["min"]), number(found["max"])
    return f"{number(found['median'])} ({low}–{high})"


# ---------------------------------------------------------------- rows, for both forms


def depth_rows(document: Document) -> Iterator[list[str]]:
    """Give a row for each cell: what was asked, and the figures."""
    for row in document["depths"]:
        for cell in row["cells"]:
            drafts = cell["drafts"]
            rate = spread(cell["tokens_per_s"]) + best_mark(row["best"][cell["side"]], cell)
            yield [
                number_of(row["depth"]),
                cell["server"],
                DASH if cell["draft"] is None else str(cell["draft"]),
                rate,
                spread(cell["ms_per_evaluation"]),
                spread(cell["ttft_s"]),
                DASH if drafts is None else percent(drafts["acceptance"]),
            ]


def best_mark(best: Document | None, cell: Document) -> str:
    """Mark the best of its depth, and say where the ranges overlap."""
    if best is None or (best["server"], best["draft"]) != (cell["server"], cell["draft"]):
        return ""
    return " ★ best" if best["clear"] else " ★ best, ranges overlap"


def server_rows(document: Document) -> Iterator[list[str]]:
    """Give the prefill of each depth and server, or why there is none."""
    for row in document["depths"]:
        for server in row["servers"]:
            prefill = server["prefill"]
            told = prefill["server_side"] if prefill else None
            yield [
                number_of(row["depth"]),
                server["server"],
                spread(prefill["tokens_per_s"]) if prefill else DASH,
                spread(told["tokens_per_s"]) if told else DASH,
                server["reason"] or "",
            ]


def load_rows(document: Document) -> Iterator[list[str]]:
    """Give a row for each number of requests at once, and server."""
    for row in document["load"]:
        yield [
            str(row["concurrency"]),
            row["server"],
            spread(row["tokens_per_s"]),
            spread(row["tokens_per_s_each"]),
            spread(row["ttft_s"]),
        ]


def draft_table(document: Document) -> tuple[list[str], list[list[str]]] | None:
    """Give context depth × draft length of the stage, None where there is one column alone."""
    rows = [
        (row, [cell for cell in row["cells"] if cell["side"] == "stage"])
        for row in document["depths"]
    ]
    columns = list(dict.fromkeys((c["server"], c["draft"]) for _, cells in rows for c in cells))
    if len(columns) < 2:
        return None
    heads = [server if draft is None else f"draft {draft}" for server, draft in columns]
    body = []
    for row, cells in rows:
        found = {(cell["server"], cell["draft"]): cell for cell in cells}
        shown = [_median(found.get(column), row["best"]["stage"]) for column in columns]
        body.append([number_of(row["depth"]), *shown])
    return heads, body


def _median(cell: Document | None, best: Document | None) -> str:
    if cell is None or cell["tokens_per_s"] is None:
        return DASH
    return number(cell["tokens_per_s"]["median"]) + best_mark(best, cell)


def number_of(value: int) -> str:
    """Write a whole number with its thousands set apart."""
    return f"{value:,}"


# ---------------------------------------------------------------- terminal


def render(document: Document) -> RenderableType:
    """Give the tables and notes for a terminal."""
    parts: list[RenderableType] = [
        _table("Speed by context depth", DEPTH_COLUMNS, depth_rows(document)),
        _say(drafting_says(document), "dim"),
    ]
    matrix = draft_table(document)
    if matrix is not None:
        heads, body = matrix
        title = "Tokens/s by context depth and draft length"
        parts.append(_table(title, ("depth", *heads), body))
    parts.append(_table("Prefill", SERVER_COLUMNS, server_rows(document)))
    if document["load"]:
        depth = document["settings"]["depths"][0]
        parts.append(_table(f"Load at depth {depth:,}", LOAD_COLUMNS, load_rows(document)))
    if document["notes"]:
        parts.append(Text("Notes", style="bold"))
        parts += [Padding(_say(note), (0, 0, 0, 2)) for note in document["notes"]]
    parts.append(_say("medians (minimum – maximum); no verdict depends on them", "dim"))
    return Group(*parts)


def drafting_says(document: Document) -> str:
    """Say why there is one column of draft lengths, or what the columns are."""
    says: str = document["drafting"]["says"]
    return says if draft_table(document) is not None else f"one draft column: {says}"


def _table(title: str, columns: Sequence[str], rows: Iterable[list[str]]) -> RenderableType:
    table = Table(box=box.SIMPLE, show_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(Text(line(column)), overflow="fold")
    for row in rows:
        table.add_row(*(_say(cell) for cell in row))
    # A table's own title is folded to the table's width.
    return Group(Text(title, style="bold"), table, Text())


def _say(text: str, style: str = "") -> Text:
    return Text(line(text, 500), style=style, overflow="fold")


# ---------------------------------------------------------------- page


@cache
def _environment() -> Environment:
    return environment(line=line, figure=figure)


def page(document: Document) -> str:
    """Give the document as one web page that needs nothing else."""
    html = _environment().get_template("speed.html.j2").render(_context(document))
    return without_surrogates(html)


def _context(document: Document) -> Mapping[str, Any]:
    style = files("denv.report").joinpath("templates", "report.css").read_text("utf-8")
    return {
        "document": document,
        "style": Markup(style + STYLE),  # noqa: S704 - of this package, no text of a run
        "depth_picture": depth_picture(document),
        "load_picture": load_picture(document),
        "depth_columns": DEPTH_COLUMNS,
        "depth_rows": list(depth_rows(document)),
        "server_columns": SERVER_COLUMNS,
        "server_rows": list(server_rows(document)),
        "load_columns": LOAD_COLUMNS,
        "load_rows": list(load_rows(document)),
        "drafts": draft_table(document),
        "drafting": drafting_says(document),
    }
