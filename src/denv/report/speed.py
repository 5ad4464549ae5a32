"""A speed run's document as tables on a terminal and as one page with pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

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
from denv.report.measure_page import Section
from denv.report.measure_page import Table as PageTable
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

NO_VERDICT = (
    "Medians, with minimum and maximum, of answers that were streamed. No parity verdict depends "
    "on them."
)
COMPARABLE = (
    "The columns of one run compare with each other: they were asked in turn, round by round, on "
    "one machine in one state. Runs of different times do not: the machine was another, or in "
    "another state. To see whether a new build is faster, measure both builds in one run, the old "
    "one as --reference."
)


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


def headline(document: Document) -> str:
    """Give one figure of each side: its first column at the first depth that has a rate."""
    for row in document["depths"]:
        rated = [cell for cell in row["cells"] if cell["tokens_per_s"] is not None]
        first = {cell["side"]: cell for cell in reversed(rated)}
        said = [
            f"{side} {number(first[side]['tokens_per_s']['median'])}"
            for side in ("stage", "reference")
            if side in first
        ]
        if said:
            return f"{', '.join(said)} tokens/s at depth {number_of(row['depth'])}"
    return DASH


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
    parts.append(
        _say(
            "medians (minimum – maximum); no verdict depends on them, and they compare with "
            "columns of this run alone",
            "dim",
        )
    )
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
    style = files("denv.report").joinpath("templates", "report.css").read_text("utf-8")
    html = (
        _environment()
        .get_template("speed.html.j2")
        .render(
            document=document,
            style=Markup(style + STYLE),  # noqa: S704 - of this package, no text of a run
            no_verdict=NO_VERDICT,
            comparable=COMPARABLE,
            sections=sections(document),
        )
    )
    return without_surrogates(html)


def sections(document: Document) -> list[Section]:
    """Give the figures with their pictures, and the notes, each under its heading."""
    found = [_by_depth(document), _by_load(document)]
    if document["notes"]:
        found.append(Section("Notes", lists=[("", document["notes"])]))
    return found


def _by_depth(document: Document) -> Section:
    tables = [_page_table("Figures by context depth", DEPTH_COLUMNS, depth_rows(document))]
    drafts = draft_table(document)
    if drafts is not None:
        heads, body = drafts
        title = "Tokens/s by context depth and draft length"
        tables.append(_page_table(title, ("depth", *heads), body))
    tables.append(_page_table("Prefill", SERVER_COLUMNS, server_rows(document)))
    return Section(
        "By context depth",
        text=_sentence(drafting_says(document)),
        tables=tables,
        pictures=_drawn(depth_picture(document)),
    )


def _by_load(document: Document) -> Section:
    title = f"Figures by requests at once, at depth {document['settings']['depths'][0]:,}"
    return Section(
        "By requests at once",
        tables=[_page_table(title, LOAD_COLUMNS, load_rows(document))],
        pictures=_drawn(load_picture(document)),
    )


def _page_table(title: str, columns: Sequence[str], rows: Iterable[list[str]]) -> PageTable:
    return PageTable(title, columns, list(rows), labelled=True)


def _drawn(picture: Markup | None) -> Sequence[Markup]:
    return () if picture is None else (picture,)


def _sentence(text: str) -> str:
    """Write a note that stands by itself.

    >>> _sentence("one draft column: none")
    'One draft column: none.'
    """
    return f"{text[:1].upper()}{text[1:]}."
