"""Equality of answers: laws that hold for any values, and each form's own conventions."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from denv.instruments.derivations import Form, items
from denv.instruments.derivations.equality import compare_values
from denv.instruments.derivations.oracle import compare
from denv.instruments.derivations.readings import Scalar
from denv.instruments.derivations.units import unit_of
from tests.instruments.derivations.questions import (
    components,
    elements,
    math_of,
    pieces,
    shaken,
)

NUMBER, EXPRESSION = Form("number"), Form("expression", ("x",))
SET, INTERVAL, MATRIX = Form("set", ("x",)), Form("interval", ("x",)), Form("matrix")
BANK = items(11)


def result(answer, truth, form=NUMBER):
    """Compare and give the result alone."""
    return compare(answer, truth, form).result


rationals = st.fractions(min_value=-50, max_value=50, max_denominator=60)


@pytest.mark.parametrize("item", BANK, ids=lambda one: one.id)
def test_every_truth_equals_itself(item):
    """The truth of every template is an answer that is right, also with decoration."""
    assert result(item.truth, item.truth, item.form) == "equal"
    assert result(f"$\\boxed{{{item.truth}}}$", item.truth, item.form) == "equal"


@pytest.mark.parametrize("item", BANK, ids=lambda one: one.id)
def test_the_truth_of_another_item_is_wrong(item):
    """The truth of another item of the same template is refuted."""
    draws = items(12, 4, fields=[item.field])
    other = next(one for one in draws if one.template == item.template and one.truth != item.truth)
    form = item.form
    if form.modulus is not None:
        form = Form("residue", modulus=10**9 + 7)
    assert result(other.truth, item.truth, form) == "different"


def _latex(item):
    """Write a truth as models do in LaTeX, by SymPy's printer."""
    truth = item.truth
    writers = {
        "set": lambda: r"\left\{" + ", ".join(map(sp.latex, elements(truth))) + r"\right\}",
        "residue": lambda: rf"x \equiv {truth.strip('{}')} \pmod{{{item.form.modulus}}}",
        "tuple": lambda: r"\left(" + ", ".join(map(sp.latex, components(truth))) + r"\right)",
        "matrix": lambda: sp.latex(sp.Matrix(math_of(truth))),
        "interval": lambda: r" \cup ".join(map(_latex_of_piece, pieces(truth))),
        "percent": lambda: sp.latex(sp.sympify(truth)) + r"\%",
        "quantity": lambda: sp.latex(sp.sympify(truth)) + rf"\ \text{{{item.form.unit}}}",
    }
    return writers.get(item.form.kind, lambda: sp.latex(sp.sympify(truth)))()


def _latex_of_piece(piece):
    low, high, low_closed, high_closed = piece
    opening, closing = "[" if low_closed else "(", "]" if high_closed else ")"
    return rf"\left{opening}{sp.latex(low)}, {sp.latex(high)}\right{closing}"


@pytest.mark.parametrize("item", BANK, ids=lambda one: one.id)
def test_every_truth_is_right_in_latex(item):
    """What SymPy prints of a truth in LaTeX is an answer that is right."""
    assert result(_latex(item), item.truth, item.form) == "equal"


@pytest.mark.parametrize("item", BANK, ids=lambda one: one.id)
def test_every_near_miss_is_wrong(item):
    """An answer that is wrong by one in one of its integers is refuted."""
    tolerant = item.form.kind == "decimal"  # one more in twelve digits is within the tolerance
    for wrong in [] if tolerant else shaken(item.truth)[:3]:
        assert result(wrong, item.truth, item.form) == "different"


@given(rationals, rationals)
def test_rational_numbers_compare_exactly(one, other):
    """Two fractions are equal when they are, whatever way they are written."""
    wanted = "equal" if one == other else "different"
    assert result(f"{one.numerator}/{one.denominator}", str(other)) == wanted
    assert result(rf"\frac{{{one.numerator}}}{{{one.denominator}}}", str(other)) == wanted


@given(rationals, st.integers(2, 30), st.integers(1, 9))
def test_conjugates_are_told_apart(part, under, factor):
    """A number and its conjugate are equal only when the root is rational and they coincide."""
    root = sp.sqrt(under)
    plus, minus = f"{part} + {factor}*sqrt({under})", f"{part} - {factor}*sqrt({under})"
    assert result(plus, plus) == "equal"
    assert result(minus, plus) == "different"
    assert result(f"{part} + {sp.latex(factor * root)}", plus) == "equal"


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=4), st.integers(-5, 5))
def test_polynomials_compare_as_functions(coefficients, at):
    """A polynomial equals its expansion about another point, and no other polynomial."""
    x = sp.Symbol("x")
    given_one = sum(c * (x - at) ** n for n, c in enumerate(coefficients))
    expanded = str(sp.expand(given_one))
    shown = sp.latex(given_one)
    assert result(shown, expanded, EXPRESSION) == "equal"
    assert result(f"{shown} + 1", expanded, EXPRESSION) == "different"


@given(st.lists(rationals, min_size=1, max_size=5, unique=True), st.randoms())
def test_sets_have_no_order(values, rng):
    """A set equals each of its arrangements and loses equality with an element."""
    truth = "{" + ", ".join(map(str, values)) + "}"
    shuffled = rng.sample(values, len(values))
    assert result(" or ".join(f"x = {value}" for value in shuffled), truth, SET) == "equal"
    fewer = "{" + ", ".join(map(str, shuffled[1:])) + "}"
    assert result(fewer, truth, SET) == "different"
    assert result(truth, fewer, SET) == "different"


def test_difference_is_found_where_numbers_nearly_agree():
    """What differs only after 30 digits is refuted; what never differs is proved."""
    near = "sqrt(2) + sqrt(3) + 10^(-60)"
    assert result(near, "sqrt(5 + 2*sqrt(6))") == "different"
    assert result("sqrt(2) + sqrt(3)", "sqrt(5 + 2*sqrt(6))") == "equal"
    almost = "(\\pi^9 + 10)/2"  # no coincidence, only another number
    assert result(almost, "pi**9/2 + 5") == "equal"
    # exp(pi*sqrt(163)) is within 1e-12 of an integer and is none.
    assert result("e^{\\pi\\sqrt{163}}", "262537412640768744") == "different"


def test_reasons_tell_the_ground():
    """The reason says whether equality was identity, agreement of digits, or simplification."""
    assert compare("3", "3", NUMBER).reason == "identical"
    assert "300 digits" in compare("ln 8", "3*log(2)", NUMBER).reason
    assert "6 points" in compare("sin(2x)", "2*sin(x)*cos(x)", EXPRESSION).reason
    assert "x = " in compare("x^2", "x**3", EXPRESSION).reason


def test_what_has_no_value_at_the_points_is_left_to_sympy():
    """Where no point can be evaluated, SymPy's simplification decides, or nobody."""
    unknown = sp.Function("f")(sp.Symbol("x", real=True))
    same = Scalar(unknown * (unknown + 1) - unknown**2)
    assert compare_values(same, Scalar(unknown), EXPRESSION).result == "equal"
    assert compare_values(Scalar(2 * unknown), Scalar(unknown), EXPRESSION).result == "undecided"


def test_unreadable_truth_is_an_error():
    """A truth that cannot be read is a fault of the bank, not of the answer."""
    with pytest.raises(ValueError, match="word"):
        compare("3", "hello", NUMBER)


@pytest.mark.parametrize(
    ("answer", "truth", "equal"),
    [
        ("0.33333", "1/3", True), ("0.3333", "1/3", False), ("0.3333333333", "1/3", True),
        ("3.0", "3", True), ("3.00001", "3", False), ("0.5", "1/2", True),
        ("1.41421", "sqrt(2)", True), ("1.414", "sqrt(2)", False), ("2.2 + 0.1", "23/10", True),
        ("333333/10^6", "1/3", False), ("0.0009765625", "1/1024", True),
        ("0.00097656", "1/1024", True),
    ],
)  # fmt: skip
def test_decimals(answer, truth, equal):
    """Short decimals are met exactly; others within 1e-5; a fraction is never rounded."""
    assert result(answer, truth) == ("equal" if equal else "different")


@pytest.mark.parametrize(
    ("answer", "equal"),
    [
        ("(-oo, 1) U (1, 2]", True), ("x < 1 or 1 < x <= 2", True), ("x <= 2 and x != 1", True),
        (r"(-\infty, 1) \cup (1, 2]", True), ("{x | x < 1} U (1, 2]", True), ("2 ≥ x ≠ 1", True),
        ("x ∈ (-∞, 1) ∪ (1, 2]", True), ("(-oo, 2]", False), ("(-oo, 1] U (1, 2]", False),
        ("(1, 2] U (-oo, 1)", True), ("x < 1, 1 < x ≤ 2", True), ("x<1 or 2>=x>1", True),
        ("(-oo, 0] U [0, 1) U (1, 2]", True), (r"\{x \in \mathbb{R} : x \le 2, x \ne 1\}", True),
        ("x <= 2, x != 1", True),
    ],
)  # fmt: skip
def test_unions(answer, equal):
    """A union is the same in brackets, in inequalities and in a set of all x with that."""
    found = result(answer, "(-oo, 1) U (1, 2]", INTERVAL)
    assert (found == "equal") == equal


@pytest.mark.parametrize(
    "answer",
    [
        "{3, 8} (mod 11)", "x ∈ {3, 8} mod 11", "x ≡ 3, 8 (mod 11)", "x = 3 or 8 modulo 11",
        r"x \equiv 3 \text{ or } 8 \pmod{11}", "3 and -3", "x ≡ 3 (mod 11) or x ≡ 8 (mod 11)",
        r"x = 3 + 11k, 8 + 11k, k \in \mathbb{Z}", "±3", "14, 19, 3", "(3 mod 11), (8 mod 11)",
    ],
)  # fmt: skip
def test_residues(answer):
    """Residues are named in many ways, by any member of their class."""
    assert result(answer, "{3, 8}", Form("residue", modulus=11)) == "equal"


@pytest.mark.parametrize("answer", ["2e-1", "2e - 1", "2*e-1"])
def test_letter_e_beside_numerals(answer):
    """2e-1 may be meant as twice Euler's number, less 1; written without a space, as 0.2 too."""
    assert result(answer, "2*E - 1") == "equal"
    assert result(answer, "1/5") == ("equal" if answer == "2e-1" else "different")


@pytest.mark.parametrize("answer", ["[[1, 2], [3]]", "7", "1, 2", "[]", "[[1 2], [3 4]]"])
def test_what_is_no_matrix(answer):
    """Rows of unlike length, and what has no rows at all, are no matrix."""
    assert result(answer, "[[1, 2], [3, 4]]", MATRIX) == "unreadable"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("[1, 2; 3, 4]", "equal"), ("Matrix([[1, 2], [3, 4]])", "equal"),
        (r"\left[\begin{array}{cc} 1 & 2 \\ 3 & 4 \end{array}\right]", "equal"),
        ("-1/2 * [[-2, -4], [-6, -8]]", "equal"), ("-[[-1, -2], [-3, -4]]", "equal"),
        ("A = [[1, 2], [3, 4]]", "equal"), ("[[1, 2], [3, 5]]", "different"),
        ("[1, 2, 3, 4]", "different"),
    ],
)  # fmt: skip
def test_matrices(answer, found):
    """Rows, LaTeX environments, semicolons and factors before a matrix are read."""
    assert result(answer, "[[1, 2], [3, 4]]", MATRIX) == found


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("m", "cm", 100), ("km/h", "m/s", sp.Rational(5, 18)), ("m^2", "cm^2", 10**4),
        ("square meters", "cm^2", 10**4), ("L", "cm^3", 1000), ("hours", "min", 60),
        ("cm per second", "m/s", sp.Rational(1, 100)), ("dollars", "cents", 100),
    ],
)  # fmt: skip
def test_units(one, other, ratio):
    """Units are converted by exact factors."""
    assert sp.Rational(unit_of(one).factor / unit_of(other).factor) == ratio
    assert unit_of(one).powers == unit_of(other).powers


def test_unknown_unit():
    """A form with a unit that is none is an error."""
    with pytest.raises(ValueError, match="parsec"):
        unit_of("parsec")


def test_judgement_is_repeatable():
    """One answer is always judged alike."""
    answers = [compare("x^x", "exp(x*log(x))", Form("expression", ("x",), positive=True))] * 3
    assert len(set(answers)) == 1
    assert answers[0].result == "equal"
