"""``denv bench``: how fast an endpoint answers. Never part of a parity verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from denv.cli.lazy import LazyGroup
from denv.cli.parity import FILE, FOLDER
from denv.cli.sides import SIDE_OPTIONS
from denv.cli.texts import check_texts
from denv.records import Side

MOST_ROUNDS = 1000
MOST_TOKENS = 100_000

ONE_SERVER = ("model", "key-env", "key-file", "header", "header-env", "extra", "name", "price")
"""The options of a side that mean something here; pace and sampling are the run's own."""

F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=LazyGroup)
def bench() -> None:
    """Measure speed; no verdict depends on it."""


def _server_options(side: Side) -> Callable[[F], F]:
    """Add the URL of one side, and what belongs to it."""

    def decorate(function: F) -> F:
        for name, settings in reversed([o for o in SIDE_OPTIONS if o[0] in ONE_SERVER]):
            function = click.option(f"--{side}-{name}", **settings)(function)
        return click.option(
            f"--{side}", f"{side}_url", metavar="URL", help=f"Base URL of the {side}, ends in /v1."
        )(function)

    return decorate


@bench.command()
@_server_options(Side.STAGE)
@_server_options(Side.REFERENCE)
@click.option(
    "--depth", default="512,2048,8192", show_default=True, metavar="N,…", help="Prompt tokens."
)
@click.option(
    "--concurrency", default="1,2,4", show_default=True, metavar="N,…", help="Requests at once."
)
@click.option("--draft", metavar="N,…", help="Draft lengths to ask the stage for, in the request.")
@click.option(
    "--draft-server",
    multiple=True,
    metavar="N=URL",
    help="The stage started with this draft length (repeatable).",
)
@click.option(
    "--rounds",
    type=click.IntRange(3, MOST_ROUNDS),
    default=3,
    show_default=True,
    metavar="N",
    help="Answers behind each figure.",
)
@click.option(
    "--tokens",
    type=click.IntRange(8, MOST_TOKENS),
    default=64,
    show_default=True,
    metavar="N",
    help="Tokens of an answer.",
)
@click.option("--retries", type=click.IntRange(0), metavar="N", help="Retries of a request.")
@click.option("--timeout", type=float, metavar="S", help="Seconds for a whole answer.")
@click.option("--json", "json_file", metavar="F", help="Write the document as JSON (- for stdout).")
@click.option("--html", "html_file", type=FILE, metavar="F", help="Write it as one web page.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def speed(**options: Any) -> int:
    """Measure one endpoint's speed by context depth, draft length and concurrency.

    Exit codes: 0 measured, 2 usage error, 4 not reachable or not measurable, 130 cancelled.
    """
    from denv.cli.benching import speed_command

    check_texts(click.get_current_context())
    return speed_command(options)
