"""Templates of linear algebra: systems, matrices, eigenvalues, projections."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import sympy as sp

from denv.instruments.derivations.forms import Form, Problem
from denv.instruments.derivations.wording import (
    braces,
    linear,
    nonzero,
    parentheses,
    polynomial,
    rows,
)

_NUMBER, _MATRIX = Form("number"), Form("matrix")
_VECTOR = Form("tuple")


def _matrix(rng: Random, height: int, width: int, *, size: int) -> sp.Matrix:
    return sp.Matrix([[rng.randint(-size, size) for _ in range(width)] for _ in range(height)])


def _regular(rng: Random, order: int, *, size: int) -> sp.Matrix:
    """Draw a square matrix that has an inverse."""
    while (drawn := _matrix(rng, order, order, size=size)).det() == 0:
        pass
    return drawn


def _unimodular(rng: Random, order: int) -> sp.Matrix:
    """Draw a matrix of integers whose inverse is one too."""
    lower, upper = sp.eye(order), sp.eye(order)
    for i in range(order):
        for j in range(i):
            lower[i, j], upper[j, i] = rng.randint(-1, 1), rng.randint(-1, 1)
    return lower * upper


def _vector(rng: Random, *, size: int) -> sp.Matrix:
    while not any(drawn := _matrix(rng, 3, 1, size=size)):
        pass
    return drawn


def _shown(matrix: sp.Matrix) -> str:
    return rows(matrix.tolist())


def determinant(rng: Random) -> Problem:
    """Find the determinant of a matrix of order 4."""
    matrix = _matrix(rng, 4, 4, size=5)
    return Problem(f"Find the determinant of {_shown(matrix)}.", str(matrix.det()), _NUMBER)


def inverse(rng: Random) -> Problem:
    """Invert a matrix of order 3."""
    while abs((matrix := _regular(rng, 3, size=4)).det()) > 30:
        pass
    return Problem(f"Find the inverse of {_shown(matrix)}.", _shown(matrix.inv()), _MATRIX)


def linear_system(rng: Random) -> Problem:
    """Solve three equations in three unknowns."""
    matrix, right = _regular(rng, 3, size=5), _vector(rng, size=9)
    equations = "; ".join(
        f"{linear(zip(matrix.row(i), 'xyz', strict=True))} = {right[i]}" for i in range(3)
    )
    question = f"Solve the system {equations}. Give (x, y, z)."
    return Problem(question, parentheses(matrix.inv() * right), Form("tuple", ("x", "y", "z")))


def surd_eigenvalues(rng: Random) -> Problem:
    """Find the eigenvalues of A + A^2 for a matrix of order 2 with irrational ones."""
    while True:
        matrix = _matrix(rng, 2, 2, size=5)
        discriminant = matrix.trace() ** 2 - 4 * matrix.det()
        if discriminant > 0 and not sp.sqrt(discriminant).is_Integer:
            break
    question = f"Find the set of all eigenvalues of A + A^2 for A = {_shown(matrix)}."
    own = [(matrix.trace() + sign * sp.sqrt(discriminant)) / 2 for sign in (-1, 1)]
    return Problem(question, braces(sp.expand(one + one**2) for one in own), Form("set"))


def integer_eigenvalues(rng: Random) -> Problem:
    """Find the eigenvalues of the inverse of a matrix of order 3."""
    values = [nonzero(rng, -6, 6) for _ in range(3)]
    base = _unimodular(rng, 3)
    matrix = base * sp.diag(*values) * base.inv()
    question = f"Find the set of all eigenvalues of the inverse of {_shown(matrix)}."
    found = sorted(1 / value for value in matrix.eigenvals())
    return Problem(question, braces(found), Form("set"))


def matrix_power(rng: Random) -> Problem:
    """Raise a matrix of order 2 to a power and subtract a multiple of the unit matrix."""
    matrix, n, k = _regular(rng, 2, size=4), rng.randint(5, 7), rng.randint(2, 9)
    question = f"Find A^{n} - {k}I for A = {_shown(matrix)}, where I is the identity matrix."
    return Problem(question, _shown(matrix**n - k * sp.eye(2)), _MATRIX)


def rank_and_nullity(rng: Random) -> Problem:
    """Find the rank and the dimension of the kernel of a product of two thin matrices."""
    inner = rng.randint(1, 3)
    matrix = _matrix(rng, 4, inner, size=3) * _matrix(rng, inner, 5, size=3)
    question = (
        f"Let A = {_shown(matrix)}. Let r be its rank and n the dimension of its kernel. "
        "Give (r, n)."
    )
    rank = matrix.rank()
    return Problem(question, f"({rank}, {5 - rank})", Form("tuple", ("r", "n")))


def plane_projection(rng: Random) -> Problem:
    """Project a vector onto the span of two others that are not orthogonal."""
    while True:
        span = _vector(rng, size=3).row_join(_vector(rng, size=3))
        if span.rank() == 2 and (span.T * span)[0, 1] != 0:
            break
    vector = _vector(rng, size=6)
    question = (
        f"Find the orthogonal projection of {parentheses(vector)} onto the span of "
        f"{parentheses(span.col(0))} and {parentheses(span.col(1))}."
    )
    found = span * (span.T * span).inv() * span.T * vector
    return Problem(question, parentheses(found), _VECTOR)


def least_squares_line(rng: Random) -> Problem:
    """Fit a line to five points."""
    abscissas = sorted(rng.sample(range(-4, 8), 5))
    points = [(x, rng.randint(-9, 9)) for x in abscissas]
    shown = ", ".join(parentheses(point) for point in points)
    question = (
        f"Find the line y = ax + b with the least sum of squared vertical distances to the points "
        f"{shown}. Give (a, b)."
    )
    mean_x, mean_y = (Fraction(sum(values), 5) for values in zip(*points, strict=True))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )
    truth = f"({slope}, {mean_y - slope * mean_x})"
    return Problem(question, truth, Form("tuple", ("a", "b")))


def characteristic_polynomial(rng: Random) -> Problem:
    """Find the characteristic polynomial of the square of a matrix of order 3."""
    matrix, t = _matrix(rng, 3, 3, size=3), sp.Symbol("t", real=True)
    question = f"Find det(tI - A^2) as an expanded polynomial in t for A = {_shown(matrix)}."
    found = (matrix**2).charpoly(t).as_expr()
    return Problem(question, str(found), Form("expression", ("t",)))


def skew_distance(rng: Random) -> Problem:
    """Find the distance between two skew lines."""
    while True:
        one, other = _vector(rng, size=3), _vector(rng, size=3)
        start, end = _vector(rng, size=5), _vector(rng, size=5)
        normal = one.cross(other)
        if any(normal) and (end - start).dot(normal) != 0:
            break
    question = (
        f"Find the distance between the line through {parentheses(start)} with direction "
        f"{parentheses(one)} and the line through {parentheses(end)} with direction "
        f"{parentheses(other)}."
    )
    return Problem(question, str(abs((end - start).dot(normal)) / normal.norm()), _NUMBER)


def matrix_of_map(rng: Random) -> Problem:
    """Find the matrix of a linear map from the images of a basis."""
    basis, images = _regular(rng, 2, size=4), _matrix(rng, 2, 2, size=6)
    maps = " and ".join(
        f"{parentheses(basis.col(n))} to {parentheses(images.col(n))}" for n in range(2)
    )
    question = f"A linear map sends {maps}. Find its matrix in the standard basis."
    return Problem(question, _shown(images * basis.inv()), _MATRIX)


def trace_of_power(rng: Random) -> Problem:
    """Find the trace of a power of a matrix of order 3."""
    matrix, n = _matrix(rng, 3, 3, size=3), rng.randint(4, 6)
    question = f"Find the trace of A^{n} for A = {_shown(matrix)}."
    return Problem(question, str((matrix**n).trace()), _NUMBER)


def coordinates_in_basis(rng: Random) -> Problem:
    """Find the coordinates of a vector in another basis."""
    basis, vector = _regular(rng, 3, size=4), _vector(rng, size=9)
    names = ", ".join(parentheses(basis.col(n)) for n in range(3))
    question = (
        f"Find the coordinates (a, b, c) of {parentheses(vector)} in the ordered basis {names}."
    )
    return Problem(question, parentheses(basis.inv() * vector), Form("tuple", ("a", "b", "c")))


def singular_parameter(rng: Random) -> Problem:
    """Find the parameters that make a matrix singular."""
    k = sp.Symbol("k", real=True)
    while True:
        fixed = _matrix(rng, 3, 3, size=4)
        matrix = fixed + sp.diag(k, k, 0)
        quadratic = sp.Poly(matrix.det(), k)
        if quadratic.degree() == 2 and quadratic.discriminant() > 0:
            break
    shown = [[_entry(fixed[i, j], with_k=i == j and i < 2) for j in range(3)] for i in range(3)]
    question = f"Find the set of all real numbers k for which {rows(shown)} has no inverse."
    found = sorted(sp.roots(quadratic), key=float)
    return Problem(question, braces(found), Form("set", ("k",)))


def _entry(value: sp.Expr, *, with_k: bool) -> str:
    return polynomial([1, int(value)], "k") if with_k else str(value)


def tetrahedron_volume(rng: Random) -> Problem:
    """Find the volume of a tetrahedron from its corners."""
    while True:
        corners = [_vector(rng, size=5) for _ in range(4)]
        edges = sp.Matrix.hstack(*(corner - corners[0] for corner in corners[1:]))
        if edges.det() != 0:
            break
    shown = ", ".join(parentheses(corner) for corner in corners)
    question = f"Find the volume of the tetrahedron with the corners {shown}."
    return Problem(question, str(abs(edges.det()) / 6), _NUMBER)


TEMPLATES = (
    determinant, inverse, linear_system, surd_eigenvalues, integer_eigenvalues, matrix_power,
    rank_and_nullity, plane_projection, least_squares_line, characteristic_polynomial,
    skew_distance, matrix_of_map, trace_of_power, coordinates_in_basis, singular_parameter,
    tetrahedron_volume,
)  # fmt: skip
