"""The document of answers as tables on a terminal and as one page with pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from markupsafe import Markup
from rich.console import Group, RenderableType

from denv.report.measure_page import Part, Section, Table, measure_page
from denv.report.paired import (
    DASH,
    DROP_COLUMNS,
    PAIR_COLUMNS,
    SIDE_COLUMNS,
    TRACE_COLUMNS,
    Document,
    between_points,
    drop_rows,
    listed,
    lost,
    number,
    pair_rows,
    paired_part,
    points,
    share,
    side_rows,
    table,
    trace_rows,
    verdict_lines,
)
from denv.report.pictures import FIRST, INK, SECOND, SOFT, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VERDICTS = {
    "faithful": "The stage is right as often as the reference, within the margin.",
    "different": "The stage is right less or more often than the reference, beyond the margin.",
    "undecided": "The answers do not show whether the stage is right as often.",
}

STATES = {
    "right": "right",
    "wrong": "answered and wrong",
    "unsure": "unsure",
    "absent": "no answer in the form asked for",
    "degenerate": "ends in a loop",
    "truncated": "cut off, open",
    "unusable": "no usable answer, open",
}

CONDITIONS = {"forced": "Forced to answer", "unsure": "Free to be unsure"}

SIZE = (7.2, 3.4)


# ---------------------------------------------------------------- rows, for both forms


def sure_rows(part: Document) -> Iterator[list[str]]:
    """Give what confidence tells, and how often a side answers and is wrong."""
    sides = (part["sides"]["reference"], part["sides"]["stage"])
    yield ["answers and is wrong, of all items", *(share(s["answered_and_wrong"]) for s in sides)]
    yield ["wrong, of what it answers", *(share(s["wrong_of_answered"]) for s in sides)]
    yield ["AUROC of confidence to being right", *(_auroc(side["auroc"]) for side in sides)]
    yield ["answers with a confidence", *(f"{side['with_confidence']:,}" for side in sides)]


def calibration_rows(part: Document) -> Iterator[list[str]]:
    """Give how often answers of each confidence are right."""
    sides = (part["sides"]["reference"], part["sides"]["stage"])
    for one, other in zip(*(side["calibration"] for side in sides), strict=True):
        if one["right"]["of"] or other["right"]["of"]:
            yield [f"{one['from']:g} to {one['to']:g}", share(one["right"]), share(other["right"])]


def _auroc(found: Document | None) -> str:
    if found is None:
        return f"{DASH} (all right, all wrong, or no confidence)"
    low, high = map(number, found["interval"])
    return f"{number(found['value'])} ({low} … {high})"


def _drop_rows(part: Document) -> list[list[str]]:
    rise = part["answered_and_wrong_rise"]
    shown = between_points(rise["interval"])
    row = ["answers and is wrong, stage less reference", points(rise["value"]), shown]
    return [*drop_rows(part), row]


# ---------------------------------------------------------------- terminal


def render(document: Document) -> RenderableType:
    """Give lengths, verdict, counts and pairs for a terminal."""
    parts: list[RenderableType] = []
    for name, traces in (document["traces"] or {}).items():
        title = f"{CONDITIONS[name]}: what is written"
        parts.append(table(title, TRACE_COLUMNS, list(trace_rows(traces))))
    parts += verdict_lines(document, VERDICTS)
    for name, part in (document["conditions"] or {}).items():
        sides = [*side_rows(part, STATES), *sure_rows(part)]
        parts.append(table(f"{CONDITIONS[name]}: {part['verdict']}", SIDE_COLUMNS, sides))
        parts.append(table("Both sides on the same items", PAIR_COLUMNS, list(pair_rows(part))))
        parts.append(table("Stage beside reference", DROP_COLUMNS, _drop_rows(part)))
        parts += listed("No usable answer", list(lost(part)))
    parts += listed("Warnings", document["warnings"])
    return Group(*parts)


# ---------------------------------------------------------------- page


def page(document: Document) -> str:
    """Give the document as one web page that needs nothing else."""
    return measure_page(document, replace(part(document), title="measure answers"))


def part(document: Document) -> Part:
    """Give verdict, tables and pictures for a page."""
    traces = document["traces"] or {}
    written = [
        Table(CONDITIONS[name], TRACE_COLUMNS, list(trace_rows(found)))
        for name, found in traces.items()
    ]
    conditions = (document["conditions"] or {}).items()
    sections = [
        *([Section("What is written", tables=written)] if written else []),
        *(_section(name, found) for name, found in conditions),
    ]
    return paired_part(document, "answers", VERDICTS[document["verdict"]], sections)


def _section(name: str, found: Document) -> Section:
    drawn = calibration_picture(found, key=name)
    sides = [*side_rows(found, STATES), *sure_rows(found)]
    columns = ("confidence", "reference right", "stage right")
    return Section(
        f"{CONDITIONS[name]}: {found['verdict']}",
        tables=[
            Table("What became of it", SIDE_COLUMNS, sides),
            Table("Both sides on the same items", PAIR_COLUMNS, list(pair_rows(found))),
            Table("Stage beside reference", DROP_COLUMNS, _drop_rows(found)),
            Table(
                "Right answers by confidence", columns, list(calibration_rows(found)), labelled=True
            ),
        ],
        pictures=[] if drawn is None else [drawn],
        lists=[("No usable answer", list(lost(found)))],
    )


def calibration_picture(part: Document, *, key: str) -> Markup | None:
    """Draw how often answers of each confidence are right, beside the line of calibration."""
    series = [
        (side, colour, _bins(part["sides"][side]["calibration"]))
        for side, colour in (("reference", FIRST), ("stage", SECOND))
    ]
    if not any(bins for _, _, bins in series):
        return None

    def plot(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color=SOFT, linestyle="dashed", label="calibrated")
        for side, colour, bins in series:
            if bins:
                _draw(axes, bins, side=side, colour=colour)
        axes.set_xlabel("confidence: probability of the answer's tokens")
        axes.set_ylabel("share that is right")
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.legend(frameon=False, labelcolor=INK)

    says = "; ".join(
        f"{side}, confidence {one['confidence']:.3g}: right {one['right']['count']} of"
        f" {one['right']['of']}"
        for side, one in chain.from_iterable(
            ((side, one) for one in bins) for side, _, bins in series
        )
    )
    return picture(plot, key=f"calibration-{key}", title="Calibration", says=says, size=SIZE)


def _bins(calibration: list[Document]) -> list[Document]:
    return [one for one in calibration if one["right"]["of"]]


def _draw(axes: Axes, bins: list[Document], *, side: str, colour: str) -> None:
    values = [one["right"]["value"] for one in bins]
    limits = [one["right"]["interval"] for one in bins]
    below = [max(0.0, value - low) for value, (low, _) in zip(values, limits, strict=True)]
    above = [max(0.0, high - value) for value, (_, high) in zip(values, limits, strict=True)]
    axes.errorbar(
        [one["confidence"] for one in bins],
        values,
        yerr=[below, above],
        color=colour,
        marker="o" if side == "reference" else "s",
        capsize=3,
        linestyle="none",
        label=side,
    )
