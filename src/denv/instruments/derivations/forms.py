"""What an item asks, and in which form the answer is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

Kind = Literal[
    "number", "expression", "set", "interval", "tuple", "matrix",
    "residue", "percent", "quantity", "decimal",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)

INSTRUCTION = "Work step by step. End with exactly one line of this form:\nFINAL: <expr>"

_EXACT = "exact (integers, fractions, roots, pi, e; log is the natural logarithm), not rounded"

HINTS: Mapping[Kind, str] = {
    "number": f"The answer is one number, {_EXACT}.",
    "expression": f"The answer is one expression, {_EXACT}.",
    "set": f"The answer is a set such as {{1, 2}}, its elements {_EXACT}.",
    "interval": f"The answer is a union of intervals such as (-oo, 1] U (2, 3), {_EXACT}.",
    "tuple": f"The answer is a tuple such as (1, 2) in the order asked for, {_EXACT}.",
    "matrix": f"The answer is a matrix such as [[1, 2], [3, 4]], its entries {_EXACT}.",
    "residue": "The answer is every residue modulo the modulus given, such as 3, 8 (mod 11).",
    "percent": "The answer is an exact percentage such as 12.5%.",
    "quantity": f"The answer is one number with its unit, {_EXACT}.",
    "decimal": "The answer is one decimal number with at least 8 significant digits.",
}


@dataclass(frozen=True, slots=True)
class Form:
    """How an answer is read and compared.

    Parameters
    ----------
    kind
        What the answer is; see ``HINTS``.
    symbols
        The letters that the answer may hold, in the order of a tuple's components.
    positive
        Whether the symbols stand for positive numbers, as the question then says.
    modulus
        Of a residue.
    unit
        In which ``truth`` is given; a quantity in another unit of its kind is converted.
    tolerance
        The relative error that a decimal may have; None for the default of the oracle.
    """

    kind: Kind
    symbols: tuple[str, ...] = ()
    positive: bool = False
    modulus: int | None = None
    unit: str | None = None
    tolerance: float | None = None


def form_of(given: Mapping[str, Any]) -> Form:
    """Make a form of its fields as JSON has them."""
    return Form(**{**given, "symbols": tuple(given.get("symbols", ()))})


@dataclass(frozen=True, slots=True)
class Problem:
    """What a template makes of a random source: a question and its computed truth."""

    question: str
    truth: str
    form: Form


@dataclass(frozen=True, slots=True)
class Item:
    """A problem with its place in the bank and the prompt that a server is sent."""

    id: str
    field: str
    template: str
    prompt: str
    truth: str
    form: Form
