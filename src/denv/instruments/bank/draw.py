"""Draws that are the same on every machine and in every version of Python.

Of the standard generator's methods, Python promises to keep the sequence of ``random()`` alone
for a given seed, so every draw here is made of it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")

Posed = tuple[str, int]
"""A question and the integer that answers it."""


class Source(Protocol):
    """What draws are made of: numbers in [0, 1)."""

    def random(self) -> float:
        """Give the next one."""
        ...


class Draw:
    """Whole numbers and choices from one stream of random numbers."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def between(self, low: int, high: int) -> int:
        """Draw a whole number, both ends included; the range must be far below 2**53."""
        return low + int(self._source.random() * (high - low + 1))

    def one_of(self, choices: Sequence[T]) -> T:
        """Draw one of some things."""
        return choices[self.between(0, len(choices) - 1)]

    def several(self, choices: Sequence[T], count: int) -> list[T]:
        """Draw ``count`` different ones, in a random order."""
        left = list(choices)
        return [left.pop(self.between(0, len(left) - 1)) for _ in range(count)]


def draw_for(*key: object) -> Draw:
    """Give the draws that belong to a key, such as a seed and the name of what is drawn.

    A text as seed is hashed by SHA-512, whatever PYTHONHASHSEED is.
    """
    return Draw(random.Random("/".join(map(str, key))))  # noqa: S311 - a bank, not a secret
