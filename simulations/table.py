"""Rows as Markdown tables, one for each kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from simulations.row import Kind, Row

TITLES: Mapping[Kind, str] = {
    "level": "Levels: the chance of a wrong verdict, which must not exceed the nominal one",
    "coverage": "Intervals that are shown and decide nothing: the share that misses",
    "characteristic": "Characteristics: chances for which nothing is promised",
}

COLUMNS: Mapping[Kind, Sequence[str]] = {
    "level": ("rule", "setting", "nominal", "measured", "runs", "power", "against"),
    "coverage": ("rule", "setting", "nominal", "measured", "runs"),
    "characteristic": ("rule", "setting", "measured", "runs", "power", "against"),
}


def tables(rows: Sequence[Row]) -> str:
    """Write all rows, those of one kind under one heading."""
    parts = []
    for kind, title in TITLES.items():
        found = [row for row in rows if row.kind == kind]
        if found:
            parts.append(f"### {title}\n\n{table(found, kind)}")
    return "\n".join(parts)


def table(rows: Iterable[Row], kind: Kind) -> str:
    """Write one table; rows that differ in size alone share a line."""
    names = COLUMNS[kind]
    lines = [_line(names), _line(["---"] * len(names))]
    for _, group in groupby(rows, key=_same_line):
        cells = line(list(group))
        lines.append(_line([cells[name] for name in names]))
    return "\n".join(lines) + "\n"


def line(rows: Sequence[Row]) -> dict[str, str]:
    """Give the cells of rows that share a line, by their column."""
    first = rows[0]
    sizes = " · ".join(row.size for row in rows if row.size)
    powers = [percent(row.power) for row in rows if row.power is not None]
    return {
        "rule": first.rule,
        "setting": f"{first.setting}: {sizes}" if sizes else first.setting,
        "nominal": percent(first.nominal),
        "measured": " · ".join(percent(row.measured) for row in rows),
        "runs": "exact" if first.runs is None else f"{first.runs:,}",
        "power": " · ".join(powers),
        "against": first.against,
    }


def _same_line(row: Row) -> tuple[object, ...]:
    lone = None if row.size else id(row)
    return row.rule, row.setting, row.nominal, row.runs, row.against, lone


def percent(chance: float | None) -> str:
    """Write a chance with as many digits as say something."""
    if chance is None:
        return ""
    points = 100 * chance
    if 0 < points < 1e-4:
        return "< 0.0001 %"
    if 99.9995 <= points < 100:
        return "> 99.999 %"
    return f"{points:.5g} %" if 99.95 <= points < 100 else f"{points:.3g} %"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
