"""What commands that serve say of themselves: lines on standard error."""

from __future__ import annotations


def say(line: str) -> None:
    """Say a line as it is: nothing in it is markup, and none is folded."""
    from rich.console import Console

    Console(stderr=True).print(line, markup=False, highlight=False, soft_wrap=True)
