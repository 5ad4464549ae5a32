"""``denv serve`` and ``denv worker``: the engine of rollouts, alarms and schedules."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from denv.cli.parity import FOLDER
from denv.cli.saying import say
from denv.cli.temporal import FILE, found_connection, given_connection, temporal_options
from denv.errors import UsageError

PORT = 8090


@click.command()
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="H",
    help="Where the pages listen.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="P",
    help="Where the pages listen; 0: a free one.",
)
@click.option(
    "--releases",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Answer gates for the releases of this folder.",
)
@click.option(
    "--token-file", type=FILE, metavar="F", help="File of mode 600: what callers of gates show."
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="NAME",
    help="A name besides --host and localhost that callers may use (repeatable).",
)
@click.option(
    "--behind-tls",
    is_flag=True,
    help="Browsers reach the pages by TLS, which a proxy ends: cookies are sent over it alone.",
)
@click.option(
    "--no-engine", is_flag=True, help="Serve the pages alone: nothing is carried out here."
)
@click.option(
    "--temporal-port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    metavar="P",
    help="Port of the server that is started; 0: a free one.",
)
@temporal_options
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def serve(**options: Any) -> int:
    """Carry out rollouts, alarms and schedules; serve pages, the API, metrics and gates.

    Runs Temporal's own server beside the data, or works for --temporal; with --no-engine
    neither. Whoever reads a page needs a token: see denv token. Ends at SIGTERM or SIGINT: what
    is under way is gone on with by the next one.

    Exit codes: 0 ended as asked, 2 usage error, 4 error.
    """
    import asyncio

    _require_serve()
    connection = _connection(options)
    from denv.cli import loop
    from denv.cli.running import stopped_by_signals
    from denv.serve.app import PageSettings
    from denv.serve.hosts import is_loopback
    from denv.serve.log import log_in_lines
    from denv.serve.settings import ServeSettings
    from denv.store import data_folder

    if options["no_engine"]:
        from denv.serve.serving import serve_pages as serve_all
    else:  # which needs Temporal's client
        from denv.serve.engine import serve_with_engine as serve_all

    folder = data_folder(options["store"])
    settings = ServeSettings(
        folder=folder,
        pages=PageSettings(
            host=options["host"],
            port=options["port"],
            releases=options["releases"],
            token=_token(options),
            allow_hosts=options["allow_hosts"],
            behind_tls=options["behind_tls"],
        ),
        temporal=connection,
        temporal_port=options["temporal_port"],
        queue=options["queue"] or "denv",
        # Only whoever sits at this machine may see it: it lets in at once.
        invites=is_loopback(options["host"]) and sys.stderr.isatty(),
    )

    log_in_lines()

    async def go() -> None:
        stop = asyncio.Event()
        with stopped_by_signals(stop):
            await serve_all(settings, stop=stop, on_ready=lambda s: say(_ready(s)))

    loop.run(go())
    say("ended")
    return 0


def _ready(ready: Any) -> str:
    engine = "no engine" if ready.temporal is None else f"Temporal at {ready.temporal}"
    said = f"serving {ready.url} ({engine}, process {os.getpid()})"
    if ready.sign_in is not None:
        said += f"\nsign in, once within ten minutes: {ready.sign_in}"
    return said


def _require_serve() -> None:
    """Say in one line how to get what serves pages where it is missing."""
    for name in ("uvicorn", "fastapi", "limits", "python_multipart"):
        if find_spec(name) is None:
            raise UsageError(f"{name} is not installed: pip install 'denv-parity[serve]'")


def _connection(options: Mapping[str, Any]) -> Any:
    """Give the Temporal server to work for; none is asked for where pages are served alone."""
    if not options["no_engine"]:
        return given_connection(options)
    if options["temporal"] is not None or options["temporal_port"]:
        raise UsageError("--no-engine needs no Temporal server")
    return None


def _token(options: Mapping[str, Any]) -> Any:
    if options["releases"] is None:
        if options["token_file"] is not None:
            raise UsageError("--token-file guards gates: name their --releases")
        return None
    from denv.serve.gatehook import token_for

    return token_for(options["host"], options["token_file"])


@click.command()
@temporal_options
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def worker(**options: Any) -> int:
    """Work for a Temporal server, or beside the engine that serves the data folder.

    As many as wanted may run; each needs the same data folder. Ends at SIGTERM or SIGINT.

    Exit codes: 0 ended as asked, 2 usage error, 4 error.
    """
    import asyncio

    from denv.store import data_folder, open_store

    folder: Path = data_folder(options["store"])
    connection, queue = found_connection(options, folder)
    from denv.cli import loop
    from denv.cli.running import stopped_by_signals
    from denv.rollout.engine.connection import connect
    from denv.rollout.engine.worker import WorkerSettings, work
    from denv.serve.log import log_in_lines

    log_in_lines()

    async def go() -> None:
        stop = asyncio.Event()
        with stopped_by_signals(stop):
            client = await connect(connection)
            store = open_store(folder)
            try:
                say(f"working for {connection.address} (queue {queue})")
                await work(client, store, WorkerSettings(folder, queue), stop=stop)
            finally:
                store.close()

    loop.run(go())
    say("ended")
    return 0
