"""``denv alarm``: try the sinks of a release, list alarms, resolve one by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from denv.cli.completing import ALARMS
from denv.cli.lazy import LazyGroup
from denv.cli.texts import check_texts

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group(cls=LazyGroup)
def alarm() -> None:
    """Try where alarms go, list them, resolve one."""


@alarm.command()
@click.argument("release", type=FILE, metavar="R.yaml")
def test(*, release: Path) -> int:
    """Send one marked test to each sink of a release, and resolve it.

    Exit codes: 0 all sinks took it, 1 one did not, 2 usage error.
    """
    from denv.cli.alarming import try_sinks

    check_texts(click.get_current_context())
    return try_sinks(release)


@alarm.command("list")
@click.option("--open", "only_open", is_flag=True, help="Only those that are not resolved.")
@click.option("--json", "as_json", is_flag=True, help="Write them as JSON.")
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def list_(**options: Any) -> int:
    """Show the latest alarms, and what each sink was told.

    Exit codes: 0 shown, 4 error.
    """
    from denv.cli.alarming import show_alarms

    check_texts(click.get_current_context())
    return show_alarms(**options)


@alarm.command()
@click.argument("alarm_id", metavar="ID", shell_complete=ALARMS)
@click.option("--by", required=True, metavar="NAME", help="Who resolves it.")
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is kept with the alarm.")
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def resolve(**options: Any) -> int:
    """Resolve an open alarm by its id or identity, and tell its sinks.

    Exit codes: 0 resolved, 2 usage error, 4 error.
    """
    from denv.cli.alarming import resolve_by_hand

    check_texts(click.get_current_context())
    return resolve_by_hand(**options)
