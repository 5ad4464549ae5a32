"""The summary of a step of GitHub Actions, which several reports are written into in turn."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from denv.errors import HarnessError, UsageError
from denv.report import Report, write_markdown

OPTION = "--step-summary"
VARIABLE = "GITHUB_STEP_SUMMARY"


def summary_file(options: Mapping[str, Any]) -> Path | None:
    """Give the file that the step's summary is read from; None where it was not asked for.

    Raises
    ------
    UsageError
        It was asked for outside of a step.
    """
    if not options.get("step_summary"):
        return None
    named = os.environ.get(VARIABLE)
    if not named:
        raise UsageError(
            f"{OPTION}: ${VARIABLE} is not set, as it is in a step of GitHub Actions; "
            "elsewhere name a file by --markdown"
        )
    return Path(named)


def append_summary(report: Report, path: Path) -> None:
    """Write the report's Markdown after what the step has said before.

    Raises
    ------
    HarnessError
        What stood in the way; the run itself is kept.
    """
    try:
        with path.open("a", encoding="utf-8", newline="\n") as stream:
            if stream.tell():
                stream.write("\n")  # a heading right below a paragraph may be read as a part of it
            write_markdown(report, stream)
    except OSError as error:
        raise HarnessError(f"{OPTION} {path}: {error.strerror}") from error
