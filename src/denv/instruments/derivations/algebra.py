"""Templates of algebra: equations, inequalities, sums and polynomials, each of several steps."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from random import Random

import sympy as sp

from denv.instruments.derivations.forms import Form, Problem
from denv.instruments.derivations.wording import braces, distinct, linear, nonzero, polynomial

X = sp.Symbol("x", real=True)
_ROOTS = Form("set", ("x",))
_NUMBER = Form("number")


def _surd_quadratic(rng: Random) -> list[int]:
    """Draw a quadratic with two real roots that are not rational."""
    while True:
        a, b, c = rng.randint(1, 4), nonzero(rng, -9, 9), nonzero(rng, -9, 9)
        discriminant = b * b - 4 * a * c
        if discriminant > 0 and isqrt(discriminant) ** 2 != discriminant:
            return [a, b, c]


def _roots(coefficients: list[int]) -> list[sp.Expr]:
    return sorted(sp.roots(sp.Poly(coefficients, X)), key=float)


def shifted_roots(rng: Random) -> Problem:
    """Solve p(x + k) = m for a quadratic p."""
    a, b, c = _surd_quadratic(rng)
    k, m = nonzero(rng, -6, 6), nonzero(rng, -9, 9)
    question = (
        f"Let p(x) = {polynomial([a, b, c + m])}. "
        f"Find the set of all real numbers x with p({polynomial([1, k])}) = {m}."
    )
    found = [sp.expand(root - k) for root in _roots([a, b, c])]
    return Problem(question, braces(found), _ROOTS)


def cubic_roots(rng: Random) -> Problem:
    """Solve a cubic that has one rational root."""
    a, b, c = _surd_quadratic(rng)
    r = nonzero(rng, -7, 7)
    expanded = [a, b - a * r, c - b * r, -c * r]
    question = f"Find the set of all real roots of {polynomial(expanded)}."
    return Problem(question, braces(_roots(expanded)), _ROOTS)


def power_sum(rng: Random) -> Problem:
    """Find x^n + y^n from x + y and xy."""
    s, p, n = nonzero(rng, -6, 6), nonzero(rng, -7, 7), rng.randint(4, 7)
    sums = [2, s]
    while len(sums) <= n:
        sums.append(s * sums[-1] - p * sums[-2])
    question = f"The complex numbers x and y satisfy x + y = {s} and xy = {p}. Find x^{n} + y^{n}."
    return Problem(question, str(sums[n]), _NUMBER)


def quadratic_inequality(rng: Random) -> Problem:
    """Solve a quadratic inequality after bringing both sides together."""
    a, b, c = _surd_quadratic(rng)
    d, e = nonzero(rng, -6, 6), nonzero(rng, -9, 9)
    relation = rng.choice(["<", "<=", ">", ">="])
    question = (
        "Find the set of all real numbers x with "
        f"{polynomial([a, b + d, c + e])} {relation} {polynomial([d, e])}."
    )
    low, high = _roots([a, b, c])
    opening, closing = ("[", "]") if "=" in relation else ("(", ")")
    between = f"{opening}{low}, {high}{closing}"
    outside = f"(-oo, {low}{closing} U {opening}{high}, oo)"
    truth = between if relation[0] == "<" else outside
    return Problem(question, truth, Form("interval", ("x",)))


def rational_inequality(rng: Random) -> Problem:
    """Solve (x + a)/(x + b) >= k, where multiplying by x + b loses or adds solutions."""
    a, b = distinct(rng, -8, 8, count=2)
    k = rng.choice([-3, -2, 2, 3, 4])
    question = (
        f"Find the set of all real numbers x with "
        f"({polynomial([1, a])})/({polynomial([1, b])}) >= {k}."
    )
    pole, zero = Fraction(-b), Fraction(a - k * b, k - 1)
    low, high = sorted([pole, zero])
    middle = (low + high) / 2
    ends = {pole: "()", zero: "[]"}
    if (middle + a) / (middle + b) >= k:
        truth = f"{ends[low][0]}{low}, {high}{ends[high][1]}"
    else:
        truth = f"(-oo, {low}{ends[low][1]} U {ends[high][0]}{high}, oo)"
    return Problem(question, truth, Form("interval", ("x",)))


def absolute_equation(rng: Random) -> Problem:
    """Solve |ax + b| = cx + d, where a case may give no solution."""
    while True:
        a, b = rng.randint(2, 7), nonzero(rng, -9, 9)
        c, d = nonzero(rng, -4, 6), nonzero(rng, -9, 12)
        if abs(c) == a:
            continue
        candidates = {Fraction(d - b, a - c), Fraction(-d - b, a + c)}
        found = sorted(x for x in candidates if c * x + d >= 0)
        if found:
            break
    question = (
        f"Find the set of all real numbers x with |{polynomial([a, b])}| = {polynomial([c, d])}."
    )
    return Problem(question, braces(found), _ROOTS)


def radical_equation(rng: Random) -> Problem:
    """Solve sqrt(ax + b) = x - c, where squaring adds a root."""
    root, c, a = rng.randint(2, 12), rng.randint(-6, 1), nonzero(rng, -5, 9)
    b = (root - c) ** 2 - a * root
    candidates = {root, 2 * c + a - root}
    found = sorted(x for x in candidates if x >= c and a * x + b == (x - c) ** 2)
    question = (
        "Find the set of all real numbers x with "
        f"sqrt({polynomial([a, b])}) = {polynomial([1, -c])}."
    )
    return Problem(question, braces(found), _ROOTS)


def partial_fractions(rng: Random) -> Problem:
    """Decompose a fraction with three simple poles."""
    poles = distinct(rng, -5, 5, count=3)
    top = [nonzero(rng, -6, 6), rng.randint(-9, 9), nonzero(rng, -9, 9)]
    factors = [f"({polynomial([1, -pole])})" for pole in poles]
    shown = " + ".join(f"{name}/{factor}" for name, factor in zip("ABC", factors, strict=True))
    question = (
        f"Find the constants A, B, C with ({polynomial(top)})/({''.join(factors)}) = {shown} "
        "wherever both sides are defined. Give (A, B, C)."
    )
    found = []
    for pole in poles:
        others = [pole - other for other in poles if other != pole]
        above = top[0] * pole**2 + top[1] * pole + top[2]
        found.append(Fraction(above, others[0] * others[1]))
    truth = f"({', '.join(map(str, found))})"
    return Problem(question, truth, Form("tuple", ("A", "B", "C")))


def polynomial_remainder(rng: Random) -> Problem:
    """Divide a polynomial by a quadratic with remainder."""
    top = [nonzero(rng, -4, 4)] + [rng.randint(-6, 6) for _ in range(4)]
    p, q = nonzero(rng, -4, 4), nonzero(rng, -5, 5)
    question = (
        f"Find the remainder, as a polynomial in x, when {polynomial(top)} "
        f"is divided by {polynomial([1, p, q])}."
    )
    remainder = sp.rem(sp.Poly(top, X), sp.Poly([1, p, q], X)).as_expr()
    return Problem(question, str(remainder), Form("expression", ("x",)))


def reciprocal_roots(rng: Random) -> Problem:
    """Find the sum of the inverse squares of a cubic's roots from its coefficients."""
    a, b, c, d = rng.randint(1, 5), rng.randint(-7, 7), nonzero(rng, -7, 7), nonzero(rng, -6, 6)
    question = (
        f"Let r, s, t be the complex roots of {polynomial([a, b, c, d])}, counted with "
        "multiplicity. Find 1/r^2 + 1/s^2 + 1/t^2."
    )
    first, second = Fraction(-c, d), Fraction(b, d)  # elementary sums of 1/r, 1/s, 1/t
    return Problem(question, str(first**2 - 2 * second), _NUMBER)


def exponential_equation(rng: Random) -> Problem:
    """Solve a quadratic in b^x."""
    base = rng.choice([2, 3, 5])
    p, q = rng.sample([n for n in range(2, 13) if n not in {base, base**2, base**3}], 2)
    question = (
        f"Find the set of all real numbers x with {base}^(2x) - {p + q} * {base}^x + {p * q} = 0."
    )
    truth = braces(f"log({n})/log({base})" for n in sorted([p, q]))
    return Problem(question, truth, _ROOTS)


def logarithmic_equation(rng: Random) -> Problem:
    """Solve a sum of two logarithms, of which only one root is in the domain."""
    base, k = rng.choice([(2, 3), (2, 4), (3, 2), (5, 1), (7, 1)])
    m, n = distinct(rng, -6, 6, count=2)
    question = (
        f"Find the real number x with log_{base}({polynomial([1, m])}) + "
        f"log_{base}({polynomial([1, n])}) = {k}."
    )
    root = max(_roots([1, m + n, m * n - base**k]))
    return Problem(question, str(root), _NUMBER)


def complex_power(rng: Random) -> Problem:
    """Raise a complex number to a power and divide by another."""
    a, b, c, d = (nonzero(rng, -3, 3) for _ in range(4))
    n = rng.randint(3, 5)
    real, imaginary = 1, 0
    for _ in range(n):
        real, imaginary = real * a - imaginary * b, real * b + imaginary * a
    size = c * c + d * d
    above = Fraction(real * c + imaginary * d, size), Fraction(imaginary * c - real * d, size)
    question = (
        f"Write ({linear([(a, ''), (b, 'i')])})^{n} / ({linear([(c, ''), (d, 'i')])}) in the form "
        "p + qi with real p and q, where i^2 = -1."
    )
    return Problem(question, f"{above[0]} + ({above[1]})*I", _NUMBER)


def telescoping_sum(rng: Random) -> Problem:
    """Add up the first terms of a series that telescopes."""
    a, m, n = rng.randint(0, 4), rng.randint(2, 4), rng.randint(8, 20)
    question = f"Find the sum of 1/((k + {a})(k + {a + m})) over k = 1, 2, ..., {n}."
    if a == 0:
        question = f"Find the sum of 1/(k(k + {m})) over k = 1, 2, ..., {n}."
    found = sum(Fraction(1, (k + a) * (k + a + m)) for k in range(1, n + 1))
    return Problem(question, str(found), _NUMBER)


def meeting_point(rng: Random) -> Problem:
    """Find where two travellers meet of whom one starts later."""
    first, second = distinct(rng, 12, 30, count=2)
    late, distance = rng.choice([10, 15, 20, 24, 30, 40, 45]), rng.randint(60, 150)
    question = (
        f"Two towns A and B are {distance} km apart. One cyclist leaves A for B at {first} km/h; "
        f"{late} minutes later another leaves B for A on the same road at {second} km/h. "
        "How far from A do they meet?"
    )
    ahead = Fraction(first * late, 60)
    met = ahead + first * (distance - ahead) / (first + second)
    return Problem(question, str(met), Form("quantity", unit="km"))


TEMPLATES = (
    shifted_roots, cubic_roots, power_sum, quadratic_inequality, rational_inequality,
    absolute_equation, radical_equation, partial_fractions, polynomial_remainder,
    reciprocal_roots, exponential_equation, logarithmic_equation, complex_power,
    telescoping_sum, meeting_point,
)  # fmt: skip
