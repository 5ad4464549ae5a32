"""What is shown once: standard output must take it, or it is not made."""

from __future__ import annotations

import os
import sys
from io import UnsupportedOperation

from denv.errors import HarnessError

_UNWRITTEN = "standard output cannot be written"


def check_shown(what: str) -> None:
    """Refuse standard output that is closed or full, before something is made to be shown there.

    Raises
    ------
    HarnessError
        Says what is not made, and why.
    """
    if sys.stdout is None or sys.stdout.closed:
        raise HarnessError(f"standard output is closed, so no {what} is made")
    try:
        os.write(sys.stdout.fileno(), b"")
    except UnsupportedOperation:  # a stream of this process, with no file behind it
        return
    except OSError as error:
        raise HarnessError(f"{_UNWRITTEN} ({error.strerror}), so no {what} is made") from None


def show(text: str, what: str) -> None:
    """Write a line, and see that it has left this process.

    Raises
    ------
    HarnessError
        It could not be written, so that nobody has seen it whole.
    """
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except OSError as error:
        raise HarnessError(
            f"{_UNWRITTEN} ({error.strerror}), so the {what} was not shown, and is taken back"
        ) from None
