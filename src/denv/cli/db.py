"""``denv db``: look after the data: their form, whether they are whole, copies, and what may go."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from denv.cli.lazy import LazyGroup
from denv.cli.parity import FOLDER
from denv.errors import DamagedError, StoreError, UsageError

STORE = click.option(
    "--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME."
)
_UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@click.group(cls=LazyGroup)
def db() -> None:
    """Look after the data: a SQLite file, or the database that $DENV_DATABASE names."""


@db.command()
@STORE
def upgrade(store: Path | None) -> int:
    """Bring data of an older denv to the form of this one, in one transaction.

    A SQLite file is copied first, beside itself. End what works on the data before.

    Exit codes: 0 the data have the present form, 2 usage error, 4 error.
    """
    from denv.store.revisions import PRESENT, form_of, upgrade
    from denv.store.upkeep import copy_file

    with _database(store) as database:
        with database.read() as connection:
            form = form_of(connection)
        if form.is_older and database.is_sqlite:
            now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
            copy = Path(f"{database.name}.{form.revision}-{now}")
            copy_file(database, copy)
            click.echo(f"copied to {copy}", err=True)
        changed = upgrade(database)
        if changed is None:
            click.echo(f"{database.name}: the data have the present form, {PRESENT!r}")
        else:
            click.echo(f"{database.name}: from {changed[0]!r} to {changed[1]!r}")
    return 0


@db.command()
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
@STORE
def check(store: Path | None, *, as_json: bool) -> int:
    """Read all data, and say whether they are whole and what there is.

    Exit codes: 0 whole, 1 damaged or of another form, 2 usage error, 4 cannot be read at all.
    """
    from denv.store.revisions import PRESENT, form_of
    from denv.store.upkeep import counts_of, faults_of

    with _database(store) as database:
        with database.read() as connection:
            form = form_of(connection)
        faults, counts = [], {}
        if form.is_present:
            try:
                faults = faults_of(database)
            except DamagedError as error:
                faults = [str(error)]
            try:
                counts = counts_of(database)
            except StoreError as error:
                faults.append(str(error))
        elif form.revision is None:
            faults = ["there are no data yet"]
        else:
            faults = [f"the form is {form.revision!r}, that of this program {PRESENT!r}"]
        found = {
            "schema": "denv.db-check/1",
            "database": database.name,
            "form": form.revision,
            "whole": not faults,
            "faults": faults,
            "rows": counts,
        }
    if as_json:
        click.echo(json.dumps(found))
    else:
        _show(found)
    return 1 if faults else 0


def _show(found: dict[str, Any]) -> None:
    if found["form"] is None:
        click.echo(f"{found['database']}: {found['faults'][0]}, so there is nothing to check")
        return
    click.echo(f"{found['database']}: form {found['form']!r}")
    for name, count in found["rows"].items():
        if count:
            click.echo(f"  {name:<12} {count:>10,}")
    for fault in found["faults"]:
        click.echo(f"FAULT {fault}")
    if found["whole"]:
        click.echo("whole")


@db.command()
@click.option("--out", type=FOLDER, required=True, metavar="DIR", help="Where the files go.")
@click.option("--table", "names", multiple=True, metavar="NAME", help="Only this one (repeatable).")
@STORE
def export(store: Path | None, *, out: Path, names: tuple[str, ...]) -> int:
    """Write the tables as Parquet files, one a table.

    Exit codes: 0 written, 2 usage error, 4 error.
    """
    from denv.store.exporting import NAMES
    from denv.store.exporting import export as export_all
    from denv.store.revisions import require_present

    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise UsageError(
            f"--table {unknown[0]}: there is no such table; there are {', '.join(NAMES)}"
        )
    with _database(store) as database:
        require_present(database)
        export_all(
            database,
            out,
            names=names or NAMES,
            on_table=lambda name, rows: click.echo(f"{name:<12} {rows:>10,}", err=True),
        )
    return 0


@db.command()
@click.option("--older-than", metavar="90d", help="What started earlier than so long ago.")
@click.option("--max-size", metavar="2GB", help="The oldest too, until journals fit.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@STORE
def prune(
    store: Path | None, *, older_than: str | None, max_size: str | None, dry_run: bool
) -> int:
    """Take old runs and measurements away, with their answers.

    What is under way, what a schedule compares with, and the runs of rollouts that have not
    ended stay. Rollouts, their decisions and alarms stay too: they are small, and the record.

    Exit codes: 0 done, 2 usage error, 4 error.
    """
    from denv.release import parse_duration
    from denv.store.revisions import require_present
    from denv.store.tokens_sql import SqlTokens
    from denv.store.upkeep import prunable
    from denv.store.upkeep import prune as take_away

    if older_than is None and max_size is None:
        raise UsageError("say what may go: --older-than 90d, --max-size 2GB, or both")
    before = None if older_than is None else time.time() - parse_duration(older_than)
    most = None if max_size is None else _size(max_size)
    with _database(store) as database:
        require_present(database)
        gone = prunable(database, before=before, most_bytes=most)
        for old in gone:
            day = datetime.fromtimestamp(old.started, UTC).strftime("%Y-%m-%d")
            click.echo(f"{old.what} {old.name} of {day}, {old.size / 1e6:,.1f} MB")
        if not dry_run:
            take_away(database, gone)
            SqlTokens(database).end_old_sessions(time.time())
    verb = "would go" if dry_run else "taken away"
    click.echo(f"{len(gone)} {verb}, {sum(old.size for old in gone) / 1e6:,.1f} MB", err=True)
    return 0


def _size(text: str) -> int:
    for unit in sorted(_UNITS, key=len, reverse=True):
        number = text.strip().removesuffix(unit)
        if number != text.strip() and number.strip().replace(".", "", 1).isdecimal():
            return int(float(number) * _UNITS[unit])
    raise UsageError(f"--max-size {text}: must be written as 500MB or 2GB")


@contextmanager
def _database(store: Path | None) -> Iterator[Any]:
    """Give the database as it is, whatever its form."""
    from denv.store import data_folder
    from denv.store.sql import find_database

    database, _ = find_database(data_folder(store))
    try:
        yield database
    finally:
        database.engine.dispose()
