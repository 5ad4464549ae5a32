"""Whether two values are equal: refuted by numbers, proved by identity, numbers or SymPy.

Cheap tests come first. Two expressions are *different* as soon as their difference, evaluated
with tracked accuracy at a point, is proved to be no zero. They are *equal* when they are
identical, when both are rational and the same, when their difference vanishes to ``DIGITS``
digits at all of ``POINTS`` random points, or when SymPy's ``simplify`` reduces it to zero. What
neither refutes nor proves is *undecided*.

Two analytic expressions that differ agree at a random point with probability zero, and two
constants of a few hundred symbols agree to 300 digits only where somebody means them to. The
points are drawn from a fixed seed, so that one answer is always judged alike.

Decimals: where the truth is a decimal of at most ``SHORT_DECIMALS`` places, as 3 or 0.25 is, an
answer must equal it exactly. Elsewhere an answer that is written in decimals may be rounded: it
is equal within a relative error of ``TOLERANCE``, or the form's own.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

import sympy as sp
from sympy import Expr

from denv.instruments.derivations.forms import Form
from denv.instruments.derivations.readings import Scalar
from denv.instruments.derivations.scoring import Comparison

DIGITS = 300
POINTS = 6
SHORT_DECIMALS = 6
TOLERANCE = 1e-5

_SEED = 20_011
_SCALE = 997  # prime, so that no point is a zero of anything that an item is made of
_NEGLIGIBLE = sp.Float(10, 30) ** -250


def compare_values(found: Scalar, wanted: Scalar, form: Form) -> Comparison:
    """Compare an answer's value with the true one."""
    value, truth = found.value, wanted.value
    if value == truth:
        return Comparison("equal", "identical")
    if value.has(sp.nan, sp.zoo, sp.oo, -sp.oo) or truth.is_infinite:
        return Comparison("different", "the answer is not finite where the truth is, or reversed")
    if _may_be_rounded(found, truth, form):
        return _compare_rounded(value, truth, form)
    difference = value - truth
    if difference.is_Rational:
        if difference == 0:
            return Comparison("equal", "identical")
        return Comparison("different", "the values differ")
    return _compare_at_points(difference, positive=form.positive)


# ---------------------------------------------------------------- decimals


def _may_be_rounded(found: Scalar, truth: Expr, form: Form) -> bool:
    if found.value.free_symbols or truth.free_symbols:
        return False
    return form.kind == "decimal" or (found.decimal and not _is_short(truth))


def _is_short(truth: Expr) -> bool:
    return bool(truth.is_Rational) and 10**SHORT_DECIMALS % int(truth.q) == 0


def _compare_rounded(value: Expr, truth: Expr, form: Form) -> Comparison:
    tolerance = sp.Rational(str(TOLERANCE if form.tolerance is None else form.tolerance))
    excess = abs(value - truth) - tolerance * abs(truth)
    if not excess.is_Rational:
        excess = excess.evalf(30, maxn=DIGITS)
    if not excess.is_real:
        return Comparison("undecided", "the error of a decimal could not be evaluated")
    if excess <= 0:
        return Comparison("equal", f"within the tolerance of {float(tolerance):g}")
    return Comparison("different", f"not within the tolerance of {float(tolerance):g}")


# ---------------------------------------------------------------- numbers, then proof


def _compare_at_points(difference: Expr, *, positive: bool) -> Comparison:
    names = sorted(difference.free_symbols, key=str)
    rng = random.Random(_SEED)  # noqa: S311 - points of evaluation, no secret
    count = POINTS if names else 1
    vanished = 0
    for _ in range(count):
        point = {name: _coordinate(rng, positive=positive) for name in names}
        zero = _is_zero(difference, point)
        if zero is False:
            return Comparison("different", "the values differ" + _place(point))
        vanished += zero is True
    if vanished == count:
        where = f" at {count} points" if names else ""
        return Comparison("equal", f"agree to {DIGITS} digits{where}")
    return _compare_by_simplifying(difference)


def _coordinate(rng: random.Random, *, positive: bool) -> Expr:
    size = sp.Rational(rng.randint(150, 2700), _SCALE)
    return size if positive or rng.randint(0, 1) else -size


def _place(point: Mapping[Expr, Expr]) -> str:
    return "".join(f" at {name} = {float(value):.4g}" for name, value in point.items())


def _is_zero(difference: Expr, point: Mapping[Expr, Expr]) -> bool | None:
    """Tell whether a difference is zero at a point; None where it has no value there.

    SymPy raises its working precision until the value is accurate, up to ``DIGITS`` digits. A
    part that has an accurate digit by then is no zero; one that has none is below 10^-250.
    """
    value = difference.evalf(15, subs=dict(point), maxn=DIGITS)
    parts = [part for part in value.as_real_imag() if part != 0]
    if not all(part.is_Float for part in parts):
        return None
    if any(part._prec > 1 and abs(part) > 0 for part in parts):  # noqa: SLF001 - its only name
        return False
    return True if all(abs(part) < _NEGLIGIBLE for part in parts) else None


def _compare_by_simplifying(difference: Expr) -> Comparison:
    simple = sp.simplify(difference)
    if simple == 0:
        return Comparison("equal", "the difference simplifies to zero")
    if simple.is_number and simple.is_zero is False:
        return Comparison("different", "the difference simplifies to another number")
    return Comparison("undecided", "neither proved equal nor refuted")
