"""The command ``denv``: a file a command group, imported only when it is asked for."""

from __future__ import annotations

import os
import shutil
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import click

from denv.cli.lazy import LazyGroup
from denv.cli.signals import interrupted_by_sigterm
from denv.errors import DenvError

CLICKS_LEAST_COLUMNS = 52
LEAST_COLUMNS = 30
COMPLETING = "_DENV_COMPLETE"
PRINTERS = {"click", "rich"}
SHOWN_COLUMNS = (20, 1000)
"""A narrower terminal shows nothing of a table; tables as wide as $COLUMNS may say take minutes."""


@click.group(
    cls=LazyGroup,
    lazy={
        "adapter": (
            "denv.cli.adapter:adapter",
            "Serve DeepSeek's APIs in front of an engine that only completes prompts.",
        ),
        "alarm": ("denv.cli.alarm:alarm", "Try where alarms go, list them, resolve one."),
        "bench": ("denv.cli.bench:bench", "Measure speed; no verdict depends on it."),
        "completion": (
            "denv.cli.completion:completion",
            "Print the script that has a shell complete commands, options, and what is kept.",
        ),
        "db": (
            "denv.cli.db:db",
            "Look after the data: a SQLite file, or the database that $DENV_DATABASE names.",
        ),
        "doctor": (
            "denv.cli.doctor:doctor",
            "Say what is missing, what cannot be reached, and what is set wrong; change nothing.",
        ),
        "gate": (
            "denv.cli.gate:gate",
            "Run parity once and print one JSON document (denv.gate/1) on standard output.",
        ),
        "key": ("denv.cli.key:key", "Make and show the key that signs public reports."),
        "lab": (
            "denv.cli.lab:lab",
            "Use the lab: a real small model on real llama.cpp servers (extra 'lab').",
        ),
        "parity": ("denv.cli.parity:parity", "Compare a stage with a reference, case by case."),
        "recipe": (
            "denv.cli.recipe:recipe",
            "Look at recipes: a model family's suite, golden prompts, thresholds and settings.",
        ),
        "rollout": (
            "denv.cli.rollout:rollout",
            "Take a release to its stage batch by batch; take it back when it is not faithful.",
        ),
        "router": (
            "denv.cli.router:router",
            "Spread a stage's requests over its replicas by the rollout's weights table.",
        ),
        "serve": (
            "denv.cli.serve:serve",
            "Carry out rollouts, alarms and schedules; serve pages, the API, metrics and gates.",
        ),
        "suite": (
            "denv.cli.suite:suite",
            "Make a suite out of another tool's file, or other cases of the same families.",
        ),
        "token": (
            "denv.cli.token:token",
            "Make, list and revoke tokens for the pages and the API of denv serve.",
        ),
        "worker": (
            "denv.cli.serve:worker",
            "Work for a Temporal server, or beside the engine that serves the data folder.",
        ),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=(
        "Exit codes: 0 pass, 1 fail, 2 usage or configuration error, 3 inconclusive, 4 error, "
        "130 cancelled."
    ),
)
@click.version_option(None, "-V", "--version", package_name="denv-parity", prog_name="denv")
def denv() -> None:
    """Tell whether a deployment of open weights serves them faithfully."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with the code that the documentation promises."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command; every expected error is one line on standard error a fault."""
    _bound_columns()
    try:
        with interrupted_by_sigterm():
            result = denv.main(
                args=arguments,
                prog_name="denv",
                standalone_mode=False,
                terminal_width=_narrow_columns(),
            )
            _flush()
    # None of them may look like a verdict.
    except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001
        return _told(error)
    return result if isinstance(result, int) else 0


def _bound_columns() -> None:
    """Keep $COLUMNS to what can be shown; 0 means that it is not known."""
    given = os.environ.get("COLUMNS", "")
    if not (given.isascii() and given.isdigit()):
        return
    least, most = SHOWN_COLUMNS
    digits = given.lstrip("0")
    if not digits:
        del os.environ["COLUMNS"]
    elif len(digits) > len(str(most)) or not least <= int(digits) <= most:
        os.environ["COLUMNS"] = str(least if len(digits) < len(str(least)) else most)


def _narrow_columns() -> int | None:
    """Give the columns of a terminal that is narrower than click's least; None where it is not."""
    columns = shutil.get_terminal_size().columns
    return max(columns - 2, LEAST_COLUMNS) if columns < CLICKS_LEAST_COLUMNS else None


def _told(error: BaseException) -> int:
    """Say what went wrong, where that can be said; give the exit code for it either way."""
    try:
        _explain(error)
    except (OSError, ValueError):  # ValueError: the stream is closed
        _drop(sys.stderr)
    try:
        _flush()
    except OSError:
        _drop(sys.stdout)
    except ValueError:  # it is closed
        pass
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
            _complain([_advised(error)])
        case click.Abort() | KeyboardInterrupt():
            _complain(["cancelled"])
        case DenvError():
            _complain(str(error).split("\n"))
        case SystemExit():
            pass
        case OSError() if _standard_output_fails(error):
            _complain([f"standard output: {error.strerror}"])
        case _ if COMPLETING in os.environ:
            pass  # a shell would show it in the middle of the line that is being typed
        case _:
            traceback.print_exception(error)
            _complain([f"internal error: {type(error).__name__}: {error}"])


def _advised(error: click.ClickException) -> str:
    """Give click's message as one line, with the page of help where nothing nearer is known."""
    message = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    if context is None or message.endswith("?") or "--help" in message or "Did you" in message:
        return message
    return f"{message.rstrip('.')}. See {context.command_path} --help."


def _flush() -> None:
    """Write what waits: at the exit it would be too late to say that it failed."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _standard_output_fails(error: OSError) -> bool:
    """Whether it was printing that failed; what still waits to be printed is dropped then."""
    *_, (frame, _line) = traceback.walk_tb(error.__traceback__)
    printing = (
        frame.f_globals["__name__"].partition(".")[0] in PRINTERS or frame.f_code is _flush.__code__
    )
    if error.filename is not None or sys.stdout is None or not printing:
        return False
    _drop(sys.stdout)
    return True


def _drop(stream: TextIO) -> None:
    """Let what waits to be written go nowhere: failing again at the exit would change its code."""
    with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _complain(lines: Sequence[str]) -> None:
    for line in lines:
        click.echo(f"denv: {_printable(line or 'unknown error')}", err=True)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
