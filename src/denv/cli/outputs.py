"""Where a run's reports go: checked before anything is sent, written at its end."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, TextIO

from denv.cli.stepsummary import OPTION as STEP_SUMMARY
from denv.cli.stepsummary import append_summary, summary_file
from denv.errors import HarnessError, UsageError
from denv.report import Report, write_html, write_json, write_junit, write_markdown
from denv.report.output import descriptor_of, opened

STANDARD_OUTPUT = 1
CLOSED = "standard output is closed"

WRITERS: Mapping[str, tuple[str, Callable[[Report, Any], None]]] = {
    "JSON": ("json_file", write_json),
    "HTML": ("html_file", write_html),
    "JUnit": ("junit_file", write_junit),
    "Markdown": ("markdown_file", write_markdown),
}


def check_outputs(options: Mapping[str, Any]) -> None:
    """Refuse places that nothing can be written to, before anything is sent.

    Raises
    ------
    UsageError
        Names the option, and the folder that is missing or cannot be written.
    """
    check_targets({**_targets(options), STEP_SUMMARY: summary_file(options)})


def check_targets(given: Mapping[str, str | Path | None]) -> None:
    """Refuse places, each named by its option, that nothing can be written to.

    Raises
    ------
    UsageError
        As :func:`check_outputs`.
    """
    targets = {option: str(target) for option, target in given.items() if target is not None}
    for option, target in targets.items():
        try:
            _check_target(option, target)
        except OSError as error:
            raise UsageError(f"{option} {target}: {error.strerror}") from None
        except RuntimeError:  # what Python below 3.13 says of links that lead to each other
            raise UsageError(f"{option} {target}: {os.strerror(errno.ELOOP)}") from None
    if sum(map(is_standard_output, targets.values())) > 1:
        raise UsageError("standard output takes one report: only one option may be -")


def is_standard_output(target: str | Path) -> bool:
    """Whether it is ``-``, or a name of the very same, as ``/dev/stdout`` is."""
    return str(target) == "-" or descriptor_of(target) == STANDARD_OUTPUT


def print_by(write: Callable[[TextIO], object]) -> None:
    """Let a writer write to standard output, and see that it has left this process.

    Raises
    ------
    HarnessError
        It is closed, or cannot be written.
    BrokenPipeError
        Its reader has gone.
    """
    if sys.stdout is None:
        raise HarnessError(CLOSED)
    try:
        write(sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise HarnessError(f"standard output: {error.strerror}") from error


def check_apart(options: Mapping[str, Any], why: str) -> None:
    """Refuse standard output as a place of reports, since something else is written there.

    Raises
    ------
    UsageError
        Names the option, and why.
    """
    for option, target in _targets(options).items():
        if is_standard_output(target):
            raise UsageError(f"{option} {target} : {why}")


def _check_target(option: str, target: str) -> None:
    if sys.stdout is None and is_standard_output(target):
        raise UsageError(f"{option} {target}: {CLOSED}")
    if target == "-":
        return
    handle = descriptor_of(target)
    if handle is not None:
        os.write(handle, b"")
        return
    folder = Path(target).absolute().parent
    if Path(target).is_dir():
        raise UsageError(f"{option} {target}: that is a folder")
    if not folder.is_dir():
        raise UsageError(f"{option} {target}: there is no folder {folder}")
    if not os.access(folder, os.W_OK) and not Path(target).exists():
        raise UsageError(f"{option} {target}: the folder {folder} cannot be written")
    _try_writing(Path(target))


def _try_writing(target: Path) -> None:
    """Write nothing to a place, as ``/proc`` and full devices refuse; leave it as it was."""
    if target.is_fifo():  # opening it waits for its reader
        return
    new = not target.exists()
    path = target.resolve() if new else target  # a link may lead to what does not exist yet
    kind = os.O_CREAT | os.O_EXCL if new else 0
    handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | kind)
    try:
        os.write(handle, b"")
    finally:
        os.close(handle)
        if new:
            path.unlink()


def check_overwriting(options: Mapping[str, Any], inputs: Sequence[tuple[str, str | Path]]) -> None:
    """Refuse reports that would stand in the place of what is read, or of each other.

    ``inputs`` are the files that are read, each with the option that names it. Pipes and
    devices take more than one report.

    Raises
    ------
    UsageError
        Names both options.
    """
    check_files(_targets(options), inputs)


def check_files(
    targets: Mapping[str, str | Path | None], inputs: Sequence[tuple[str, str | Path]]
) -> None:
    """Refuse what :func:`check_overwriting` does, for places that are named by their options.

    Raises
    ------
    UsageError
        Names both options.
    """
    files = [
        (option, Path(target))
        for option, target in targets.items()
        if target is not None and str(target) != "-" and _is_replaced(str(target))
    ]
    for option, target in files:
        for name, path in inputs:
            if _same(target, Path(path)):
                raise UsageError(f"{option} {target} would overwrite the file of {name}")
    for (first, target), (second, other) in combinations(files, 2):
        if _same(target, other):
            raise UsageError(f"{first} and {second} are the same file: {other}")


def _targets(options: Mapping[str, Any]) -> dict[str, str]:
    return {
        f"--{name.lower()}": str(options[option])
        for name, (option, _) in WRITERS.items()
        if options.get(option) is not None
    }


def _is_replaced(target: str) -> bool:
    if descriptor_of(target) is not None:
        return False
    return Path(target).is_file() or not Path(target).exists()


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, through links of either kind too."""
    try:
        return one.samefile(other)
    except OSError:  # one of them does not exist yet
        # Of links that lead to each other Path.resolve says RuntimeError; these are just unlike.
        return os.path.realpath(one) == os.path.realpath(other)


def write_outputs(report: Report, options: Mapping[str, Any]) -> dict[str, str]:
    """Write the report in every form that was asked for; give where each is.

    Raises
    ------
    HarnessError
        Names the option and what stood in the way; the run itself is kept.
    """
    written = {}
    for name, (option, write) in WRITERS.items():
        target = options.get(option)
        if target is None:
            continue
        if str(target) == "-":
            print_by(partial(write, report))
        else:
            try:
                write(report, Path(target))
            except OSError as error:
                raise HarnessError(f"--{name.lower()} {target}: {error.strerror}") from error
            written[name] = str(target)
    summary = summary_file(options)
    if summary is not None:
        append_summary(report, summary)
        written["Step summary"] = str(summary)
    return written


def write_text(option: str, target: str | Path, text: str) -> None:
    """Write a text where an option says, ``-`` being standard output.

    Raises
    ------
    HarnessError
        Names the option and what stood in the way.
    """
    if str(target) == "-":
        print_by(lambda stream: stream.write(text))
        return
    try:
        with opened(target) as stream:
            stream.write(text.encode("utf-8", "backslashreplace").decode())
    except OSError as error:
        raise HarnessError(f"{option} {target}: {error.strerror}") from error
