"""Exact tests of whether several groups share one success rate.

scipy is imported inside the functions: it costs most of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

MAX_TABLES = 500_000
"""Tables that are enumerated at the most: some 20 MB and a fraction of a second."""

TIE_TOLERANCE = 1e-7
"""Relative tolerance within which two tables count as equally likely, as in scipy and R."""


@dataclass(frozen=True, slots=True)
class ExactTest:
    """The p-value of a k×2 table and the method that gave it.

    ``method`` is ``none`` where no table but the observed one is possible, and ``pooled-fisher``
    where enumeration was too much work.
    """

    p_value: float
    method: Literal["none", "fisher", "freeman-halton", "pooled-fisher"]


def exact_test(table: Sequence[tuple[int, int]], *, max_tables: int = MAX_TABLES) -> ExactTest:
    r"""Test whether the k rows of a table of (successes, failures) share one rate.

    Given all margins, a table has the probability
    :math:`\prod_i \binom{n_i}{x_i} / \binom{N}{K}`; the p-value is the sum over the tables that
    are no likelier than the observed one.

    Parameters
    ----------
    table
        k rows of two counts. Rows without any count say nothing and are left out.
    max_tables
        Beyond this many possible tables, each row is instead tested against all others pooled
        (Fisher), and the smallest of the k p-values is multiplied by k (Bonferroni). That is
        valid but conservative: it never rejects more often than its level under equal rates.

    Returns
    -------
    ExactTest
        With fewer than two rows, or where all counts are in one column, only one table is
        possible: p is 1. Two rows are Fisher's test, more the Freeman–Halton extension.

    Raises
    ------
    ValueError
        For a negative count.

    References
    ----------
    Freeman, G. H. and Halton, J. H. (1951). Note on an exact treatment of contingency, goodness
    of fit and other problems of significance. *Biometrika* 38, 141-149.

    Examples
    --------
    >>> result = exact_test([(2, 0), (2, 0), (0, 2)])
    >>> round(result.p_value, 4), result.method
    (0.2, 'freeman-halton')
    """
    if any(count < 0 for row in table for count in row):
        raise ValueError("a count is negative")
    rows = [(a, b) for a, b in table if a + b > 0]
    columns = (sum(a for a, _ in rows), sum(b for _, b in rows))
    if len(rows) < 2 or min(columns) == 0:
        return ExactTest(1.0, "none")
    if len(rows) == 2:
        return ExactTest(_fisher(rows[0], rows[1]), "fisher")
    rare = 0 if columns[0] <= columns[1] else 1
    if comb(columns[rare] + len(rows) - 1, len(rows) - 1) > max_tables:
        return ExactTest(_each_against_the_rest(rows, columns), "pooled-fisher")
    sizes = [a + b for a, b in rows]
    return ExactTest(_freeman_halton([row[rare] for row in rows], sizes), "freeman-halton")


def _fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    from scipy.stats import fisher_exact

    return min(1.0, float(fisher_exact([first, second]).pvalue))


def _each_against_the_rest(rows: Sequence[tuple[int, int]], columns: tuple[int, int]) -> float:
    smallest = min(_fisher(row, (columns[0] - row[0], columns[1] - row[1])) for row in rows)
    return min(1.0, len(rows) * smallest)


def _freeman_halton(observed: Sequence[int], sizes: Sequence[int]) -> float:
    """Sum over all tables; ``observed`` is the rarer column, ``sizes`` are the rows' totals."""
    total = sum(observed)
    log_weight = np.zeros(1)
    placed = np.zeros(1, dtype=np.int64)
    for size in sizes[:-1]:
        log_weight, placed = _with_row(log_weight, placed, size=size, total=total)
    rest = total - placed
    possible = rest <= sizes[-1]
    log_weight = log_weight[possible] + _log_binomials(sizes[-1], total)[rest[possible]]
    seen = sum(float(_log_binomials(n, total)[x]) for n, x in zip(sizes, observed, strict=True))
    weights = np.exp(log_weight - log_weight.max())
    no_likelier = log_weight <= seen + TIE_TOLERANCE
    return min(1.0, float(weights[no_likelier].sum() / weights.sum()))


def _with_row(
    log_weight: npt.NDArray[np.float64],
    placed: npt.NDArray[np.int64],
    *,
    size: int,
    total: int,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Extend every partial table by each count that its next row can hold."""
    binomials = _log_binomials(size, total)
    counts = np.minimum(size, total - placed) + 1
    start = np.repeat(np.cumsum(counts) - counts, counts)
    here = np.arange(counts.sum()) - start
    return np.repeat(log_weight, counts) + binomials[here], np.repeat(placed, counts) + here


def _log_binomials(size: int, most: int) -> npt.NDArray[np.float64]:
    """Logarithms of C(size, x) for x from 0 to min(size, most)."""
    from scipy.special import gammaln

    x = np.arange(min(size, most) + 1, dtype=np.float64)
    logs = gammaln(size + 1) - gammaln(x + 1) - gammaln(size - x + 1)
    return np.asarray(logs, dtype=np.float64)
