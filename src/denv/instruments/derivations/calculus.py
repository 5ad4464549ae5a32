"""Templates of calculus: derivatives, integrals, limits, series and differential equations."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, gcd
from random import Random

import sympy as sp

from denv.instruments.derivations.forms import Form, Problem
from denv.instruments.derivations.wording import linear, nonzero, polynomial

X = sp.Symbol("x", real=True)
_NUMBER = Form("number")
_FUNCTION = Form("expression", ("x",))


def _value(coefficients: list[int], at: sp.Expr) -> sp.Expr:
    return sp.Poly(coefficients, X)(at)


def _exponent(a: int, name: str = "x") -> str:
    """Write e^(ax) in a question."""
    return f"e^({linear([(a, name)])})"


def product_derivative(rng: Random) -> Problem:
    """Differentiate a product of a polynomial, an exponential and a sine twice."""
    p, q = nonzero(rng, -4, 4), nonzero(rng, -6, 6)
    a, b = nonzero(rng, -3, 3), rng.randint(2, 5)
    wave = rng.choice(["sin", "cos"])
    question = (
        f"Find the second derivative f''(x) of "
        f"f(x) = ({polynomial([p, q])}) {_exponent(a)} {wave}({b}x)."
    )
    turned = sp.sin(b * X) if wave == "sin" else sp.cos(b * X)
    found = sp.diff((p * X + q) * sp.exp(a * X) * turned, X, 2)
    return Problem(question, str(found), _FUNCTION)


def quotient_second_derivative(rng: Random) -> Problem:
    """Evaluate the second derivative of a quotient."""
    a, b, c, k = nonzero(rng, -5, 5), nonzero(rng, -7, 7), rng.randint(1, 6), nonzero(rng, -3, 3)
    question = f"Let f(x) = ({polynomial([a, b])})/({polynomial([1, 0, c])}). Find f''({k})."
    found = sp.diff((a * X + b) / (X**2 + c), X, 2).subs(X, k)
    return Problem(question, str(found), _NUMBER)


def implicit_second_derivative(rng: Random) -> Problem:
    """Differentiate a conic implicitly, twice, at one of its points."""
    while True:
        a, b = nonzero(rng, -3, 3), nonzero(rng, -4, 4)
        x, y = nonzero(rng, -3, 3), nonzero(rng, -3, 3)
        below = a * x + 2 * b * y
        if below != 0:
            break
    c = x * x + a * x * y + b * y * y
    slope = Fraction(-(2 * x + a * y), below)
    found = -(2 + 2 * a * slope + 2 * b * slope**2) / below
    curve = linear([(1, "x^2"), (a, "xy"), (b, "y^2")])
    question = (
        f"Near the point ({x}, {y}) the curve {curve} = {c} is the graph of a function y of x. "
        "Find the value of d^2y/dx^2 at that point."
    )
    return Problem(question, str(found), _NUMBER)


def integral_by_parts(rng: Random) -> Problem:
    """Integrate a quadratic times an exponential by parts, twice."""
    p, q, a, k = rng.randint(-5, 5), nonzero(rng, -5, 5), nonzero(rng, -3, 3), rng.randint(1, 2)
    question = (
        f"Find the integral of ({polynomial([1, p, q])}) {_exponent(a)} from x = 0 to x = {k}."
    )
    found = sp.integrate((X**2 + p * X + q) * sp.exp(a * X), (X, 0, k))
    return Problem(question, str(found), _NUMBER)


def logarithmic_integral(rng: Random) -> Problem:
    """Integrate a fraction with two simple poles outside the range."""
    a, b = rng.sample(range(1, 8), 2)
    p, q, high = nonzero(rng, -4, 4), nonzero(rng, -6, 6), rng.randint(1, 5)
    question = (
        f"Find the integral of ({polynomial([p, q])})/(({polynomial([1, a])})"
        f"({polynomial([1, b])})) from x = 0 to x = {high}."
    )
    first = Fraction(q - p * a, b - a)
    second = p - first
    found = sum(
        sp.Rational(part.numerator, part.denominator) * (sp.log(high + pole) - sp.log(pole))
        for part, pole in ((first, a), (second, b))
    )
    return Problem(question, str(found), _NUMBER)


def enclosed_area(rng: Random) -> Problem:
    """Find the area between a parabola and a line that meet at irrational points."""
    while True:
        a, b, c = rng.randint(1, 3), rng.randint(-5, 5), nonzero(rng, -8, 8)
        d, e = nonzero(rng, -4, 4), nonzero(rng, -6, 6)
        discriminant = (b - d) ** 2 - 4 * a * (c - e)
        if discriminant > 0:
            break
    question = (
        f"Find the area of the bounded region between the curves y = {polynomial([a, b, c])} "
        f"and y = {polynomial([d, e])}."
    )
    found = sp.sqrt(discriminant) ** 3 / (6 * a**2)
    return Problem(question, str(found), _NUMBER)


def taylor_limit(rng: Random) -> Problem:
    """Find a limit that needs expansions to third order."""
    a, b = rng.sample(range(2, 8), 2)
    c = rng.randint(2, 6)
    question = f"Find the limit of (sin({a}x) - {a}x cos({b}x))/({c}x^3) as x goes to 0."
    return Problem(question, str(Fraction(3 * a * b**2 - a**3, 6 * c)), _NUMBER)


def extreme_values(rng: Random) -> Problem:
    """Find the extreme values of a cubic, inside an interval or at its ends."""
    first, second = sorted(rng.sample(range(-4, 5), 2))
    c = rng.randint(-9, 9)
    low, high = first - rng.randint(1, 3), second + rng.randint(1, 3)
    # f' = 6 (x - first)(x - second)
    coefficients = [2, -3 * (first + second), 6 * first * second, c]
    question = (
        f"Let m be the minimum and M the maximum of f(x) = {polynomial(coefficients)} "
        f"on the interval [{low}, {high}]. Give (m, M)."
    )
    values = [_value(coefficients, point) for point in (low, first, second, high)]
    return Problem(question, f"({min(values)}, {max(values)})", Form("tuple", ("m", "M")))


def normal_line(rng: Random) -> Problem:
    """Find the normal to a curve that is a product, at x = 0."""
    while True:
        a, b, c = nonzero(rng, -4, 4), nonzero(rng, -6, 6), nonzero(rng, -6, 6)
        slope = a * c + b
        if slope != 0:
            break
    question = (
        f"Find the equation y = g(x) of the normal line to the curve "
        f"y = ({polynomial([b, c])}) {_exponent(a)} at its point with x = 0. "
        "Give the expression g(x)."
    )
    return Problem(question, f"({Fraction(-1, slope)})*x + ({c})", _FUNCTION)


def maclaurin_coefficient(rng: Random) -> Problem:
    """Find a coefficient of the series of a product of two series."""
    a, b, n = nonzero(rng, -3, 3), nonzero(rng, -3, 3), rng.randint(4, 6)
    question = (
        f"Find the coefficient of x^{n} in the Maclaurin series of "
        f"{_exponent(a)}/({linear([(1, ''), (-b, 'x')])})."
    )
    found = sum(Fraction(a**k, factorial(k)) * b ** (n - k) for k in range(n + 1))
    return Problem(question, str(found), _NUMBER)


def first_order_equation(rng: Random) -> Problem:
    """Solve a linear differential equation of first order with a linear right side."""
    while True:
        p, q, r, start = (nonzero(rng, -5, 5) for _ in range(4))
        rise = Fraction(r, p)
        level = (q - rise) / p
        if start != level:
            break
    left = linear([(1, "y'"), (p, "y")])
    question = (
        f"The function y(x) satisfies {left} = {polynomial([r, q])} and y(0) = {start}. Find y(x)."
    )
    truth = f"({rise})*x + ({level}) + ({start - level})*exp({-p}*x)"
    return Problem(question, truth, _FUNCTION)


def second_order_equation(rng: Random) -> Problem:
    """Solve a homogeneous differential equation of second order with two real rates."""
    first, second = rng.sample([n for n in range(-4, 6) if n != 0], 2)
    value, slope = nonzero(rng, -5, 5), rng.randint(-6, 6)
    left = linear([(1, "y''"), (-(first + second), "y'"), (first * second, "y")])
    question = (
        f"The function y(x) satisfies {left} = 0, y(0) = {value} and y'(0) = {slope}. Find y(x)."
    )
    other = Fraction(slope - first * value, second - first)
    truth = f"({value - other})*exp({first}*x) + ({other})*exp({second}*x)"
    return Problem(question, truth, _FUNCTION)


def revolution_volume(rng: Random) -> Problem:
    """Find the volume that the region under a + b sqrt(x) sweeps out."""
    a, b, k = rng.randint(1, 5), rng.randint(1, 5), rng.randint(2, 7)
    root = linear([(a, ""), (b, "sqrt(x)")])
    question = (
        f"The region between the x-axis and the curve y = {root} for 0 <= x <= {k} is rotated "
        "about the x-axis. Find the volume of the solid."
    )
    square = a**2 + 2 * a * b * sp.sqrt(X) + b**2 * X
    found = sp.pi * sp.integrate(square, (X, 0, k))
    return Problem(question, str(found), _NUMBER)


def convex_set(rng: Random) -> Problem:
    """Find where a quartic has a positive second derivative."""
    while True:
        a, b, c = nonzero(rng, -2, 2), nonzero(rng, -3, 3), nonzero(rng, -4, 4)
        if b * b - 4 * a * c > 0:
            break
    d, e = rng.randint(-9, 9), rng.randint(-9, 9)
    coefficients = [a, 2 * b, 6 * c, d, e]  # f'' = 12 (a x^2 + b x + c)
    question = (
        f"Let f(x) = {polynomial(coefficients)}. "
        "Find the set of all real numbers x with f''(x) > 0."
    )
    low, high = sorted(sp.roots(sp.Poly([a, b, c], X)), key=float)
    truth = f"(-oo, {low}) U ({high}, oo)" if a > 0 else f"({low}, {high})"
    return Problem(question, truth, Form("interval", ("x",)))


def weighted_geometric_series(rng: Random) -> Problem:
    """Sum a series of squares times powers."""
    q = rng.randint(3, 9)
    p = rng.choice([n for n in range(1, q) if gcd(n, q) == 1])
    c = nonzero(rng, -5, 5)
    question = f"Find the sum of ({polynomial([1, c, 0], 'n')}) ({p}/{q})^n over n = 1, 2, 3, ..."
    r = Fraction(p, q)
    found = r * (1 + r) / (1 - r) ** 3 + c * r / (1 - r) ** 2
    return Problem(question, str(found), _NUMBER)


def triangle_integral(rng: Random) -> Problem:
    """Integrate a polynomial over a right triangle."""
    a, b = rng.randint(1, 4), rng.randint(1, 4)
    p, q, r = nonzero(rng, -5, 5), nonzero(rng, -5, 5), nonzero(rng, -5, 5)
    question = (
        f"Find the double integral of {linear([(p, 'x^2'), (q, 'xy'), (r, 'y')])} over the "
        f"triangle with vertices (0, 0), ({a}, 0) and (0, {b})."
    )

    def moment(i: int, j: int) -> Fraction:
        return Fraction(a ** (i + 1) * b ** (j + 1) * factorial(i) * factorial(j),
                        factorial(i + j + 2))  # fmt: skip

    found = p * moment(2, 0) + q * moment(1, 1) + r * moment(0, 1)
    return Problem(question, str(found), _NUMBER)


def newton_steps(rng: Random) -> Problem:
    """Do three steps of Newton's method and give the result in decimals."""
    a, b = rng.randint(1, 6), rng.randint(3, 30)
    start, steps = rng.randint(1, 3), 3
    question = (
        f"Apply Newton's method to f(x) = {polynomial([1, 0, a, -b])}, starting at x_0 = {start}. "
        f"Find x_{steps}, the result of {steps} steps."
    )
    x = Fraction(start)
    for _ in range(steps):
        x -= (x**3 + a * x - b) / (3 * x**2 + a)
    return Problem(question, str(x), Form("decimal", tolerance=1e-7))


def cone_rate(rng: Random) -> Problem:
    """Find how fast the level rises in a cone."""
    radius, height = rng.randint(3, 9), rng.randint(10, 20)
    rate, depth = rng.randint(2, 15), rng.randint(3, 9)
    question = (
        f"Water runs at {rate} cm^3/s into a cone that stands on its tip, with a radius of "
        f"{radius} cm at the top and a height of {height} cm. How fast does the level rise when "
        f"the water is {depth} cm deep?"
    )
    found = Fraction(rate * height**2, radius**2 * depth**2)
    return Problem(question, f"({found})/pi", Form("quantity", unit="cm/s"))


TEMPLATES = (
    product_derivative, quotient_second_derivative, implicit_second_derivative,
    integral_by_parts, logarithmic_integral, enclosed_area, taylor_limit, extreme_values,
    normal_line, maclaurin_coefficient, first_order_equation, second_order_equation,
    revolution_volume, convex_set, weighted_geometric_series, triangle_integral, newton_steps,
    cone_rate,
)  # fmt: skip
