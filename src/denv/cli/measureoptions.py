"""The options that measuring commands share, apart from what measuring needs to be imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from denv.cli.completing import MEASURES
from denv.cli.parity import FILE, FOLDER, pace_options
from denv.cli.sides import side_options
from denv.records import Side

F = TypeVar("F", bound=Callable[..., Any])

JSON = "Write the document as JSON (- for stdout)."


def measure_options(function: F) -> F:
    """Add both sides, their pace, and where the document goes."""
    for option in reversed(
        (
            click.option("--release", type=FILE, metavar="R.yaml", help="Take both sides from it."),
            side_options(Side.STAGE),
            side_options(Side.REFERENCE),
            pace_options,
            click.option(
                "--resume",
                metavar="ID",
                shell_complete=MEASURES,
                help="Continue, the other options being the same: asks only what has no answer.",
            ),
            click.option("--json", "json_file", metavar="F", help=JSON),
            click.option("--quiet", is_flag=True, help="Show no progress."),
            click.option(
                "--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME."
            ),
        )
    ):
        function = option(function)
    return function


def page_option(function: F) -> F:
    """Add the web page with pictures, for documents that have one."""
    return click.option(
        "--html", "html_file", type=FILE, metavar="F", help="Write it as one web page."
    )(function)
