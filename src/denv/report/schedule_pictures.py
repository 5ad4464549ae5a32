"""The picture of a schedule: pass rate, noise floor and divergence over time."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from denv.records import Json
from denv.report.pictures import FIRST, INK, LINE, SECOND, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT, MORE = 8.0, 3.6, 2.2
ON_PAPER = {INK: "#1a1a1a", SOFT: "#555555", LINE: "#dddddd", FIRST: "#1c55a0", SECOND: "#b3470f"}
"""A file of its own has the light page's colours."""

MARKS = {"stage": ("o", FIRST), "reference": ("s", SECOND)}
ALARM = "v"


@dataclass(frozen=True, slots=True)
class Point:
    """One full run of a schedule: its time in Unix seconds, its verdict and what it counted."""

    at: float
    verdict: str | None
    document: Mapping[str, Json]

    @property
    def pass_rate(self) -> float | None:
        """The share of counted cases that passed, over all kinds; None where none was counted."""
        kinds = self.document.get("kinds") or {}
        passed = sum(kind["pass"] for kind in kinds.values())
        counted = passed + sum(kind["fail"] for kind in kinds.values())
        return passed / counted if counted else None

    def same_as_baseline(self, side: str) -> float | None:
        """Give the share of a side's cases whose outcome is the baseline's."""
        drift = self.document.get("drift")
        one = drift and drift[side]
        return 1 - one["flips"] / one["cases"] if one and one["cases"] else None

    def floor(self, side: str) -> float | None:
        """Give down to which share of unchanged cases noise explains it."""
        floor = (self.document.get("floor") or {}).get(side)
        return None if floor is None else 1 - floor["upper"]

    @property
    def kl(self) -> float | None:
        """The divergence of the stage from the reference, in nats, where it was measured."""
        return self.document.get("kl")

    @property
    def alarmed(self) -> bool:
        """Whether an alarm was raised."""
        return bool(self.document.get("alarms"))


def draw_history(points: Sequence[Point], *, title: str) -> Figure:
    """Draw a schedule's full runs.

    Raises
    ------
    ValueError
        There is no run to draw.
    """
    if not points:
        raise ValueError("there is no run to draw")
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second, for pictures alone

    has_kl = any(point.kl is not None for point in points)
    figure = Figure(figsize=(WIDTH, HEIGHT + (MORE if has_kl else 0)), layout="constrained")
    ratios = [HEIGHT, MORE] if has_kl else [HEIGHT]
    panels = figure.subplots(len(ratios), 1, sharex=True, squeeze=False, height_ratios=ratios)
    _rates(panels[0][0], points, title=title)
    if has_kl:
        _divergence(panels[1][0], points)
    if len(points) == 1:  # a day around it, where years would be drawn
        when, half = _when(points[0]), timedelta(hours=12)
        panels[0][0].set_xlim(when - half, when + half)
        panels[0][0].set_ylim(0, 1.02)
    figure.autofmt_xdate()
    return figure


def _rates(axes: Axes, points: Sequence[Point], *, title: str) -> None:
    _line(axes, [(p, p.pass_rate) for p in points], label="pass rate", mark="D", colour=INK)
    for side, (mark, colour) in MARKS.items():
        same = [(p, p.same_as_baseline(side)) for p in points]
        _line(axes, same, label=f"{side}: as in the baseline", mark=mark, colour=colour)
        floor = [(p, p.floor(side)) for p in points]
        _line(axes, floor, label=f"{side}: noise floor", mark="", colour=colour, style="--")
    alarms = [(p, p.pass_rate) for p in points if p.alarmed]
    shown = [(_when(p), rate) for p, rate in alarms if rate is not None]
    if shown:
        axes.plot(
            *zip(*shown, strict=True), ALARM, ms=12, mfc="none", mec=ON_PAPER[SECOND], label="alarm"
        )
    _dress(axes, "share of cases")
    axes.set_title(title, fontsize=11, loc="left")
    axes.figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)


def _divergence(axes: Axes, points: Sequence[Point]) -> None:
    _line(axes, [(p, p.kl) for p in points], label="KL", mark="o", colour=FIRST)
    _dress(axes, "KL, nats a token (lower bound)")
    axes.set_ylim(bottom=0)


def _line(
    axes: Axes,
    values: Sequence[tuple[Point, float | None]],
    *,
    label: str,
    mark: str,
    colour: str,
    style: str = "-",
) -> None:
    shown = [(_when(point), value) for point, value in values if value is not None]
    if shown:
        times, heights = zip(*shown, strict=True)
        axes.plot(
            times,
            heights,
            linestyle=style,
            marker=mark or None,
            markersize=5,
            linewidth=1.4,
            color=ON_PAPER[colour],
            label=label,
        )


def _dress(axes: Axes, label: str) -> None:
    axes.set_ylabel(label)
    axes.grid(axis="y", color=ON_PAPER[LINE], linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _when(point: Point) -> datetime:
    return datetime.fromtimestamp(point.at, UTC)


def write_history(points: Sequence[Point], *, title: str) -> bytes:
    """Write the picture as an SVG file whose text is text."""
    from matplotlib import rc_context  # noqa: PLC0415

    stream = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "schedule", "text.parse_math": False}):
        figure = draw_history(points, title=title)
        figure.savefig(stream, format="svg", metadata={"Date": None, "Title": title})
    return stream.getvalue()
