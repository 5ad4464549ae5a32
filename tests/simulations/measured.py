"""Each rule's rows, made once a session."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import groupby

from simulations import RULES
from simulations.row import Row


@cache
def measured(rule: str, *, quick: bool) -> Sequence[Row]:
    """Give the rows of a rule."""
    return RULES[rule](quick)


EXCEEDED: dict[str, list[str]] = {}
"""Settings in which a level is known to be exceeded; docs/statistics.md says so of each."""


def assert_levels(rows: Sequence[Row], *, known: Sequence[str] = ()) -> None:
    """No other level is exceeded beyond the chance of the draw, and every rule can speak up.

    A rule that never says anything errs never: on each line it must find the stated alternative
    more often than it may be wrong.
    """
    levels = [row for row in rows if row.kind == "level"]
    assert [row.setting for row in levels if not row.held] == list(known)
    for setting, group in groupby(levels, key=lambda row: (row.setting, row.against)):
        line = list(group)
        best = max(row.power or 0.0 for row in line)
        assert best > max(line[0].nominal or 0.0, *(row.measured for row in line)), setting
