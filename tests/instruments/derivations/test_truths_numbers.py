"""Truths of number theory, checked by counting, or by another theorem where they were counted."""

from __future__ import annotations

import math

import mpmath as mp  # type: ignore[import-untyped]
import pytest
import sympy as sp
from sympy.solvers.diophantine.diophantine import diop_DN

from denv.instruments.derivations import numbers
from tests.instruments.derivations.questions import (
    components,
    elements,
    integers,
    math_of,
    part,
    problems,
    shaken,
)


def _set(truth):
    return {int(one) for one in elements(truth)}


def _pair(truth):
    return tuple(int(one) for one in components(truth))


def check_chinese_remainder(question, truth):
    modulus, *rest = integers(question)
    remainders, moduli = rest[::2], rest[1::2]
    assert math.prod(moduli) == modulus
    assert math.lcm(*moduli) == modulus  # hence there is one class alone
    assert all(int(truth) % m == r for r, m in zip(remainders, moduli, strict=True))
    assert 0 <= int(truth) < modulus


def check_tower_remainder(question, truth):
    a, b, c, m = integers(question.replace("^", " ").replace("(", " "))
    found = a % m
    for _ in range(c):  # a^(b^c) is c times the b-th power
        found = pow(found, b, m)
    assert int(truth) == found


def check_linear_congruence(question, truth):
    modulus, a, b, again = integers(question.replace("x =", " ="))
    assert modulus == again
    assert _set(truth) == {x for x in range(modulus) if (a * x - b) % modulus == 0}


def check_divisor_functions(question, truth):
    n = integers(question)[0]
    divisors = [d for d in range(1, n + 1) if n % d == 0]
    assert _pair(truth) == (len(divisors), sum(divisors))


def check_coprime_count(question, truth):
    _low, bound, n, _one = integers(question)
    primes = list(sp.factorint(n))
    found = sum(
        (-1) ** len(chosen) * (bound // math.prod(chosen))
        for chosen in sp.utilities.subsets(primes)
    )
    assert int(truth) == found


def check_factorial_valuation(question, truth):
    m, n = (int(one) for one in part(question, r"that (\d+)\^k divides (\d+)!"))
    rest, found = math.factorial(n), 0
    while rest % m == 0:
        rest, found = rest // m, found + 1
    assert int(truth) == found


def check_bezout(question, truth):
    a, b = (int(one) for one in part(question, r"gcd\((\d+), (\d+)\)"))
    x, y = _pair(truth)
    assert a * x + b * y == math.gcd(a, b)
    assert all((math.gcd(a, b) - a * less) % b for less in range(x))


def check_representation_count(question, truth):
    a, b, c, n = (int(one) for one in part(question, r"(\d+)x \+ (\d+)y \+ (\d+)z = (\d+)"))
    found = sum(
        (n - a * x - b * y) % c == 0 for x in range(n // a + 1) for y in range((n - a * x) // b + 1)
    )
    assert int(truth) == found


def check_multiplicative_order(question, truth):
    a, m = (int(one) for one in part(question, r"with (\d+)\^k = 1 \(mod (\d+)\)"))
    order = int(truth)
    assert pow(a, order, m) == 1
    assert all(pow(a, order // p, m) != 1 for p in sp.primefactors(order))


def check_square_roots_modulo(question, truth):
    modulus, a = (int(one) for one in part(question, r"modulo (\d+), with x\^2 = (\d+)"))
    found = _set(truth)
    assert len(found) == 4  # two for each of the two primes
    assert all(root * root % modulus == a for root in found)


def check_coin_problem(question, truth):
    a, b = (int(one) for one in part(question, r"for (\d+) and for (\d+) cents"))
    made = {a * i + b * j for i in range(b + 1) for j in range(a + 1)}
    lacking = [n for n in range(1, a * b) if n not in made]
    assert _pair(truth) == (lacking[-1], len(lacking))


def check_foreign_base(question, truth):
    first, second, base = integers(question)[:3]
    values = [sum(int(d) * base**k for k, d in enumerate(str(n)[::-1])) for n in (first, second)]
    assert all(int(d) < base for d in f"{first}{second}")
    found = math.prod(values)
    assert int(truth) == found + sum(int(d) for d in str(found))


def check_pell_equation(question, truth):
    d = int(part(question, r"x\^2 - (\d+)y\^2"))
    x, y = _pair(truth)
    assert x * x - d * y * y == 1
    assert (x, y) == min((abs(int(a)), abs(int(b))) for a, b in diop_DN(d, 1) if b != 0)


def check_convergent(question, truth):
    d, n = (int(one) for one in part(question, r"sqrt\((\d+)\).*a_(\d+)\] as"))
    with mp.workdps(60):
        rest, terms = mp.sqrt(d), []
        for _ in range(n + 1):
            terms.append(int(mp.floor(rest)))
            rest = 1 / (rest - terms[-1])
    value = sp.Integer(terms[-1])
    for term in terms[-2::-1]:
        value = term + 1 / value
    assert sp.sympify(truth) == value


def check_gcd_sum(question, truth):
    n = integers(question)[0]
    assert int(truth) == sum(d * sp.totient(n // d) for d in sp.divisors(n))


def check_shifted_divisibility(question, truth):
    shift, polynomial = part(question, r"n \+ (\d+) divides (.*)\.")
    value = sp.lambdify(sp.Symbol("n"), math_of(polynomial))
    found = {n for n in range(1, 3000) if value(n) % (n + int(shift)) == 0}
    assert _set(truth) == found
    assert found


CHECKS = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}


def test_every_template_is_checked():
    """No template of the field is without its check."""
    assert set(CHECKS) == {template.__name__ for template in numbers.TEMPLATES}


@pytest.mark.parametrize("template", numbers.TEMPLATES, ids=lambda one: one.__name__)
def test_truths(template):
    """What a question asks for is what counting finds."""
    for problem in problems(template):
        CHECKS[template.__name__](problem.question, problem.truth)


@pytest.mark.parametrize("template", numbers.TEMPLATES, ids=lambda one: one.__name__)
def test_wrong_truths_are_found(template):
    """A truth that is wrong by one in an integer does not pass its check."""
    problem = problems(template, count=1)[0]
    for wrong in shaken(problem.truth)[:4]:
        with pytest.raises(AssertionError):
            CHECKS[template.__name__](problem.question, wrong)
