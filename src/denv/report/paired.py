"""What the documents of answers and derivations show alike: lengths, counts, pairs, the drop.

A *part* is a mapping with ``sides``, ``pairs``, ``drop`` and so on: one condition of answers, or
the whole document of derivations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from denv.records import Json
from denv.report.measure_page import Part, Section
from denv.report.text import interval, line, percent

Document = Mapping[str, Json]
Rows = Sequence[Sequence[str]]

DASH = "–"

STYLES = {"faithful": "bold green", "different": "bold red", "undecided": "bold yellow"}

TRACE_COLUMNS = ("written ahead of the answer", "reference", "stage", "difference", "interval")
SIDE_COLUMNS = ("what became of it", "reference", "stage")
PAIR_COLUMNS = ("pairs", "reference right", "reference not right")
DROP_COLUMNS = ("figure", "value", "interval")

_LENGTHS = (
    ("characters", "characters"),
    ("reasoning_characters", "characters of reasoning"),
    ("tokens", "tokens of the whole answer"),
)


# ---------------------------------------------------------------- rows, for both forms


def trace_rows(traces: Document) -> Iterator[list[str]]:
    """Give the medians with their quartiles, the shares of short ones, and what differs."""
    sides, change = (traces["reference"], traces["stage"]), traces["difference"]
    for key, name in _LENGTHS:
        found = change.get(key)
        yield [
            f"{name}, median (quartiles)",
            *(_spread(side[key]) for side in sides),
            DASH if found is None else whole(found["median"]),
            DASH if found is None else _between(found["interval"]),
        ]
    rise = change["short_rise"]
    yield ["under 10 characters", *(share(side["short"]) for side in sides), *_points(rise)]
    yield [
        "reasoning under 10 characters",
        *(share(side["without_reasoning"]) for side in sides),
        DASH,
        DASH,
    ]


def side_rows(part: Document, states: Mapping[str, str]) -> Iterator[list[str]]:
    """Give both sides' counts of each state, and the shares that are made of them."""
    sides = (part["sides"]["reference"], part["sides"]["stage"])
    for state, name in states.items():
        if any(side[state] for side in sides):
            yield [name, *(f"{side[state]:,}" for side in sides)]
    yield ["right, of all items", *(share(side["accuracy"]) for side in sides)]
    yield [
        "right, whatever the open ones are",
        *(_bounds(side["accuracy_bounds"]) for side in sides),
    ]
    yield ["ends in a loop", *(share(side["degenerate_rate"]) for side in sides)]


def pair_rows(part: Document) -> Iterator[list[str]]:
    """Give the paired table, and the pairs of which an answer is not known."""
    pairs = part["pairs"]
    yield ["stage right", f"{pairs['both']:,}", f"{pairs['stage_only']:,}"]
    yield ["stage not right", f"{pairs['reference_only']:,}", f"{pairs['neither']:,}"]
    if pairs["open"]:
        others = f"{pairs['maybe_stage_only']:,} right on the stage alone, or alike"
        yield [
            f"open ({pairs['open']:,})",
            f"{pairs['maybe_reference_only']:,} right on the reference alone, or alike",
            f"{others}; {pairs['either_way']:,} either way",
        ]


def drop_rows(part: Document) -> Iterator[list[str]]:
    """Give the drop with the limits that decide, both tests, and the change in loops."""
    drop, test, same = part["drop"], part["mcnemar"], part["equivalence"]
    yield ["drop of right answers", *_points(drop)]
    for verdict in ("faithful", "different"):
        limits = between_points(drop[f"{verdict}_limits"])
        yield [f"limits for {verdict}, open pairs included", DASH, limits]
    low, high = test["exact_p_range"]
    yield [
        "McNemar, mid-p (exact p over all that is open)",
        number(test["mid_p"]),
        f"{number(low)} … {number(high)}",
    ]
    yield ["equivalence within the margin, p", DASH if same is None else number(same["p"]), DASH]
    yield ["loops, stage less reference", *_points(part["degenerate_rise"])]


def lost(part: Document) -> Iterator[str]:
    """Say why no usable answer came."""
    for side in ("stage", "reference"):
        for one in part["sides"][side]["unusable_reasons"]:
            yield f"{one['answers']:,} answers of the {side}: {one['reason']}"


def number(value: float | None) -> str:
    """Write a figure with three significant digits."""
    return DASH if value is None else f"{value:.3g}"


def whole(value: float | None) -> str:
    """Write a length."""
    return DASH if value is None else f"{value:,.0f}"


def points(value: float | None) -> str:
    """Write a difference of shares in percentage points."""
    return DASH if value is None else f"{100 * value:+.1f} points"


def _points(found: Document) -> tuple[str, str]:
    return points(found["value"]), between_points(found["interval"])


def between_points(limits: Sequence[float] | None) -> str:
    """Write the limits of a difference of shares."""
    if limits is None:
        return DASH
    low, high = (f"{100 * one:+.1f}" for one in limits)
    return f"{low} … {high} points"


def _between(limits: Sequence[float] | None) -> str:
    return DASH if limits is None else f"{whole(limits[0])} … {whole(limits[1])}"


def _spread(found: Document) -> str:
    if found["median"] is None:
        return DASH
    low, high = map(whole, found["quartiles"])
    return f"{whole(found['median'])} ({low} – {high})"


def share(found: Document) -> str:
    """Write a share with its counts and its interval."""
    if found["value"] is None:
        return DASH
    shown = f"{percent(found['value'])}, {found['count']:,} of {found['of']:,}"
    return f"{shown} ({interval(found['interval'])})"


def _bounds(found: Document) -> str:
    return f"{percent(found['lower'])} – {percent(found['upper'])}"


# ---------------------------------------------------------------- terminal


def verdict_lines(document: Document, says: Mapping[str, str]) -> list[RenderableType]:
    """Give the verdict with its reasons."""
    verdict = document["verdict"]
    return [
        Text.assemble((verdict.upper(), STYLES[verdict]), "  ", says[verdict]),
        *(indented(reason) for reason in document["reasons"]),
    ]


def table(title: str, columns: Sequence[str], rows: Rows) -> RenderableType:
    """Make a table for a terminal."""
    made = Table(box=box.SIMPLE, show_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        made.add_column(Text(column), overflow="fold")
    for row in rows:
        made.add_row(*(say(cell) for cell in row))
    # A table's own title is folded to the table's width.
    return Group(Text(title, style="bold"), made, Text())


def listed(title: str, items: Sequence[str]) -> list[RenderableType]:
    """Give a titled list, nothing where it is empty."""
    return [Text(title, style="bold"), *map(indented, items)] if items else []


def say(text: str, style: str = "") -> Text:
    """Make a text of one bounded line."""
    return Text(line(text, 600), style=style, overflow="fold")


def indented(text: str) -> Padding:
    """Make a line that stands in a little."""
    return Padding(say(text), (0, 0, 0, 2))


# ---------------------------------------------------------------- page


def paired_part(document: Document, title: str, says: str, sections: Sequence[Section]) -> Part:
    """Give verdict and sections for a page."""
    asked = document["asked"]
    return Part(
        title=title,
        verdict=document["verdict"],
        says=says,
        reasons=document["reasons"],
        summary=f"{asked:,} items, the same for both sides." if asked else "Nothing was asked.",
        warnings=document["warnings"],
        sections=sections,
    )
