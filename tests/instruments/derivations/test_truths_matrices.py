"""Truths of linear algebra, checked with NumPy's floating point and by substituting."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from denv.instruments.derivations import matrices
from tests.instruments.derivations.questions import (
    close,
    components,
    elements,
    integers,
    math_of,
    matrix,
    part,
    problems,
    shaken,
    vectors,
)


def _floats(given):
    return np.array(given.tolist() if isinstance(given, sp.MatrixBase) else given, dtype=float)


def _truth(text):
    return _floats(math_of(text))


def _vector(truth):
    return np.array(components(truth), dtype=float)


def check_determinant(question, truth):
    assert close(np.linalg.det(_floats(matrix(question))), int(truth), digits=9)


def check_inverse(question, truth):
    assert np.allclose(_floats(matrix(question)) @ _truth(truth), np.eye(3))


def check_linear_system(question, truth):
    values = dict(zip(sp.symbols("y z"), components(truth)[1:], strict=True))
    values[sp.Symbol("x", real=True)] = components(truth)[0]
    equations = part(question, r"system (.*)\. Give").split("; ")
    assert len(equations) == 3
    for equation in equations:
        left, right = equation.split(" = ")
        assert math_of(left).subs(values) == int(right)


def check_surd_eigenvalues(question, truth):
    given = _floats(matrix(question))
    found = sorted(np.linalg.eigvals(given + given @ given).real)
    assert np.allclose(found, sorted(float(one) for one in elements(truth)))


def check_integer_eigenvalues(question, truth):
    found = np.linalg.eigvals(np.linalg.inv(_floats(matrix(question))))
    wanted = {float(one) for one in elements(truth)}
    assert all(min(abs(value - one) for one in wanted) < 1e-4 for value in found)
    assert all(min(abs(value - one) for value in found) < 1e-4 for one in wanted)


def check_matrix_power(question, truth):
    power, less = part(question, r"A\^(\d+) - (\d+)I")
    given = np.linalg.matrix_power(_floats(matrix(question)), int(power))
    assert np.allclose(given - int(less) * np.eye(2), _truth(truth))


def check_rank_and_nullity(question, truth):
    given = _floats(matrix(question))
    rank = np.linalg.matrix_rank(given)
    assert _vector(truth).tolist() == [rank, given.shape[1] - rank]


def check_plane_projection(question, truth):
    vector, *span = (np.array(one, dtype=float) for one in vectors(question))
    basis = np.array(span).T
    nearest = basis @ np.linalg.lstsq(basis, vector, rcond=None)[0]
    assert np.allclose(nearest, _vector(truth))


def check_least_squares_line(question, truth):
    points = np.array(vectors(question), dtype=float)
    assert len(points) == 5
    assert np.allclose(np.polyfit(points[:, 0], points[:, 1], 1), _vector(truth))


def check_characteristic_polynomial(question, truth):
    given = _floats(matrix(question))
    polynomial = sp.Poly(sp.sympify(truth), sp.Symbol("t"))
    wanted = [float(c) for c in polynomial.all_coeffs()]
    assert polynomial.degree() == 3
    assert np.allclose(np.poly(given @ given), wanted, atol=1e-6)


def check_skew_distance(question, truth):
    start, one, end, other = (np.array(given, dtype=float) for given in vectors(question))
    directions = np.array([one, -other]).T
    steps = np.linalg.lstsq(directions, end - start, rcond=None)[0]
    nearest = np.linalg.norm(start - end + directions @ steps)
    assert close(nearest, sp.sympify(truth), digits=9)


def check_matrix_of_map(question, truth):
    first, first_image, second, second_image = vectors(question)
    basis, images = np.array([first, second]).T, np.array([first_image, second_image]).T
    assert np.allclose(_truth(truth) @ basis, images)


def check_trace_of_power(question, truth):
    power = int(part(question, r"A\^(\d+)"))
    found = sum(np.linalg.eigvals(_floats(matrix(question))) ** power)
    assert close(found, int(truth), digits=7)


def check_coordinates_in_basis(question, truth):
    vector, *basis = (np.array(one, dtype=float) for one in vectors(question)[:4])
    assert np.allclose(np.array(basis).T @ _vector(truth), vector)


def check_singular_parameter(question, truth):
    k = sp.Symbol("k")
    given = matrix(question)
    values = elements(truth)
    assert len({float(value) for value in values}) == 2  # k stands in two rows: no more can be
    for value in values:
        found = np.linalg.det(_floats(given.subs(k, sp.N(value, 30))))
        assert abs(found) < 1e-9


def check_tetrahedron_volume(question, truth):
    corners = np.array(vectors(question), dtype=float)
    squares = ((corners[:, None] - corners[None]) ** 2).sum(axis=2)
    bordered = np.ones((5, 5))
    bordered[0, 0], bordered[1:, 1:] = 0, squares
    volume = np.sqrt(np.linalg.det(bordered) / 288)  # Cayley and Menger
    assert close(volume, sp.sympify(truth), digits=8)


CHECKS = {name[6:]: check for name, check in globals().items() if name.startswith("check_")}


def test_every_template_is_checked():
    """No template of the field is without its check."""
    assert set(CHECKS) == {template.__name__ for template in matrices.TEMPLATES}


@pytest.mark.parametrize("template", matrices.TEMPLATES, ids=lambda one: one.__name__)
def test_truths(template):
    """What a question asks for is what NumPy finds."""
    for problem in problems(template):
        CHECKS[template.__name__](problem.question, problem.truth)


def test_questions_show_integers_alone():
    """Matrices of questions hold integers, so that nothing in them is rounded."""
    for problem in problems(matrices.integer_eigenvalues):
        assert integers(problem.question)
        assert "/" not in problem.question


@pytest.mark.parametrize("template", matrices.TEMPLATES, ids=lambda one: one.__name__)
def test_wrong_truths_are_found(template):
    """A truth that is wrong by one in an integer does not pass its check."""
    problem = problems(template, count=1)[0]
    for wrong in shaken(problem.truth)[:4]:
        with pytest.raises(AssertionError):
            CHECKS[template.__name__](problem.question, wrong)
