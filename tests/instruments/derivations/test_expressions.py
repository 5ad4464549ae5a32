"""Expressions of answers: read right, whatever notation, and never evaluated as code."""

from __future__ import annotations

import random

import pytest
import sympy as sp
from latex2sympy2_extended import latex2sympy

from denv.instruments.derivations.expressions import number_of, parse, symbols_of
from denv.instruments.derivations.notation import BeyondLimitsError, UnreadableError, tokenise

SYMBOLS = symbols_of("xy")
X, Y = SYMBOLS["x"], SYMBOLS["y"]


def read(text, *, tight=False):
    """Read an expression in x and y."""
    return parse(tokenise(text), SYMBOLS, tight=tight)


def _random_expression(rng, depth):
    kind = rng.randrange(9 if depth else 2)
    if kind == 0:
        return sp.Integer(rng.randint(1, 9))
    if kind == 1:
        return rng.choice([X, Y])
    one, other = (_random_expression(rng, depth - 1) for _ in range(2))
    return [
        lambda: one + other, lambda: one * other, lambda: one - other,
        lambda: one / (other**2 + 1), lambda: sp.sqrt(one**2 + 1), lambda: sp.sin(one) * other,
        lambda: sp.exp(one / 3) + sp.log(other**2 + 1),
    ][kind - 2]()  # fmt: skip


@pytest.mark.parametrize("write", [str, sp.latex], ids=["plain", "latex"])
def test_what_sympy_writes_is_read_back(write):
    """SymPy's own printers, an outside source of notation, are read as they were meant."""
    rng = random.Random(5)
    for _ in range(150):
        meant = _random_expression(rng, 3)
        apart = read(write(meant)) - meant
        point = {X: sp.Rational(7, 5), Y: sp.Rational(-3, 7)}
        assert abs(apart.evalf(15, subs=point, maxn=100)) < 1e-20, write(meant)


@pytest.mark.parametrize(
    "text",
    [
        r"\frac{1}{2}", r"\frac{\sqrt{3}}{2}", r"e^{2x}", r"\sin^2 x", r"\sin 2x \cos x",
        r"x^{2}\,e^{x}", r"\ln|x|", r"\log_2 8", r"\sqrt[3]{2}", r"3\frac{1}{2}", r"\pi^2/6",
        r"(x+1)(x+2)", r"\arctan(x)", r"\tan^{-1} x", r"-\frac{1}{2}x+\frac{3}{4}", r"-2^2",
        r"\left|x-1\right|", r"x \sin x", r"3 \times 10^{5}", r"\dfrac{3}{4}", r"2\cdot 3",
        r"\ln\left(\frac{1}{2}\right)", r"\sqrt{x}\sqrt{y}", r"\sinh x", r"x^{1/2}", r"2^{-1}",
    ],
)  # fmt: skip
def test_latex_is_read_as_an_independent_parser_reads_it(text):
    """latex2sympy2 agrees, on what it is known to read right."""
    theirs = latex2sympy(text).subs({sp.Symbol("x"): X, sp.Symbol("y"): Y})
    point = {X: sp.Rational(7, 5), Y: sp.Rational(3, 7)}
    assert abs((theirs.doit() - read(text)).evalf(15, subs=point, maxn=60)) < 1e-20


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (r"\frac12x", X / 2),
        (r"x^\frac12", sp.sqrt(X)),
        (r"\sqrt2x", sp.sqrt(2) * X),
        ("√12", 2 * sp.sqrt(3)),
        ("2(3)", sp.Integer(6)),
        ("2 x(x+1)", 2 * X * (X + 1)),
        ("xsin(x)", X * sp.sin(X)),
        (r"\ln 2 \cdot 3", 3 * sp.log(2)),
        ("3 ln 2 - 1", 3 * sp.log(2) - 1),
        ("ln 2x", sp.log(2 * X)),
        (r"\sin x\, e^x", sp.sin(X) * sp.exp(X)),
        ("sin x/2", sp.sin(X) / 2),
        ("sin(x)^2", sp.sin(X) ** 2),
        ("log2(8)", sp.log(8) / sp.log(2)),
        ("log(8, 2)", sp.log(8) / sp.log(2)),
        ("|x-1||y|", abs(X - 1) * abs(Y)),
        ("2|x|y", 2 * abs(X) * Y),
        ("2^3^2", sp.Integer(512)),
        ("2^-1", sp.Rational(1, 2)),
        ("--3", sp.Integer(3)),
        ("3+-2", sp.Integer(1)),
        ("3½", sp.Rational(7, 2)),
        ("x⁻¹", 1 / X),
        ("10⁻³", sp.Rational(1, 1000)),
        ("50%", sp.Rational(1, 2)),
        ("5!", sp.Integer(120)),
        ("e^{i\\pi}", sp.Integer(-1)),
        (r"\operatorname{arctan} x", sp.atan(X)),
        (r"\mathrm{e}^{x}", sp.exp(X)),
        (r"\displaystyle\left(\tfrac{1}{3}\right)", sp.Rational(1, 3)),
    ],
)
def test_notations(text, meant):
    """Each notation means what people who write it mean."""
    assert sp.simplify(read(text) - meant) == 0


def test_slash_before_a_product_is_read_both_ways():
    """1/2x is x/2 loosely and 1/(2x) tightly; a space or brackets leave no choice."""
    assert (read("1/2x"), read("1/2x", tight=True)) == (X / 2, 1 / (2 * X))
    assert read("1/2 x", tight=True) == X / 2
    assert read("1/(2x)") == 1 / (2 * X)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12), ("0.25", sp.Rational(1, 4)), (".5", sp.Rational(1, 2)), ("3.", 3),
        ("1.5e3", 1500), ("2E-2", sp.Rational(1, 50)), (r"0.\overline{3}", sp.Rational(1, 3)),
        (r"1.1\overline{6}", sp.Rational(7, 6)), (r".\overline{142857}", sp.Rational(1, 7)),
    ],
)  # fmt: skip
def test_numerals_are_exact(text, value):
    """A numeral is a rational number; nothing is rounded to a float."""
    assert number_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "(1", "1)", "1 +", "* 2", "2 3", "1,2", "x = 3", "hello", "sin", "sin(1, 2)", "5!!",
        "3!!!", "x.y", "x_", "'x'", '"x"', "[x for x in y]", "lambda: 3", "__import__('os')",
        "x if y else 1", "\\int x", "\\undefined", "1/2/", "2^", "|x", "\\frac{1}", "\\sqrt",
        "(-1)!", "x!", "log_1(3)", "\\sqrt[0]{2}", "f(x; y)", "3 @ 4", "x := 3", "1 << 9",
        "binomial(5)", "sec^{-1} 2",
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused(text):
    """What cannot be read is refused with a reason, and nothing is run."""
    with pytest.raises(UnreadableError, match=r"\w"):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "9" * 401, "9**9**9**9", "9^{9^{9^{9}}}", "(10^100)^1000", "((2x)^1000)^1000", "x^1001",
        "501!", "\\binom{1001}{2}", "exp(1000001)", "1e500", "2^(2^(2^(2^x)))", "(" * 31 + ")" * 31,
        "+".join("x" * 251), "x" * 2001, "2^" * 70 + "2", "|" * 200,
    ],
)  # fmt: skip
def test_what_would_cost_too_much_is_refused(text):
    """Sizes are looked at before anything is computed."""
    with pytest.raises(BeyondLimitsError, match=r"\w"):
        read(text)


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("1,234", "1234"), ("1,234,567.5", "1234567.5"), ("1 234", "1234"), ("1{,}234", "1234"),
        ("1\u202f234", "1234"), (r"1\,234", "1234"), ("12,34", None), ("1,2345", None),
        ("1234,567", None), ("0,123,4", None), ("1, 234", None),
    ],
)  # fmt: skip
def test_thousands(text, joined):
    """Groups of three digits are one number, and nothing else is."""
    texts = [token.text for token in tokenise(text, thousands=True)]
    assert (texts == [joined]) == (joined is not None)
