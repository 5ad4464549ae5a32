"""The texts of options: what is empty or no text is refused, never taken as not given."""

from __future__ import annotations

from pathlib import Path

import click

from denv.errors import UsageError


def check_texts(context: click.Context) -> None:
    """Refuse options that are empty, as an unset shell variable makes them, or not UTF-8.

    Raises
    ------
    UsageError
        Names the option.
    """
    for parameter in context.command.params:
        given = context.params.get(parameter.name or "")
        for value in given if isinstance(given, tuple) else (given,):
            if isinstance(value, str | Path):
                _check_text(parameter.opts[0], str(value))


def _check_text(option: str, text: str) -> None:
    if not text.strip():
        raise UsageError(f"{option} is empty")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{option} is not UTF-8 text") from None
