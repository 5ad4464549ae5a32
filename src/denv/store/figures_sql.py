"""Figures over all runs, from the database."""

from __future__ import annotations

import json
from collections.abc import Collection
from operator import attrgetter

import orjson
from sqlalchemy import select

from denv.records import Json
from denv.store import tables
from denv.store.database import Database
from denv.store.figures import SPENT, EndedRun

_RUNS = tables.runs.c
SPENT_COLUMNS = tuple(_RUNS[f"{side}_{what}_tokens"] for side, what in SPENT)
_PAGE = 500
"""Databases take a bounded number of values in one statement."""


class SqlFigures:
    """Runs that have ended, of one database."""

    def __init__(self, database: Database) -> None:
        self._read = database.read

    def ended(self, stages: Collection[str], *, since: float = 0.0) -> list[EndedRun]:
        """Give the runs of some stages that have ended since then, in the order of their ends."""
        columns = (_RUNS.run, _RUNS.stage, _RUNS.verdict, _RUNS.finished, *SPENT_COLUMNS)
        query = select(*columns).where(_RUNS.verdict.is_not(None), _RUNS.finished >= since)
        found: list[EndedRun] = []
        with self._read() as connection:
            for page in _pages(stages):
                rows = connection.execute(query.where(_RUNS.stage.in_(page))).all()
                found += map(EndedRun._make, rows)
        return sorted(found, key=attrgetter("finished"))

    def heads(self, runs: Collection[str]) -> dict[str, dict[str, Json]]:
        """Give the reports' heads of some runs by their ids."""
        query = select(_RUNS.run, _RUNS.head).where(_RUNS.head.is_not(None))
        found = {}
        with self._read() as connection:
            for page in _pages(runs):
                for run, head in connection.execute(query.where(_RUNS.run.in_(page))):
                    found[run] = _parsed(head)
        return found


def _parsed(head: str) -> dict[str, Json]:
    try:
        parsed: dict[str, Json] = orjson.loads(head)
    except orjson.JSONDecodeError:  # lone surrogates: several times slower, and takes them
        parsed = json.loads(head)
    return parsed


def _pages(names: Collection[str]) -> list[list[str]]:
    every = sorted(names)
    return [every[first : first + _PAGE] for first in range(0, len(every), _PAGE)]
