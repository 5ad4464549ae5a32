"""Where the marks of the pass-rate picture stand: layout alone, in per cent of its width."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

from denv.report.model import Document

ROW_PX = 64
_MARGIN = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """One kind: its name and estimate, and the places of interval, point and threshold."""

    name: str
    kind: Document
    top: int
    low: float | None
    high: float | None
    point: float | None
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Chart:
    """All rows on one axis that ends at 100 % and starts at ``axis_low``."""

    rows: tuple[Row, ...]
    axis_low: float
    ticks: tuple[tuple[float, float], ...]
    height: int


def rows(kinds: Mapping[str, Document]) -> Chart:
    """Lay out the picture; the axis is cut to the tenth below the smallest figure."""
    low = _axis_low(kinds)

    def place(rate: float | None) -> float | None:
        if rate is None:
            return None
        return round(_MARGIN + (100 - 2 * _MARGIN) * (rate - low) / (1 - low), 3)

    placed = []
    for index, (name, kind) in enumerate(kinds.items()):
        limits = kind["interval"] or (None, None)
        placed.append(
            Row(
                name=name,
                kind=kind,
                top=index * ROW_PX,
                low=place(limits[0]),
                high=place(limits[1]),
                point=place(kind["pass_rate"]),
                threshold=place(kind["threshold"]),
            )
        )
    at = [low + (1 - low) * step / 2 for step in range(3)]
    ticks = tuple((rate, place(rate) or 0.0) for rate in at)
    return Chart(tuple(placed), low, ticks, len(placed) * ROW_PX + 28)


def _axis_low(kinds: Mapping[str, Document]) -> float:
    figures = [
        figure
        for kind in kinds.values()
        for figure in (kind["threshold"], kind["pass_rate"], *(kind["interval"] or ()))
        if figure is not None
    ]
    smallest = min(figures, default=0.0)
    return min(0.9, max(0.0, floor(smallest * 10 - 0.2) / 10))
