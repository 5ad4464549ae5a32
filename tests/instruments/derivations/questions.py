"""Questions and truths read again, by SymPy's own parser: these texts are ours and trusted.

Nothing of the product's reader is used, so that a fault of it cannot hide one of the bank.
"""

from __future__ import annotations

import re
from random import Random

import sympy as sp
from sympy.parsing.sympy_parser import (
    convert_xor,
    implicit_multiplication_application,
    parse_expr,
    split_symbols,
    standard_transformations,
)

X = sp.Symbol("x", real=True)
_READING = (*standard_transformations, convert_xor, split_symbols,
            implicit_multiplication_application)  # fmt: skip
_NAMES = {"e": sp.E, "i": sp.I, "x": X, "oo": sp.oo}


def math_of(text):
    """Read an expression of a question or a truth."""
    return parse_expr(text, local_dict=dict(_NAMES), transformations=_READING)


def problems(template, *, count=4):
    """Make some problems of a template."""
    return [template(Random(f"check {n}")) for n in range(count)]


def part(text, pattern):
    """Give what the groups of a pattern match in a question; one text, or several."""
    found = re.search(pattern, text)
    assert found is not None, (pattern, text)
    return found[1] if len(found.groups()) == 1 else found.groups()


def integers(text):
    """Give all integers of a text with their signs."""
    return [int(one) for one in re.findall(r"(?<![\w)])-?\d+", text)]


def vectors(text):
    """Give all tuples of integers that a text holds."""
    found = re.findall(r"\((-?\d+(?:, -?\d+)+)\)", text)
    return [tuple(int(one) for one in inner.split(", ")) for inner in found]


def matrix(text):
    """Give the first matrix of a question."""
    return sp.Matrix(math_of(part(text, r"(\[\[.*?\]\])")))


def elements(truth):
    """Give the elements of a set's truth."""
    assert truth[0] == "{"
    assert truth[-1] == "}"
    return [sp.sympify(one) for one in truth[1:-1].split(", ")]


def components(truth):
    """Give the components of a tuple's truth."""
    assert truth[0] == "("
    assert truth[-1] == ")"
    return [sp.sympify(one) for one in truth[1:-1].split(", ")]


def pieces(truth):
    """Give the intervals of a truth as ends and brackets."""
    return [
        (sp.sympify(low), sp.sympify(high), opening == "[", closing == "]")
        for opening, low, high, closing in re.findall(
            r"([(\[])([^,]+), (.+?)([)\]])(?: U |$)", truth
        )
    ]


def close(one, other, *, digits=12):
    """Tell whether two numbers agree, relatively or near zero absolutely."""
    one, other = complex(one), complex(other)
    return abs(one - other) <= 10.0**-digits * max(1.0, abs(one), abs(other))


def holds_exactly_on(condition, truth):
    """Tell whether a condition holds at points of a union, its ends included, and only there."""
    inside = pieces(truth)
    ends = {end for low, high, _, _ in inside for end in (low, high) if end.is_finite}
    step = sp.Rational(1, 10**4)
    near = [sp.nsimplify(sp.N(end, 15), rational=True) + side * step for end in ends
            for side in (-1, 1)]  # fmt: skip
    points = [*near, *(sp.Rational(n * 59, 101) for n in range(-30, 31))]
    for point in points:
        within = any(low < point < high for low, high, _, _ in inside)
        if bool(condition(point)) != within:
            return False
    return all(
        bool(condition(end)) == closed
        for low, high, low_closed, high_closed in inside
        for end, closed in ((low, low_closed), (high, high_closed))
        if end.is_finite
    )


def shaken(truth):
    """Give truths that are wrong by one in one of their integers."""
    return [
        f"{truth[: one.start()]}{int(one[0]) + 1}{truth[one.end() :]}"
        for one in re.finditer(r"\d+", truth)
    ]
