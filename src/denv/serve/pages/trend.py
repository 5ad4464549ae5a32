"""A stage's pass rate over its latest runs with one suite, as a small picture."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from denv.report.pictures import FIRST, SECOND, SOFT, picture
from denv.report.schedule_pictures import Point
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import name_of
from denv.serve.pages.drawing import DRAWING, alone
from denv.store import Purpose, RunRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 30
SIZE = (2.5, 1.2)
SIZE_PX = (180, 86)
MISSING = "There is no such stage, or it has no two runs to draw."

Points = tuple[tuple[float, bool], ...]
"""The pass rate of each run, and whether the run passed."""


def drawn_runs(context: ServeContext, last: RunRow) -> list[RunRow]:
    """Give the full runs that can be set beside a stage's last one, the oldest first."""
    rows = context.store.browsing.runs(
        stage=last.stage, suite=last.suite_sha256, purpose=Purpose.PARITY, limit=MOST
    )
    return [row for row in reversed(rows) if _has_ended(row) and row.verdict != "cancelled"]


def _has_ended(row: RunRow) -> bool:
    return row.verdict is not None and row.state != "running"


def says(rows: Sequence[RunRow]) -> str:
    """Say what the picture shows, as far as the list of runs tells it."""
    counts = Counter(row.verdict for row in rows)
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())
    latest = f"the latest {len(rows)} full runs with this suite"
    return f"Pass rate of {latest}, the oldest first: {verdicts}"


async def picture_of(context: ServeContext, request: Request) -> Response:
    """Answer with the picture of a stage."""
    stage = name_of(request, "stage", missing=MISSING)
    svg = await asyncio.to_thread(_picture, context, stage)
    return Response(svg, media_type="image/svg+xml")


def _picture(context: ServeContext, stage: str) -> bytes:
    last = context.store.browsing.standing(stage)
    rows = [] if last is None else drawn_runs(context, last)
    points: list[tuple[float, bool]] = []
    for row in rows:
        record = context.store.get_run(row.run)
        head = None if record is None else record.head
        rate = None if head is None else Point(row.started, row.verdict, head).pass_rate
        if rate is not None:
            points.append((rate, row.verdict == "pass"))
    if len(points) < 2:
        raise HTTPException(404, MISSING)
    return _drawn(tuple(points))


@lru_cache(maxsize=256)
def _drawn(points: Points) -> bytes:
    def plot(axes: Axes) -> None:
        rates = [rate for rate, _ in points]
        axes.plot(range(len(rates)), rates, color=FIRST, linewidth=1.6)
        for passed, mark, colour in ((True, "o", FIRST), (False, "X", SECOND)):
            at = [place for place, (_, well) in enumerate(points) if well is passed]
            heights = [rates[place] for place in at]
            axes.plot(at, heights, mark, color=colour, markersize=5 if passed else 7)
        _dress(axes, rates)

    with DRAWING:
        drawn = str(picture(plot, key="trend", title="Pass rate", says="", size=SIZE))
    width, height = SIZE_PX
    return alone(drawn.replace("<svg ", f'<svg width="{width}" height="{height}" ', 1))


def _dress(axes: Axes, rates: Sequence[float]) -> None:
    """Show the highest and the lowest rate beside the line, and nothing else."""
    low, high = min(rates), max(rates)
    room = max((high - low) * 0.25, 0.004)
    axes.set_ylim(low - room, high + room)
    axes.set_yticks([high] if low == high else [low, high])
    axes.set_yticklabels([f"{rate:.1%}" for rate in ([high] if low == high else [low, high])])
    axes.set_xticks([])
    axes.tick_params(length=0, labelcolor=SOFT)
    axes.spines[["left", "bottom"]].set_visible(False)
