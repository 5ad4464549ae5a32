"""The options that say where a Temporal server is, and how the engine of a folder is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from denv.errors import HarnessError, UsageError
from denv.rollout.engine.address import find_serving
from denv.rollout.engine.extra import require_durable

if TYPE_CHECKING:
    from denv.rollout.engine.connection import Connection

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, dir_okay=False)

OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--temporal", {"metavar": "HOST:PORT", "help": "A Temporal server of your own."}),
    ("--namespace", {"metavar": "N", "help": "Its namespace; left out: default."}),
    ("--queue", {"metavar": "NAME", "help": "Its task queue; left out: denv."}),
    ("--tls", {"is_flag": True, "help": "Encrypt the connection to it."}),
    ("--tls-ca", {"type": FILE, "metavar": "F", "help": "Whom to trust (PEM)."}),
    ("--tls-cert", {"type": FILE, "metavar": "F", "help": "One's own certificate (PEM)."}),
    ("--tls-key", {"type": FILE, "metavar": "F", "help": "Its key (PEM)."}),
    ("--temporal-key-env", {"metavar": "NAME", "help": "Variable that holds its API key."}),
    (
        "--temporal-key-file",
        {"type": FILE, "metavar": "F", "help": "File of mode 600 that holds its API key."},
    ),
)


def temporal_options(function: F) -> F:
    """Add the options of a Temporal server."""
    for name, settings in reversed(OPTIONS):
        function = click.option(name, **settings)(function)
    return function


def given_connection(options: Mapping[str, Any]) -> Connection | None:
    """Give the server that the options name, None where they name none.

    Raises
    ------
    UsageError
        The extra is missing, or the options do not fit together.
    """
    require_durable()
    from denv.rollout.engine.connection import Connection, TlsFiles, check_address

    address = options.get("temporal")
    files = TlsFiles(options.get("tls_cert"), options.get("tls_key"), options.get("tls_ca"))
    wants_tls = bool(options.get("tls")) or files != TlsFiles()
    key = _key(options)
    if address is None:
        if wants_tls or key is not None or options.get("namespace"):
            raise UsageError("say by --temporal HOST:PORT which server is meant")
        return None
    try:
        check_address(address)
    except UsageError as error:
        raise UsageError(f"--temporal: {error}") from None
    return Connection(
        address=address,
        namespace=options.get("namespace") or "default",
        tls=files if wants_tls else None,
        api_key=key,
    )


def found_connection(options: Mapping[str, Any], folder: Path) -> tuple[Connection, str]:
    """Give the server that the options name, else the one that serves the data folder.

    With its queue.

    Raises
    ------
    HarnessError
        Nothing serves the folder.
    """
    connection = given_connection(options)
    if connection is not None:
        return connection, options.get("queue") or "denv"
    serving = find_serving(folder)
    if serving is None:
        raise HarnessError(
            f"no engine serves {folder}: start one by denv serve, or name one by --temporal"
        )
    from denv.rollout.engine.connection import Connection

    return Connection(serving.temporal, serving.namespace), serving.queue


def _key(options: Mapping[str, Any]) -> Any:
    from denv.client.secrets import read_key_env, read_key_file

    env, file = options.get("temporal_key_env"), options.get("temporal_key_file")
    if env and file:
        raise UsageError("--temporal-key-env and --temporal-key-file exclude each other")
    if env:
        return read_key_env(env)
    return read_key_file(file) if file else None
