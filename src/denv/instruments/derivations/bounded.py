"""Arithmetic on SymPy values that refuses what would cost too much, before it is done.

SymPy computes ``9**9**9`` as soon as it is written down. Each function here first looks at the
size of its operands, so that the work of a whole answer is bounded by its length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import sympy as sp
from sympy import Expr

from denv.instruments.derivations.notation import BeyondLimitsError, UnreadableError

MAX_BITS = 20_000
"""Of a number that a power, a factorial or a product makes: some 6000 digits."""

MAX_DEGREE = 1000
MAX_TOWER = 3
MAX_EXP = 10**6
MAX_FACTORIAL = 500
MAX_BINOMIAL = 1000

_PLAIN: Mapping[str, Callable[..., Expr]] = {
    "sin": sp.sin, "cos": sp.cos, "tan": sp.tan, "sec": sp.sec, "csc": sp.csc, "cot": sp.cot,
    "arcsin": sp.asin, "asin": sp.asin, "arccos": sp.acos, "acos": sp.acos, "arctan": sp.atan,
    "atan": sp.atan, "ln": sp.log, "log": sp.log, "Abs": sp.Abs, "abs": sp.Abs,
    "floor": sp.floor, "ceil": sp.ceiling, "ceiling": sp.ceiling, "asinh": sp.asinh,
    "acosh": sp.acosh, "atanh": sp.atanh,
}  # fmt: skip
_GROWING = {"exp": sp.exp, "sinh": sp.sinh, "cosh": sp.cosh, "tanh": sp.tanh}
_INVERSES = {"sin": "asin", "cos": "acos", "tan": "atan", "sinh": "asinh", "cosh": "acosh",
             "tanh": "atanh"}  # fmt: skip
FUNCTIONS = frozenset({*_PLAIN, *_GROWING, "sqrt", "cbrt", "factorial", "binomial", "log2",
                       "log10"})  # fmt: skip


def total(terms: Sequence[Expr]) -> Expr:
    """Add."""
    return _sized(sp.Add(*terms))


def product(factors: Sequence[Expr]) -> Expr:
    """Multiply."""
    return _sized(sp.Mul(*factors))


def quotient(above: Expr, below: Expr) -> Expr:
    """Divide; by zero gives SymPy's ``zoo`` or ``nan``, which equal no answer."""
    return _sized(sp.Mul(above, power(below, sp.S.NegativeOne)))


def power(base: Expr, exponent: Expr) -> Expr:
    """Raise to a power, where the result stays small enough to be written down."""
    if exponent.is_Rational:
        steps = abs(int(exponent.p)) or 1
        if steps > 1 and _bits(base) * steps > MAX_BITS:
            raise BeyondLimitsError("a power is too large")
        if not base.is_Rational and steps > MAX_DEGREE:
            raise BeyondLimitsError(f"a degree is over {MAX_DEGREE}")
    elif _tower(exponent) >= MAX_TOWER:
        raise BeyondLimitsError(f"powers are stacked over {MAX_TOWER} high")
    return _sized(sp.Pow(base, exponent))


def call(name: str, arguments: Sequence[Expr]) -> Expr:
    """Apply a function by its name.

    Raises
    ------
    UnreadableError
        There is no such function, or not of so many arguments.
    BeyondLimitsError
        The argument is too large for it.
    """
    match name, arguments:
        case ("log", [argument, base]):
            return quotient(sp.log(argument), sp.log(base))
        case ("binomial", [above, below]):
            return _binomial(above, below)
        case (_, [argument]) if name in FUNCTIONS:
            return _call_of_one(name, argument)
    raise UnreadableError(f"there is no {name} of {len(arguments)}")


def _call_of_one(name: str, argument: Expr) -> Expr:
    match name:
        case "sqrt" | "cbrt":
            return power(argument, sp.Rational(1, 2 if name == "sqrt" else 3))
        case "log2" | "log10":
            return quotient(sp.log(argument), sp.log(sp.Integer(name[3:])))
        case "factorial":
            return _factorial(argument)
        case "exp" | "sinh" | "cosh" | "tanh":
            return _growing(name, argument)
        case "binomial":
            raise UnreadableError("there is no binomial of 1")
    return _PLAIN[name](argument)


def inverse_of(name: str) -> str:
    """Name the inverse that ``sin^(-1)`` stands for."""
    if name not in _INVERSES:
        raise UnreadableError(f"{name} has no inverse here")
    return _INVERSES[name]


def _growing(name: str, argument: Expr) -> Expr:
    if argument.is_Rational and abs(argument) > MAX_EXP:
        raise BeyondLimitsError(f"the argument of {name} is over {MAX_EXP}")
    if _tower(argument) >= MAX_TOWER:
        raise BeyondLimitsError(f"powers are stacked over {MAX_TOWER} high")
    return _GROWING[name](argument)


def _factorial(argument: Expr) -> Expr:
    if not (argument.is_Integer and argument >= 0):
        raise UnreadableError("a factorial of what is no natural number")
    if argument > MAX_FACTORIAL:
        raise BeyondLimitsError(f"a factorial is over {MAX_FACTORIAL}!")
    return sp.factorial(argument)


def _binomial(above: Expr, below: Expr) -> Expr:
    if not (above.is_Integer and below.is_Integer and above >= 0):
        raise UnreadableError("a binomial coefficient of what is no natural number")
    if above > MAX_BINOMIAL:
        raise BeyondLimitsError(f"a binomial coefficient is over {MAX_BINOMIAL}")
    return sp.binomial(above, below)


def _bits(value: Expr) -> int:
    numbers = [(int(n.p), int(n.q)) for n in value.atoms(sp.Rational)]
    return max((max(p.bit_length(), q.bit_length()) for p, q in numbers), default=1)


def _sized(value: Expr) -> Expr:
    if _bits(value) > MAX_BITS * 2:
        raise BeyondLimitsError("a number is too large")
    return value


def _tower(value: Expr) -> int:
    """How many powers with unlike exponents stand on each other."""
    below = max((_tower(part) for part in value.args), default=0)
    stacked = isinstance(value, sp.exp) or (value.is_Pow and not value.exp.is_Rational)
    return below + int(stacked)
