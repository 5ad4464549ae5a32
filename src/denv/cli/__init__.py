"""The command ``denv``: a file a command group, imported only when it is asked for."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from denv.cli.lazy import LazyGroup
from denv.cli.signals import interrupted_by_sigterm
from denv.errors import DenvError


@click.group(
    cls=LazyGroup,
    lazy={
        "adapter": "denv.cli.adapter:adapter",
        "alarm": "denv.cli.alarm:alarm",
        "bench": "denv.cli.bench:bench",
        "completion": "denv.cli.completion:completion",
        "db": "denv.cli.db:db",
        "doctor": "denv.cli.doctor:doctor",
        "gate": "denv.cli.gate:gate",
        "key": "denv.cli.key:key",
        "lab": "denv.cli.lab:lab",
        "parity": "denv.cli.parity:parity",
        "recipe": "denv.cli.recipe:recipe",
        "rollout": "denv.cli.rollout:rollout",
        "router": "denv.cli.router:router",
        "serve": "denv.cli.serve:serve",
        "suite": "denv.cli.suite:suite",
        "token": "denv.cli.token:token",
        "worker": "denv.cli.serve:worker",
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        "Exit codes: 0 pass, 1 fail, 2 usage or configuration error, 3 inconclusive, 4 error, "
        "130 cancelled."
    ),
)
@click.version_option(package_name="denv-parity", prog_name="denv")
def denv() -> None:
    """Tell whether a deployment of open weights serves them faithfully."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with the code that the documentation promises."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command; every expected error is one line on standard error a fault."""
    try:
        with interrupted_by_sigterm():
            result = denv.main(args=arguments, prog_name="denv", standalone_mode=False)
    # None of them may look like a verdict.
    except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001
        return _told(error)
    return result if isinstance(result, int) else 0


def _told(error: BaseException) -> int:
    """Say what went wrong, where that can be said; give the exit code for it either way."""
    try:
        _explain(error)
    except (OSError, ValueError):  # ValueError: the stream is closed
        _drop_standard_error()
    return _code_of(error)


def _code_of(error: BaseException) -> int:
    match error:
        case click.ClickException():
            return 2
        case click.Abort() | KeyboardInterrupt():
            return 130
        case DenvError():
            return error.exit_code
        case SystemExit():
            # Printing exits with 1, our "fail", when the reader of our output has gone.
            return error.code if isinstance(error.code, int) and error.code != 1 else 4
        case _:
            return 4


def _explain(error: BaseException) -> None:
    match error:
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.ctx.get_help(), err=True)
        case click.ClickException():
            _complain([error.format_message()])
        case click.Abort() | KeyboardInterrupt():
            _complain(["cancelled"])
        case DenvError():
            _complain(str(error).split("\n"))
        case SystemExit():
            pass
        case _:
            traceback.print_exception(error)
            _complain([f"internal error: {type(error).__name__}: {error}"])


def _drop_standard_error() -> None:
    """Let what waits to be written go nowhere: failing again at the exit would change its code."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stderr.fileno())


def _complain(lines: Sequence[str]) -> None:
    for line in lines:
        click.echo(f"denv: {_printable(line or 'unknown error')}", err=True)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
