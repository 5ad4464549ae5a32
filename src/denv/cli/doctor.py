"""``denv doctor``: what is installed, what can be reached, and what is set wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from denv.cli.temporal import temporal_options
from denv.cli.texts import check_texts

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.option("--release", type=FILE, metavar="R.yaml", help="Look at all that it names, too.")
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    metavar="N",
    help="Requests at once, each side, as your runs have them.",
)
@temporal_options
@click.option(
    "--json",
    "json_file",
    metavar="F",
    help="Write what was found as JSON (- for stdout).",
)
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def doctor(**options: Any) -> int:
    """Say what is missing, what cannot be reached, and what is set wrong; change nothing.

    Servers of a release are asked for their lists of models alone, alarms are not sent.

    Exit codes: 0 nothing is at fault (there may be warnings), 1 something is, 2 usage error,
    4 error.
    """
    from denv.cli.examining import doctor_command

    check_texts(click.get_current_context())
    return doctor_command(options)
