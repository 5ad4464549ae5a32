"""Where data live: a folder that the user names, ``$DENV_HOME``, or the platform's own."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import platformdirs

from denv.errors import UsageError


def data_folder(given: Path | None = None) -> Path:
    """Give the data folder; one that the user names is made where it is missing.

    Raises
    ------
    UsageError
        The folder that the user names cannot be made or written: a setting that is wrong, as
        any other, and no fault of what is kept.
    """
    home = os.environ.get("DENV_HOME")
    named = given or (Path(home) if home else None)
    if named is None:
        return Path(platformdirs.user_data_dir("denv"))
    try:
        named.mkdir(parents=True, exist_ok=True)
        if not os.access(named, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise UsageError(f"{named}: {error.strerror}") from None
    return named
