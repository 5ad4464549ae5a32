"""Templates about numbers themselves. Each takes a level of 1 to 4 and computes its own truth."""

from __future__ import annotations

from math import gcd, isqrt

from denv.instruments.bank.draw import Draw, Posed

_DIGITS = "0123456789ABCDEFGHIJ"


def ask_sum(draw: Draw, level: int) -> Posed:
    """Add numbers, from level 3 on with some taken away."""
    count, low, high = ((2, 11, 99), (3, 101, 999), (6, 1001, 9999), (12, 10_001, 99_999))[
        level - 1
    ]
    terms = [draw.between(low, high) for _ in range(count)]
    signs = [1] + [draw.one_of((1, -1)) if level > 2 else 1 for _ in terms[1:]]
    pairs = zip(signs[1:], terms[1:], strict=True)
    shown = str(terms[0]) + "".join(f" {'+' if sign > 0 else '-'} {term}" for sign, term in pairs)
    return f"What is {shown}?", sum(s * t for s, t in zip(signs, terms, strict=True))


def ask_product(draw: Draw, level: int) -> Posed:
    """Multiply two numbers."""
    left, right = (((12, 99), (3, 9)), ((12, 99), (12, 99)), ((1001, 9999), (101, 999)),
                   ((100_001, 999_999), (10_001, 99_999)))[level - 1]  # fmt: skip
    a, b = draw.between(*left), draw.between(*right)
    return f"What is {a} times {b}?", a * b


def ask_remainder(draw: Draw, level: int) -> Posed:
    """Divide and keep the remainder."""
    left, right = (((20, 99), (3, 9)), ((200, 999), (6, 29)), ((20_000, 99_999), (31, 97)),
                   ((20_000_000, 99_999_999), (211, 997)))[level - 1]  # fmt: skip
    a, b = draw.between(*left), draw.between(*right)
    return f"What remainder is left when {a} is divided by {b}?", a % b


def ask_divisor(draw: Draw, level: int) -> Posed:
    """Find the greatest common divisor of two numbers that share a factor."""
    shared, rest = (((2, 9), (2, 9)), ((6, 25), (4, 25)), ((12, 99), (31, 99)),
                    ((102, 989), (207, 997)))[level - 1]  # fmt: skip
    factor = draw.between(*shared)
    a, b = factor * draw.between(*rest), factor * draw.between(*rest)
    return f"What is the greatest common divisor of {a} and {b}?", gcd(a, b)


def ask_power(draw: Draw, level: int) -> Posed:
    """Raise to a power and keep the remainder."""
    base, exponent, modulus = (
        ((2, 9), (2, 3), (5, 10)),
        ((3, 12), (4, 7), (7, 19)),
        ((7, 30), (11, 40), (13, 59)),
        ((23, 98), (101, 997), (101, 499)),
    )[level - 1]
    a, b, m = draw.between(*base), draw.between(*exponent), draw.between(*modulus)
    return (
        f"What remainder is left when {a} to the power of {b} is divided by {m}?",
        pow(a, b, m),
    )


def ask_expression(draw: Draw, level: int) -> Posed:
    """Work out nested brackets; multiplication goes before addition and subtraction."""
    highest = (9, 12, 20, 40)[level - 1]
    shown, value = _number(draw, highest)
    for step in range(level + 1):
        sign = draw.one_of("+-")
        left, right = draw.between(2, highest), draw.between(2, highest)
        term = left * right
        shown, value = f"{shown} {sign} {left} * {right}", value + (term if sign == "+" else -term)
        if step < level:
            factor = draw.between(2, 2 + level)
            shown, value = f"{factor} * ({shown})", factor * value
    return f"What is the value of {shown}?", value


def ask_base(draw: Draw, level: int) -> Posed:
    """Read a number that is written in another base."""
    base = (2, draw.one_of((8, 16)), draw.between(3, 9), draw.between(11, 19))[level - 1]
    length = (5, 3, 7, 6)[level - 1]
    digits = [draw.between(1, base - 1)] + [draw.between(0, base - 1) for _ in range(length - 1)]
    value = 0
    for digit in digits:
        value = value * base + digit
    shown = "".join(_DIGITS[digit] for digit in digits)
    hint = f" (letters are digits from A = 10 to {_DIGITS[base - 1]} = {base - 1})"
    question = (
        f"The number {shown} is written in base {base}{hint if base > 10 else ''}. "
        "What is it in base ten?"
    )
    return question, value


def ask_primes(draw: Draw, level: int) -> Posed:
    """Count the primes in a range, ends included."""
    low = draw.between(*((2, 20), (30, 90), (100, 900), (2000, 9000))[level - 1])
    high = low + draw.between(*((8, 15), (20, 30), (40, 60), (80, 120))[level - 1])
    count = sum(map(_is_prime, range(low, high + 1)))
    return f"How many prime numbers are there from {low} to {high}, both included?", count


def ask_sequence(draw: Draw, level: int) -> Posed:
    """Go on with a sequence whose rule is stated in words, from level 1 to 4 a harder one."""
    first, second = draw.between(2, 12), draw.between(3, 15)
    a, b = draw.between(2, 3), draw.between(1, 9)
    if level == 1:
        term = draw.between(5, 9)
        rule, value = (
            f"each further term is the one before it plus {second}",
            first + (term - 1) * second,
        )
        return _sequence(f"starts with {first}, and {rule}", term, value)
    if level == 2:
        term, value = draw.between(5, 7), first
        for _ in range(term - 1):
            value = a * value + b
        rule = f"each further term is {a} times the one before it, plus {b}"
        return _sequence(f"starts with {first}, and {rule}", term, value)
    term = draw.between(7, 9) if level == 3 else draw.between(13, 17)
    before, value = first, second
    for _ in range(term - 2):
        before, value = value, (value + before if level == 3 else a * value - before + b)
    rule = "the sum of the two before it"
    if level == 4:
        rule = f"{a} times the one before it, minus the one before that, plus {b}"
    return _sequence(f"starts with {first}, {second}, and each further term is {rule}", term, value)


def _sequence(rule: str, term: int, value: int) -> Posed:
    return f"A sequence {rule}. What is term number {term}? (The first term is number 1.)", value


def _number(draw: Draw, highest: int) -> tuple[str, int]:
    value = draw.between(2, highest)
    return str(value), value


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, isqrt(number) + 1))
