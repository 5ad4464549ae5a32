"""Numbers, polynomials and matrices as questions and truths write them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random


def nonzero(rng: Random, low: int, high: int) -> int:
    """Draw an integer that is not 0, each of the others being as likely."""
    return rng.choice([n for n in range(low, high + 1) if n != 0])


def distinct(rng: Random, low: int, high: int, *, count: int) -> list[int]:
    """Draw different integers, in the order in which they are drawn."""
    return rng.sample(range(low, high + 1), count)


def polynomial(coefficients: Sequence[int], name: str = "x") -> str:
    """Write a polynomial, its highest power first.

    Examples
    --------
    >>> polynomial([1, 0, -3, 2])
    'x^3 - 3x + 2'
    """
    degree = len(coefficients) - 1
    written = "".join(
        f" {'-' if value < 0 else '+'} {_monomial(abs(value), degree - n, name)}"
        for n, value in enumerate(coefficients)
        if value != 0
    )
    if not written:
        return "0"
    return written[3:] if written.startswith(" +") else f"-{written[3:]}"


def _monomial(size: int, power: int, name: str) -> str:
    if power == 0:
        return str(size)
    raised = name if power == 1 else f"{name}^{power}"
    return raised if size == 1 else f"{size}{raised}"


def linear(terms: Iterable[tuple[int, str]]) -> str:
    """Write a sum of multiples of names; the name of a constant is empty.

    Examples
    --------
    >>> linear([(2, "x"), (-1, "y"), (0, "z"), (3, "")])
    '2x - y + 3'
    """
    written = "".join(
        f" {'-' if value < 0 else '+'} {_multiple(abs(value), name)}"
        for value, name in terms
        if value != 0
    )
    if not written:
        return "0"
    return written[3:] if written.startswith(" +") else f"-{written[3:]}"


def _multiple(size: int, name: str) -> str:
    if not name:
        return str(size)
    return name if size == 1 else f"{size}{name}"


def braces(values: Iterable[object]) -> str:
    """Write a set."""
    return "{" + ", ".join(str(value) for value in values) + "}"


def parentheses(values: Iterable[object]) -> str:
    """Write a tuple or a vector."""
    return "(" + ", ".join(str(value) for value in values) + ")"


def rows(matrix: Iterable[Iterable[object]]) -> str:
    """Write a matrix row by row."""
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in matrix) + "]"
