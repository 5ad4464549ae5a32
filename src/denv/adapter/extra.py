"""The extra's package, and one line about it where it is missing."""

from __future__ import annotations

from importlib import import_module

from denv.errors import UsageError

PACKAGE = "deepseek_recipe"


def require_recipe() -> None:
    """Import deepseek-recipe, or say how to get it.

    Raises
    ------
    UsageError
        The extra ``deepseek`` is not installed.
    """
    try:
        import_module(PACKAGE)
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise
        raise UsageError(
            "deepseek-recipe is not installed: pip install 'denv-parity[deepseek]'"
        ) from None
