"""Truths of algebra, checked by substituting, by numeric roots and by SymPy's own solvers."""

from __future__ import annotations

import cmath

import numpy as np
import pytest
import sympy as sp

from denv.instruments.derivations import algebra
from tests.instruments.derivations.questions import (
    X,
    close,
    components,
    elements,
    holds_exactly_on,
    integers,
    math_of,
    part,
    problems,
    shaken,
)


def _signed(text):
    return int(text.replace(" ", ""))


def _real_roots(polynomial):
    coefficients = [float(c) for c in sp.Poly(polynomial, X).all_coeffs()]
    return sorted(root.real for root in np.roots(coefficients) if abs(root.imag) < 1e-7)


def _same(found, wanted):
    pairs = zip(sorted(map(float, found)), sorted(map(float, wanted)), strict=True)
    return all(close(one, other, digits=9) for one, other in pairs)


def check_shifted_roots(question, truth):
    polynomial, shift, level = part(question, r"p\(x\) = (.*?)\. Find .* p\(x (.*?)\) = (-?\d+)\.")
    moved = math_of(polynomial).subs(X, X + _signed(shift)) - int(level)
    assert _same(elements(truth), _real_roots(sp.expand(moved)))


def check_cubic_roots(question, truth):
    assert _same(elements(truth), _real_roots(math_of(part(question, r"roots of (.*)\."))))


def check_power_sum(question, truth):
    s, p, n = (int(one) for one in part(question, r"y = (-?\d+) and xy = (-?\d+)\. Find x\^(\d+)"))
    root = cmath.sqrt(s * s - 4 * p)
    assert close(((s + root) / 2) ** n + ((s - root) / 2) ** n, int(truth), digits=9)


def _sides(question):
    left, relation, right = part(question, r"numbers x with (.*?) (<=|>=|<|>|=) (.*)\.")
    return math_of(left), relation, math_of(right)


def _meets(question):
    left, relation, right = _sides(question)
    tests = {
        "<": lambda d: d < 0, "<=": lambda d: d <= 0, ">": lambda d: d > 0, ">=": lambda d: d >= 0,
    }  # fmt: skip

    def condition(point):
        difference = sp.expand((left - right).subs(X, point))
        return difference.is_finite and tests[relation](difference)

    return condition


def check_quadratic_inequality(question, truth):
    assert holds_exactly_on(_meets(question), truth)


def check_rational_inequality(question, truth):
    assert holds_exactly_on(_meets(question), truth)


def check_absolute_equation(question, truth):
    inner, right = part(question, r"\|(.*?)\| = (.*)\.")
    found = sp.solveset(sp.Abs(math_of(inner)) - math_of(right), X, sp.S.Reals)
    assert set(found) == set(elements(truth))


def check_radical_equation(question, truth):
    left, right = part(question, r"x with (sqrt\(.*\)) = (.*)\.")
    found = sp.solveset(math_of(left) - math_of(right), X, sp.S.Reals)
    assert set(found) == set(elements(truth))


def check_partial_fractions(question, truth):
    left, right = part(question, r"C with (.*) = (A/.*) wherever")
    split = math_of(right).subs(dict(zip(sp.symbols("A B C"), components(truth), strict=True)))
    assert sp.cancel(math_of(left) - split) == 0


def check_polynomial_remainder(question, truth):
    top, below = part(question, r"when (.*) is divided by (.*)\.")
    remainder = sp.Poly(math_of(truth), X)
    assert remainder.degree() < 2
    quotient = sp.cancel((math_of(top) - remainder.as_expr()) / math_of(below))
    assert quotient.is_polynomial(X)


def check_reciprocal_roots(question, truth):
    polynomial = sp.Poly(math_of(part(question, r"roots of (.*?), counted")), X)
    roots = np.roots([float(c) for c in polynomial.all_coeffs()])
    assert close(sum(1 / root**2 for root in roots), sp.sympify(truth), digits=6)


def check_exponential_equation(question, truth):
    left = math_of(part(question, r"x with (.*) = 0\."))
    values = elements(truth)
    assert len({float(value) for value in values}) == 2  # a quadratic has no more
    assert all(close(left.subs(X, value), 0, digits=9) for value in values)


def check_logarithmic_equation(question, truth):
    base, first, second, level = part(question, r"log_(\d+)\((.*?)\) \+ log_\d+\((.*?)\) = (\d+)\.")
    insides = [float(math_of(one).subs(X, sp.sympify(truth))) for one in (first, second)]
    assert min(insides) > 0  # the left side rises there: there is no second solution
    assert close(np.prod(insides), int(base) ** int(level), digits=9)


def check_complex_power(question, truth):
    above, power, below = part(question, r"Write \((.*?)\)\^(\d+) / \((.*?)\) in")
    value = complex(math_of(above)) ** int(power) / complex(math_of(below))
    assert close(value, sp.sympify(truth), digits=9)


def check_telescoping_sum(question, truth):
    low, high, last = part(question, r"1/\((?:\(k \+ (\d+)\)|k)\(k \+ (\d+)\)\) .* (\d+)\.")
    low, last = int(low or 0), int(last)
    gap = int(high) - low
    rest = sum(sp.Rational(1, low + j) - sp.Rational(1, low + last + j) for j in range(1, gap + 1))
    assert sp.sympify(truth) == rest / gap


def check_meeting_point(question, truth):
    distance, first, late, second = integers(question)
    met = sp.sympify(truth)
    assert met / first == sp.Rational(late, 60) + (distance - met) / second  # the same moment


CHECKS = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}


def test_every_template_is_checked():
    """No template of the field is without its check."""
    assert set(CHECKS) == {template.__name__ for template in algebra.TEMPLATES}


@pytest.mark.parametrize("template", algebra.TEMPLATES, ids=lambda one: one.__name__)
def test_truths(template):
    """What a question asks for is what its truth fulfils, and all of it."""
    for problem in problems(template):
        CHECKS[template.__name__](problem.question, problem.truth)


@pytest.mark.parametrize("template", algebra.TEMPLATES, ids=lambda one: one.__name__)
def test_wrong_truths_are_found(template):
    """A truth that is wrong by one in an integer does not pass its check."""
    problem = problems(template, count=1)[0]
    for wrong in shaken(problem.truth)[:4]:
        with pytest.raises(AssertionError):
            CHECKS[template.__name__](problem.question, wrong)
