"""What shells offer for arguments that name something kept: runs, rollouts, schedules, recipes.

A shell asks while somebody types, so that each answer must be quick, and may change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import click

MOST = 50
WAIT_S = 1
"""A database that is busy or far away is not waited for."""

_PLAIN = re.compile(r"[\w.:@+-]+", re.ASCII)
"""What each shell takes as one word; click's scripts quote nothing."""

Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]


def kept(table: str, column: str, *, newest: str | None = None) -> Completer:
    """Offer what a column of the data holds, by time where ``newest`` names that, else by name."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        return _silently(lambda: _read(context, (table, column, newest), incomplete))

    return complete


def recipes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Offer the recipes' names; none is read for that."""

    def names() -> Iterable[str]:
        from denv.recipes.finding import offers

        return sorted({offer.name for offer in offers()})

    return _silently(lambda: (name for name in names() if name.startswith(incomplete)))


RUNS = kept("runs", "run", newest="started")
MEASURES = kept("measures", "measure", newest="started")
ROLLOUTS = kept("rollouts", "rollout", newest="started")
ALARMS = kept("alarms", "alarm", newest="opened")
SCHEDULES = kept("schedules", "name")


def _silently(find: Callable[[], Iterable[str]]) -> list[str]:
    """Offer nothing where anything goes wrong.

    The shell shows what is printed here in the middle of the line that is being typed, and has
    no other place for it. Whoever runs the command then is told by that command.
    """
    try:
        return [each for each in find() if _PLAIN.fullmatch(each)][:MOST]
    except Exception:  # noqa: BLE001 - see above: there is nobody to tell
        return []


def _read(context: click.Context, where: tuple[str, str, str | None], incomplete: str) -> list[str]:
    from sqlalchemy import select

    from denv.store import tables
    from denv.store.home import folder_as_it_is
    from denv.store.looking import database_as_it_is

    given = context.params.get("store")
    database = database_as_it_is(folder_as_it_is(given and Path(given)), wait_s=WAIT_S)
    if database is None:
        return []
    name, wanted, newest = where
    table = tables.metadata.tables[name]
    column = table.c[wanted]
    order = column if newest is None else table.c[newest].desc()
    beginning = column.startswith(incomplete, autoescape=True)
    try:
        with database.read() as connection:
            found = connection.scalars(select(column).where(beginning).order_by(order).limit(MOST))
            return list(found)
    finally:
        database.engine.dispose()
