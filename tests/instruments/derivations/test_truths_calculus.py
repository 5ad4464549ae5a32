"""Truths of calculus, checked by numeric differentiation, quadrature and series."""

from __future__ import annotations

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import pytest
import sympy as sp

from denv.instruments.derivations import calculus
from tests.instruments.derivations.questions import (
    X,
    close,
    components,
    holds_exactly_on,
    integers,
    math_of,
    part,
    problems,
    shaken,
)


@pytest.fixture(autouse=True)
def _precision():
    """Differentiate numerically with digits to spare."""
    with mp.workdps(40):
        yield


def _function(text, names="x"):
    return sp.lambdify([X if name == "x" else sp.Symbol(name) for name in names],
                       math_of(text), "mpmath")  # fmt: skip


def _number(truth):
    return mp.mpf(str(sp.N(sp.sympify(truth), 40)))


def check_product_derivative(question, truth):
    given, found = _function(part(question, r"f\(x\) = (.*)\.")), _function(truth)
    for x in (-0.7, 0.4, 1.3):
        assert close(mp.diff(given, x, 2), found(x), digits=10)


def check_quotient_second_derivative(question, truth):
    given, at = part(question, r"f\(x\) = (.*)\. Find f''\((-?\d+)\)")
    assert close(mp.diff(_function(given), int(at), 2), _number(truth), digits=10)


def check_implicit_second_derivative(question, truth):
    x, y, left, right = part(question, r"point \((-?\d+), (-?\d+)\) the curve (.*) = (-?\d+) is")
    curve = _function(left, "xy")
    assert curve(int(x), int(y)) == int(right)

    def branch(at):
        return mp.findroot(lambda height: curve(at, height) - int(right), int(y))

    assert close(mp.diff(branch, int(x), 2, h=mp.mpf(10) ** -10), _number(truth), digits=6)


def _check_integral(question, truth):
    inner, low, high = part(question, r"integral of (.*) from x = (-?\d+) to x = (-?\d+)\.")
    assert close(mp.quad(_function(inner), [int(low), int(high)]), _number(truth), digits=10)


def check_integral_by_parts(question, truth):
    _check_integral(question, truth)


def check_logarithmic_integral(question, truth):
    _check_integral(question, truth)


def check_enclosed_area(question, truth):
    first, second = part(question, r"curves y = (.*) and y = (.*)\.")
    gap = sp.Poly(math_of(first) - math_of(second), X)
    coefficients = [int(c) for c in gap.all_coeffs()]
    low, high = sorted(np.roots(coefficients).real)
    area = mp.quad(lambda x: mp.polyval(coefficients, x), [low, high])
    assert close(abs(area), _number(truth), digits=8)


def check_taylor_limit(question, truth):
    given = _function(part(question, r"limit of (.*) as x goes"))
    assert close(given(mp.mpf(10) ** -8), _number(truth), digits=10)


def check_extreme_values(question, truth):
    given, low, high = part(question, r"f\(x\) = (.*) on the interval \[(-?\d+), (-?\d+)\]")
    function = np.poly1d([float(c) for c in sp.Poly(math_of(given), X).all_coeffs()])
    values = function(np.arange(float(low), float(high) + 0.0005, 0.001))
    least, most = components(truth)
    assert close(values.min(), least, digits=4)
    assert close(values.max(), most, digits=4)


def check_normal_line(question, truth):
    curve, line = _function(part(question, r"curve y = (.*) at its")), _function(truth)
    assert line(0) == curve(0)
    assert close(mp.diff(curve, 0) * mp.diff(line, 0), -1, digits=10)


def check_maclaurin_coefficient(question, truth):
    power, given = part(question, r"x\^(\d+) in the Maclaurin series of (.*)\.")
    assert close(mp.taylor(_function(given), 0, int(power))[-1], _number(truth), digits=8)


def check_first_order_equation(question, truth):
    rate, right, start = part(question, r"y' (.*?)y = (.*) and y\(0\) = (-?\d+)")
    rate = rate.replace(" ", "")
    found, wanted = _function(truth), _function(right)
    assert close(found(0), int(start))
    for x in (-0.5, 0.3, 1.1):
        left = mp.diff(found, x) + int(f"{rate}1" if rate in {"+", "-"} else rate) * found(x)
        assert close(left, wanted(x), digits=10)


def check_second_order_equation(question, truth):
    left, value, slope = part(
        question, r"satisfies (.*) = 0, y\(0\) = (-?\d+) and y'\(0\) = (-?\d+)"
    )
    found = _function(truth)
    assert close(found(0), int(value))
    assert close(mp.diff(found, 0), int(slope), digits=10)
    equation = _function(left.replace("y''", "w").replace("y'", "v"), "wvy")
    for x in (-0.5, 0.3, 0.9):
        size = max(1, abs(mp.diff(found, x, 2)))
        assert abs(equation(mp.diff(found, x, 2), mp.diff(found, x), found(x))) < 1e-10 * size


def check_revolution_volume(question, truth):
    given, high = part(question, r"y = (.*) for 0 <= x <= (\d+) is")
    curve = _function(given)
    assert close(mp.pi * mp.quad(lambda x: curve(x) ** 2, [0, int(high)]), _number(truth), digits=8)


def check_convex_set(question, truth):
    given = math_of(part(question, r"f\(x\) = (.*)\. Find"))
    bent = sp.diff(given, X, 2)
    assert holds_exactly_on(lambda x: sp.expand(bent.subs(X, x)) > 0, truth)


def check_weighted_geometric_series(question, truth):
    given, above, below = part(question, r"sum of \((.*)\) \((\d+)/(\d+)\)\^n")
    weight = _function(given, "n")
    ratio = mp.mpf(int(above)) / int(below)
    total = mp.fsum(weight(n) * ratio**n for n in range(1, 1500))
    assert close(total, _number(truth), digits=10)


def check_triangle_integral(question, truth):
    given, a, b = part(question, r"integral of (.*) over .* \((\d+), 0\) and \(0, (\d+)\)")
    inner = _function(given, "xy")
    a, b = int(a), int(b)
    with mp.workdps(15):
        total = mp.quad(lambda x: mp.quad(lambda y: inner(x, y), [0, b - b * x / a]), [0, a])
    assert close(total, _number(truth), digits=8)


def check_newton_steps(question, truth):
    given, start, steps = part(
        question, r"f\(x\) = (.*), starting at x_0 = (\d+)\. .* of (\d) steps"
    )
    function, x = math_of(given), sp.Integer(start)
    for _ in range(int(steps)):
        slope, height = sp.diff(function, X).subs(X, x), function.subs(X, x)
        x = x - height / slope  # where the tangent meets the axis
    assert x == sp.Rational(truth)


def check_cone_rate(question, truth):
    rate, _three, radius, height, depth = integers(question.replace("^3", " 3"))

    def volume(level):
        return mp.pi * (mp.mpf(radius) * level / height) ** 2 * level / 3

    assert close(rate / mp.diff(volume, depth), _number(truth), digits=10)


CHECKS = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}


def test_every_template_is_checked():
    """No template of the field is without its check."""
    assert set(CHECKS) == {template.__name__ for template in calculus.TEMPLATES}


@pytest.mark.parametrize("template", calculus.TEMPLATES, ids=lambda one: one.__name__)
def test_truths(template):
    """What a question asks for is what numeric analysis finds."""
    for problem in problems(template):
        CHECKS[template.__name__](problem.question, problem.truth)


@pytest.mark.parametrize("template", calculus.TEMPLATES, ids=lambda one: one.__name__)
def test_wrong_truths_are_found(template):
    """A truth that is wrong by one in an integer does not pass its check."""
    problem = problems(template, count=1)[0]
    for wrong in shaken(problem.truth)[:4]:
        with pytest.raises(AssertionError):
            CHECKS[template.__name__](problem.question, wrong)
