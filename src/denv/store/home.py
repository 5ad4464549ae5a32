"""Where data live: a folder that the user names, ``$DENV_HOME``, or the platform's own."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def data_folder(given: Path | None = None) -> Path:
    """Give the data folder, which need not exist yet."""
    if given is not None:
        return given
    home = os.environ.get("DENV_HOME")
    return Path(home) if home else Path(platformdirs.user_data_dir("denv"))
