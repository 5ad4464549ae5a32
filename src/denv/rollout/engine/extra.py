"""The extra's packages, asked for when they are first needed."""

from __future__ import annotations

import os
import shutil
import sysconfig
from importlib.util import find_spec

from denv.errors import UsageError

HOW_TO_INSTALL = "pip install 'denv-parity[durable]'"


def require_durable() -> None:
    """Say in one line how to get Temporal's client where it is missing.

    Raises
    ------
    UsageError
        It is not installed.
    """
    if find_spec("temporalio") is None:
        raise UsageError(f"temporalio is not installed: {HOW_TO_INSTALL}")


def server_program() -> str:
    """Give the path of Temporal's own server.

    Raises
    ------
    UsageError
        It is neither beside this Python nor on the path.
    """
    beside = sysconfig.get_path("scripts")
    found = shutil.which("temporal", path=beside) or shutil.which("temporal")
    if found is None:
        raise UsageError(f"Temporal's server is not installed: {HOW_TO_INSTALL}")
    return os.path.realpath(found)
