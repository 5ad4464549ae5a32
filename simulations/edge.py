"""Where along a count a verdict turns, found from a near guess."""

from __future__ import annotations

from collections.abc import Callable


def last_true(holds: Callable[[int], bool], *, near: int, high: int) -> int:
    """Give the largest count up to ``high`` at which something holds, -1 where it never does.

    It is assumed to hold up to there and nowhere above. ``near`` is where the search begins.
    """
    at = min(max(near, -1), high)
    while at >= 0 and not holds(at):
        at -= 1
    while at < high and holds(at + 1):
        at += 1
    return at
