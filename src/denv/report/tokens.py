"""The document of tokens as tables on a terminal and as one page with pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from denv.records import Json
from denv.report.html import figure
from denv.report.measure_page import Part, Section, measure_page
from denv.report.measure_page import Table as PageTable
from denv.report.text import line
from denv.report.tokens_pictures import agreement_picture, change_picture, rank_picture

Document = Mapping[str, Json]
Rows = Sequence[Sequence[str]]

DASH = "–"
LEAST = 1e-12

VERDICTS = {
    "faithful": "The stage's next-token distributions are the reference's, within the margins.",
    "different": "The stage's next-token distributions differ from the reference's.",
    "undecided": "The texts do not show whether the distributions are the same.",
}

STYLES = {"faithful": "bold green", "different": "bold red", "undecided": "bold yellow"}

FIGURES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("top-1 agreement", ("top1_agreement",)),
    ("KL, lower bound, nats", ("kl_lower_bound",)),
    ("total variation, upper bound", ("total_variation",)),
    ("total variation as seen", ("total_variation", "seen")),
    ("mass that no list shows", ("total_variation", "unreported")),
    ("ΔNLL, nats", ("delta_nll",)),
    ("NLL of the stage, nats", ("nll", "stage")),
    ("NLL of the reference, nats", ("nll", "reference")),
    ("text's token ranks first", ("rank", "first")),
    ("its mean rank", ("rank", "mean")),
    ("Δp, mean", ("delta_p", "mean")),
    ("Δp, root mean square", ("delta_p", "rms")),
)
COLUMNS = ("figure", "value", "interval", "noise floor", "its interval")
PART_COLUMNS = ("texts", "tokens", "agreement", "its interval", "KL, nats", "its interval")


def number(value: float | None) -> str:
    """Write a figure with four significant digits; what rounding leaves of 0 is 0."""
    if value is None:
        return DASH
    return "0" if abs(value) < LEAST else f"{value:.4g}"


def interval(limits: Sequence[float] | None) -> str:
    """Write the limits of a figure."""
    return DASH if limits is None else f"{number(limits[0])} … {number(limits[1])}"


# ---------------------------------------------------------------- rows, for both forms


def figure_rows(document: Document) -> Iterator[list[str]]:
    """Give each figure with its interval, beside the floor's."""
    for name, keys in FIGURES:
        found, floor = _at(document, keys), _at(document["floor"], keys)
        cells = [cell for one in (found, floor) for cell in _cells(one)]
        if found is not None or floor is not None:
            yield [name, *cells]


def position_rows(document: Document) -> Iterator[list[str]]:
    """Give agreement and divergence in each bucket of positions."""
    for row in (document["by_position"] or {"buckets": []})["buckets"]:
        first, last = row["from"] + 1, row["to"] + 1
        yield [str(first) if first == last else f"{first} – {last}", *_part(row)]


def depth_rows(document: Document) -> Iterator[list[str]]:
    """Give the same for each depth of long-context prompts."""
    for row in (document["by_depth"] or {"groups": []})["groups"]:
        depth = row["depth_tokens"]
        yield ["short" if depth is None else f"{depth:,}", *_part(row)]


def category_rows(document: Document) -> Iterator[list[str]]:
    """Give the same for each category of prompts."""
    for row in document["by_category"] or []:
        yield [row["category"], *_part(row)]


def slopes(document: Document) -> Iterator[str]:
    """Say how KL and agreement change along the text and with the depth of context."""
    position, depth = document["by_position"], document["by_depth"]
    found = [
        ("KL by position, nats a token", position and position["kl_slope"]),
        ("agreement by position, a token", position and position["agreement_slope"]),
        ("KL by context, nats a thousand tokens", depth and depth["kl_slope_per_1000"]),
    ]
    for name, slope in found:
        if slope is not None:
            yield f"{name}: {number(slope['value'])} ({interval(slope['interval'])})"


def lost(document: Document) -> Iterator[str]:
    """Say which texts could not be measured, and why."""
    for one in document["unusable"]["reasons"]:
        yield f"{one['texts']} of {document['asked']} texts, {one['side']}: {one['reason']}"


def summary(document: Document) -> str:
    """Say what was compared and how."""
    if document["path"] is None:
        return "nothing was measured"
    margin = document["margin"]
    return (
        f"{document['texts']} texts, {document['tokens']:,} tokens · stage by {document['path']}, "
        f"reference by {document['reference_path']} · margins {margin['kl']:.4g} nats and "
        f"{margin['total_variation']:.4g}"
    )


def _at(document: Document | None, keys: Sequence[str]) -> Document | None:
    found: Any = document
    for key in keys:
        found = None if found is None else found[key]
    return None if found is None else dict(found)


def _cells(found: Document | None) -> tuple[str, str]:
    if found is None:
        return DASH, DASH
    return number(found["value"]), interval(found["interval"])


def _part(row: Document) -> list[str]:
    cells = [*_cells(row["top1_agreement"]), *_cells(row["kl_lower_bound"])]
    return [f"{row['texts']:,}", f"{row['tokens']:,}", *cells]


# ---------------------------------------------------------------- terminal


def render(document: Document) -> RenderableType:
    """Give verdict, figures, slopes and warnings for a terminal."""
    verdict = document["verdict"]
    parts: list[RenderableType] = [
        Text.assemble((verdict.upper(), STYLES[verdict]), "  ", VERDICTS[verdict]),
        *(_indented(reason) for reason in document["reasons"]),
        _say(summary(document), "dim"),
    ]
    rows = list(figure_rows(document))
    if rows:
        parts.append(_table("Figures", COLUMNS, rows))
    buckets = list(position_rows(document))
    if buckets:
        parts.append(_table("By position", ("tokens of the text", *PART_COLUMNS), buckets))
    parts += [_say(text) for text in slopes(document)]
    for title, items in (
        ("Not measured", list(lost(document))),
        ("Warnings", document["warnings"]),
    ):
        if items:
            parts.append(Text(title, style="bold"))
            parts += [_indented(item) for item in items]
    return Group(*parts)


def _table(title: str, columns: Sequence[str], rows: Rows) -> Table:
    table = Table(
        title=Text(title), box=box.SIMPLE, show_edge=False, padding=(0, 1, 0, 0),
        title_justify="left", title_style="bold",
    )  # fmt: skip
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(_say(cell) for cell in row))
    return table


def _say(text: str, style: str = "") -> Text:
    return Text(line(text, 500), style=style, overflow="fold")


def _indented(text: str) -> Padding:
    return Padding(_say(text), (0, 0, 0, 2))


# ---------------------------------------------------------------- page


def page(document: Document) -> str:
    """Give the document as one web page that needs nothing else."""
    return measure_page(document, replace(part(document), title="measure tokens"))


def part(document: Document) -> Part:
    """Give verdict, figures and pictures for a page."""
    return Part(
        title="tokens",
        verdict=document["verdict"],
        says=VERDICTS[document["verdict"]],
        reasons=document["reasons"],
        summary=summary(document),
        warnings=document["warnings"],
        sections=list(_sections(document)),
    )


def _sections(document: Document) -> Iterator[Section]:
    figures = list(figure_rows(document))
    if figures:
        shown = PageTable("Stage beside reference", COLUMNS, figures)
        yield Section("Figures", _means(document), [shown])
    drawn = (draw(document) for draw in (change_picture, agreement_picture, rank_picture))
    pictures = [one for one in drawn if one is not None]
    if pictures:
        yield Section("Pictures", pictures=pictures)
    positions = list(position_rows(document))
    if positions:
        tables = (
            ("By position", "tokens of the text", positions),
            ("By depth of context", "prompt tokens", list(depth_rows(document))),
            ("By category", "category", list(category_rows(document))),
        )
        parts = [
            PageTable(title, (of, *PART_COLUMNS), rows, labelled=True) for title, of, rows in tables
        ]
        yield Section("Where it differs", tables=parts, lists=[("", list(slopes(document)))])
    if document["unusable"]["reasons"]:
        yield Section("Not measured", lists=[("", list(lost(document)))])


def _means(document: Document) -> str:
    floor = document["floor"]
    said = (
        f"Means over all tokens; intervals of {figure(document['confidence'] * 100)} % over texts."
        " The noise floor is the same, of a side and itself"
    )
    return f"{said}: {floor['of']}." if floor else f"{said}."
