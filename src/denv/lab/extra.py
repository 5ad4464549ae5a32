"""The extra's packages, imported when they are first needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from denv.errors import UsageError


def load_extra(name: str) -> Any:
    """Import a package of the extra ``lab``, or say in one line how to get it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        raise UsageError(f"{name} is not installed: pip install 'denv-parity[lab]'") from None
