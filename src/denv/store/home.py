"""Where data live: a folder that the user names, ``$DENV_HOME``, or the platform's own."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import platformdirs

from denv.errors import UsageError


def folder_as_it_is(given: Path | None = None) -> Path:
    """Give the data folder for who only looks: it is not made, and may not be there."""
    return _named(given) or Path(platformdirs.user_data_dir("denv"))


def kept_suite(folder: Path, sha256: str) -> Path:
    """Give where the copy of a suite is that rollouts and schedules ask: under its digest."""
    return folder.absolute() / "suites" / f"{sha256}.jsonl"


def _named(given: Path | None) -> Path | None:
    home = os.environ.get("DENV_HOME")
    return given or (Path(home) if home else None)


def data_folder(given: Path | None = None) -> Path:
    """Give the data folder; one that the user names is made where it is missing.

    Raises
    ------
    UsageError
        The folder that the user names cannot be made or written: a setting that is wrong, as
        any other, and no fault of what is kept.
    """
    named = _named(given)
    if named is None:
        return folder_as_it_is()
    try:
        named.mkdir(parents=True, exist_ok=True)
        if not os.access(named, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise UsageError(f"{named}: {error.strerror}") from None
    return named
