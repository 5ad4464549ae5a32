"""The pictures of a speed run: decode rate by context depth, and all streams together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from denv.records import Json
from denv.report.pictures import FIRST, INK, SECOND, picture
from denv.report.text import line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Document = Mapping[str, Json]

SIZE = (7.2, 3.6)

_SERIES = [FIRST, SECOND, *(f"#0a0a{number:02x}" for number in range(2, 8))]
"""Lines beyond these have a colour again; marks tell them apart."""

_MORE = {colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES)}
"""Colours as they are drawn, and what stands in their place on the page."""

_MARKS = "osD^vPX*"


@dataclass(frozen=True, slots=True)
class Point:
    """A median with its range at one place; ``best`` is marked."""

    x: float
    spread: Document
    best: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One server, or one draft length of it."""

    name: str
    points: Sequence[Point]


def depth_picture(document: Document) -> Markup | None:
    """Draw the decode rate by context depth, None where nothing was measured."""
    found: dict[str, list[Point]] = {}
    for row in document["depths"]:
        for cell in row["cells"]:
            if cell["tokens_per_s"] is None:
                continue
            best = row["best"][cell["side"]]
            marked = best is not None and (best["server"], best["draft"]) == (
                cell["server"],
                cell["draft"],
            )
            point = Point(row["depth"], cell["tokens_per_s"], marked)
            found.setdefault(_name(cell), []).append(point)
    return _picture(
        [Line(name, points) for name, points in found.items()],
        key="depth",
        title="Tokens per second by context depth",
        x_label="prompt tokens",
        y_label="tokens/s, one request at a time",
    )


def load_picture(document: Document) -> Markup | None:
    """Draw the rate of all streams together by their number, None where nothing was measured."""
    found: dict[str, list[Point]] = {}
    for row in document["load"]:
        if row["tokens_per_s"] is not None:
            point = Point(row["concurrency"], row["tokens_per_s"])
            found.setdefault(row["server"], []).append(point)
    return _picture(
        [Line(name, points) for name, points in found.items()],
        key="load",
        title="Tokens per second by requests at once",
        x_label="requests at once",
        y_label="tokens/s, all together",
    )


def _name(cell: Document) -> str:
    name: str = cell["server"]
    length = cell["draft"]
    return name if length is None or name.endswith(f"draft {length}") else f"{name}, draft {length}"


def _picture(
    lines: Sequence[Line], *, key: str, title: str, x_label: str, y_label: str
) -> Markup | None:
    if not lines:
        return None

    def plot(axes: Axes) -> None:
        for number, one in enumerate(lines):
            _plot(axes, one, number, aside=_aside(lines, number))
        _dress(axes, lines, x_label=x_label, y_label=y_label)

    says = "; ".join(f"{one.name}: {_said(one)}" for one in lines)
    drawn = picture(plot, key=key, title=title, says=says, size=SIZE)
    for colour, shown in _MORE.items():
        drawn = drawn.replace(colour, shown)
    return drawn


def _said(one: Line) -> str:
    return ", ".join(
        f"{point.spread['median']:.1f} at {point.x:,.0f}{' (best)' if point.best else ''}"
        for point in one.points
    )


def _aside(lines: Sequence[Line], number: int) -> float:
    """Give the factor that moves a line aside, so that ranges do not lie upon each other."""
    places = {point.x for one in lines for point in one.points}
    width = max(places) / min(places)
    step: float = width**0.012 if width > 1 else 1.01
    return float(step ** (number - (len(lines) - 1) / 2))


def _plot(axes: Axes, one: Line, number: int, *, aside: float) -> None:
    colour = _SERIES[number % len(_SERIES)]
    places = [point.x * aside for point in one.points]
    middles = [point.spread["median"] for point in one.points]
    below = [point.spread["median"] - point.spread["min"] for point in one.points]
    above = [point.spread["max"] - point.spread["median"] for point in one.points]
    axes.errorbar(
        places,
        middles,
        yerr=[below, above],
        color=colour,
        marker=_MARKS[number % len(_MARKS)],
        label=line(one.name, 60),
        capsize=3,
        linewidth=1.6,
    )
    best = [number for number, point in enumerate(one.points) if point.best]
    axes.plot(
        [places[number] for number in best],
        [middles[number] for number in best],
        linestyle="none", marker="o", markersize=15, markerfacecolor="none",
        markeredgecolor=colour,
    )  # fmt: skip


def _dress(axes: Axes, lines: Sequence[Line], *, x_label: str, y_label: str) -> None:
    places = sorted({point.x for one in lines for point in one.points})
    axes.set_xscale("log", base=2)
    axes.set_xticks(places, [f"{place:,.0f}" for place in places])
    axes.set_xticks([], minor=True)
    axes.set_ylim(0, 1.1 * max(p.spread["max"] for one in lines for p in one.points))
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.figure.legend(loc="outside upper left", ncols=4, frameon=False, labelcolor=INK)
