"""``denv router``: the front of a stage."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from denv.cli.saying import say
from denv.cli.temporal import FILE

if TYPE_CHECKING:
    from denv.router.settings import RouterSettings


@click.command()
@click.option("--config", type=FILE, required=True, metavar="F", help="The settings, as YAML.")
@click.option("--listen", metavar="HOST:PORT", help="Where clients ask; wins over the file.")
@click.option("--admin", metavar="HOST:PORT", help="Health, metrics, weights; wins over the file.")
@click.option("--table", metavar="F", help="The weights table; wins over the file.")
@click.option("--drain", metavar="TIME", help="At the end, wait so long for what is in flight.")
@click.option("--check", is_flag=True, help="Read all that is needed to start, and end.")
def router(**options: Any) -> int:
    """Spread a stage's requests over its replicas by the rollout's weights table.

    Requests are made anew, so that a replica cannot tell one caller from another. Ends at SIGTERM
    or SIGINT, after what is in flight.

    Exit codes: 0 ended as asked, 2 usage error, 4 error.
    """
    import asyncio

    from denv.cli import loop
    from denv.cli.running import stopped_by_signals
    from denv.router.log import log_in_json
    from denv.router.serving import Routing, check, route

    settings, folder = _settings(options), options["config"].parent
    if options["check"]:
        check(settings, folder)
        say("the settings, the secrets and the table can be used")
        return 0
    log_in_json()

    def ready(routing: Routing) -> None:
        say(f"routing {routing.url} (admin at {routing.admin}, process {os.getpid()})")

    async def go() -> None:
        stop = asyncio.Event()
        with stopped_by_signals(stop):
            await route(settings, folder=folder, stop=stop, on_ready=ready)

    loop.run(go())
    say("ended")
    return 0


def _settings(options: dict[str, Any]) -> RouterSettings:
    """Read the file; what the command line names wins, its files taken from where it is given."""
    from denv.errors import UsageError
    from denv.release import load_settings, parse_duration
    from denv.router.settings import RouterSettings, check_apart, split_address

    settings = load_settings(options["config"], RouterSettings)
    won: dict[str, Any] = {}
    for name in ("listen", "admin"):
        if (address := options[name]) is not None:
            try:
                split_address(address)
            except ValueError as error:
                raise UsageError(f"--{name} {error}") from None
            won[name] = address
    if options["table"] is not None:
        won["table"] = str(Path(options["table"]).absolute())
    if options["drain"] is not None:
        won["drain"] = parse_duration(options["drain"])
    settings = settings.model_copy(update=won)
    try:
        check_apart(settings.listen, settings.admin)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return settings
