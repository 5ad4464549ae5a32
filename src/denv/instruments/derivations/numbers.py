"""Templates of number theory: congruences, divisors, representations, continued fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from math import gcd, isqrt, prod
from random import Random

from denv.instruments.derivations.forms import Form, Problem
from denv.instruments.derivations.wording import braces, linear, nonzero

_NUMBER = Form("number")
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)


def _pair(first: str, second: str) -> Form:
    return Form("tuple", (first, second))


def chinese_remainder(rng: Random) -> Problem:
    """Solve three congruences at once."""
    moduli = sorted(rng.sample([7, 9, 11, 13, 16, 17, 19, 23, 25], 3))
    modulus = prod(moduli)
    x = rng.randint(1, modulus - 1)
    shown = ", ".join(f"x = {x % m} (mod {m})" for m in moduli)
    question = f"Find all integers x, modulo {modulus}, with {shown}."
    return Problem(question, str(x), Form("residue", modulus=modulus))


def tower_remainder(rng: Random) -> Problem:
    """Find the remainder of a power whose exponent is a power."""
    a, b, c = rng.randint(2, 30), rng.randint(2, 20), rng.randint(5, 40)
    m = rng.choice([77, 91, 101, 103, 119, 125, 127, 143])
    question = f"Find the remainder of {a}^({b}^{c}) on division by {m}."
    return Problem(question, str(pow(a, b**c, m)), _NUMBER)


def linear_congruence(rng: Random) -> Problem:
    """Solve a linear congruence whose coefficient and modulus share a factor."""
    shared, reduced = rng.randint(2, 4), rng.randint(30, 90)
    a = shared * rng.choice([n for n in range(7, reduced) if gcd(n, reduced) == 1])
    modulus = shared * reduced
    b = shared * rng.randint(1, reduced - 1)
    question = f"Find all integers x, modulo {modulus}, with {a}x = {b} (mod {modulus})."
    first = b // shared * pow(a // shared, -1, reduced) % reduced
    truth = braces(first + reduced * n for n in range(shared))
    return Problem(question, truth, Form("residue", modulus=modulus))


def divisor_functions(rng: Random) -> Problem:
    """Count and add up the divisors of a number that is to be factored first."""
    primes = rng.sample([2, 3, 5, 7, 11, 13], 3)
    powers = [rng.randint(1, 3) for _ in primes]
    n = prod(p**k for p, k in zip(primes, powers, strict=True))
    divisors = prod(k + 1 for k in powers)
    total = prod((p ** (k + 1) - 1) // (p - 1) for p, k in zip(primes, powers, strict=True))
    question = f"Let d be the number of positive divisors of {n} and s their sum. Give (d, s)."
    return Problem(question, f"({divisors}, {total})", _pair("d", "s"))


def coprime_count(rng: Random) -> Problem:
    """Count the numbers up to a bound that share no factor with another number."""
    n, bound = prod(rng.sample([2, 3, 5, 7, 11, 13], 3)), rng.randint(300, 2000)
    question = f"How many integers k with 1 <= k <= {bound} have gcd(k, {n}) = 1?"
    return Problem(question, str(sum(gcd(k, n) == 1 for k in range(1, bound + 1))), _NUMBER)


def factorial_valuation(rng: Random) -> Problem:
    """Find the largest power of a composite number that divides a factorial."""
    m, n = rng.choice([12, 18, 24, 40, 45, 48, 54, 72, 80, 90]), rng.randint(60, 400)
    question = f"Find the largest integer k such that {m}^k divides {n}!."
    found = min(_legendre(n, p) // _multiplicity(m, p) for p in (2, 3, 5) if m % p == 0)
    return Problem(question, str(found), _NUMBER)


def _legendre(n: int, p: int) -> int:
    return 0 if n < p else n // p + _legendre(n // p, p)


def _multiplicity(n: int, p: int) -> int:
    return 0 if n % p else 1 + _multiplicity(n // p, p)


def bezout(rng: Random) -> Problem:
    """Find the one solution of ax + by = gcd(a, b) with the least x that is not negative."""
    shared = rng.randint(2, 12)
    while True:
        first, second = rng.randint(20, 90), rng.randint(20, 90)
        if first != second and gcd(first, second) == 1:
            break
    a, b = shared * first, shared * second
    question = (
        f"Find the integers x, y with {a}x + {b}y = gcd({a}, {b}) in which x is as small as "
        "possible but not negative. Give (x, y)."
    )
    x = pow(first, -1, second)
    return Problem(question, f"({x}, {(1 - first * x) // second})", _pair("x", "y"))


def representation_count(rng: Random) -> Problem:
    """Count the ways to write a number with three kinds of coins."""
    a, b, c = sorted(rng.sample(range(2, 12), 3))
    n = rng.randint(40, 90)
    question = (
        f"How many triples (x, y, z) of non-negative integers satisfy "
        f"{linear([(a, 'x'), (b, 'y'), (c, 'z')])} = {n}?"
    )
    ways = [1] + [0] * n
    for coin in (a, b, c):
        for amount in range(coin, n + 1):
            ways[amount] += ways[amount - coin]
    return Problem(question, str(ways[n]), _NUMBER)


def multiplicative_order(rng: Random) -> Problem:
    """Find the order of a number modulo a product of two primes."""
    p, q = rng.sample(_PRIMES[3:12], 2)
    m = p * q
    a = rng.choice([n for n in range(2, 20) if gcd(n, m) == 1])
    question = f"Find the smallest positive integer k with {a}^k = 1 (mod {m})."
    return Problem(question, str(next(k for k in count(1) if pow(a, k, m) == 1)), _NUMBER)


def square_roots_modulo(rng: Random) -> Problem:
    """Find the four square roots of a number modulo a product of two primes."""
    p, q = rng.sample(_PRIMES[2:9], 2)
    m = p * q
    root = rng.choice([n for n in range(2, m) if gcd(n, m) == 1])
    a = root * root % m
    question = f"Find all integers x, modulo {m}, with x^2 = {a} (mod {m})."
    found = [n for n in range(m) if n * n % m == a]
    return Problem(question, braces(found), Form("residue", modulus=m))


def coin_problem(rng: Random) -> Problem:
    """Find the largest amount that two coins cannot make, and how many they cannot."""
    while True:
        a, b = sorted(rng.sample(range(5, 40), 2))
        if gcd(a, b) == 1:
            break
    question = (
        f"Stamps are sold for {a} and for {b} cents. Let m be the largest whole number of cents "
        "that no combination of them makes and n the number of positive whole numbers of cents "
        "that none makes. Give (m, n)."
    )
    return Problem(question, f"({a * b - a - b}, {(a - 1) * (b - 1) // 2})", _pair("m", "n"))


def foreign_base(rng: Random) -> Problem:
    """Multiply two numbers that are written in another base."""
    base = rng.choice([6, 7, 8, 9, 11, 12])
    digits = [[rng.randint(1, min(base, 10) - 1) for _ in range(3)] for _ in range(2)]
    texts = ["".join(map(str, one)) for one in digits]
    first, second = (int(text, base) for text in texts)
    question = (
        f"The numerals {texts[0]} and {texts[1]} are written in base {base}. "
        "Find the sum of the base-10 digits of the product of the two numbers, plus that product."
    )
    product = first * second
    return Problem(question, str(product + sum(map(int, str(product)))), _NUMBER)


def pell_equation(rng: Random) -> Problem:
    """Find the least solution of Pell's equation."""
    d = rng.choice([n for n in range(6, 60) if isqrt(n) ** 2 != n and n not in {46, 53}])
    y = next(y for y in count(1) if isqrt(d * y * y + 1) ** 2 == d * y * y + 1)
    question = (
        f"Find the positive integers x, y with x^2 - {d}y^2 = 1 in which x is smallest. "
        "Give (x, y)."
    )
    return Problem(question, f"({isqrt(d * y * y + 1)}, {y})", _pair("x", "y"))


def convergent(rng: Random) -> Problem:
    """Find a convergent of the continued fraction of a square root."""
    d, n = rng.choice([k for k in range(7, 90) if isqrt(k) ** 2 != k]), rng.randint(4, 6)
    root, terms, m, k = isqrt(d), [isqrt(d)], 0, 1
    while len(terms) <= n:
        m = k * terms[-1] - m
        k = (d - m * m) // k
        terms.append((root + m) // k)
    value = Fraction(terms[-1])
    for term in reversed(terms[:-1]):
        value = term + 1 / value
    question = (
        f"Let sqrt({d}) = [a_0; a_1, a_2, ...] be its simple continued fraction. "
        f"Find the value of [a_0; a_1, ..., a_{n}] as a fraction."
    )
    return Problem(question, str(value), _NUMBER)


def gcd_sum(rng: Random) -> Problem:
    """Add up the greatest common divisors of a number with all up to it."""
    first, second, third = rng.sample([2, 3, 5, 7, 11, 13], 3)
    n = first**2 * second * third
    question = f"Find the sum of gcd(k, {n}) over k = 1, 2, ..., {n}."
    return Problem(question, str(sum(gcd(k, n) for k in range(1, n + 1))), _NUMBER)


def shifted_divisibility(rng: Random) -> Problem:
    """Find all n for which n + a divides a polynomial in n."""
    a, b, c = rng.randint(2, 9), nonzero(rng, -9, 9), rng.randint(2, 30)
    rest = a * a - a * b + c  # n^2 + bn + c at n = -a
    while abs(rest) <= a:  # until n = |rest| - a, at least, is a solution
        c += 1
        rest += 1
    question = (
        f"Find the set of all positive integers n for which n + {a} divides "
        f"{linear([(1, 'n^2'), (b, 'n'), (c, '')])}."
    )
    found = [n for n in range(1, abs(rest) + 1) if rest % (n + a) == 0]
    return Problem(question, braces(found), Form("set", ("n",)))


TEMPLATES = (
    chinese_remainder, tower_remainder, linear_congruence, divisor_functions, coprime_count,
    factorial_valuation, bezout, representation_count, multiplicative_order,
    square_roots_modulo, coin_problem, foreign_base, pell_equation, convergent, gcd_sum,
    shifted_divisibility,
)  # fmt: skip
