"""The exact test of k×2 tables against enumeration in whole numbers."""

from fractions import Fraction
from itertools import product
from math import comb, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from denv.stats.contingency import ExactTest, exact_test


def enumerated(table):
    """Sum, in whole numbers, over all tables with these margins that are no likelier."""
    sizes, total = [a + b for a, b in table], sum(a for a, _ in table)

    def weight(xs):
        return prod(comb(n, x) for n, x in zip(sizes, xs, strict=True))

    seen = weight([a for a, _ in table])
    tables = (xs for xs in product(*(range(n + 1) for n in sizes)) if sum(xs) == total)
    weights = [weight(xs) for xs in tables]
    return float(Fraction(sum(w for w in weights if w <= seen), sum(weights)))


def test_worked_example():
    """Of the 15 ways to place 4 successes in rows of 2, 3 are as unlikely as 2+2+0: p = 3/15."""
    result = exact_test([(2, 0), (2, 0), (0, 2)])
    assert result.p_value == pytest.approx(3 / 15)
    assert result.method == "freeman-halton"


def test_two_rows_are_fishers_test():
    """The lady tasting tea: 3 of 4 right has p = 34/70 = 0.4857 (R: fisher.test)."""
    result = exact_test([(3, 1), (1, 3)])
    assert result.p_value == pytest.approx(34 / 70)
    assert result.method == "fisher"


@pytest.mark.parametrize(
    "table",
    [
        [
            (
                3,
                1,
            ),
            (5, 0),
            (0, 4),
        ],
        [(1, 9), (2, 8), (6, 4)],
        [(4, 4), (4, 4), (4, 4)],
        [(7, 0), (7, 0), (6, 1), (2, 5)],
        [(1, 2), (3, 1), (0, 5), (4, 0)],
        [(12, 0), (11, 1), (5, 7)],
    ],
)
def test_tables_of_several_rows(table):
    """More rows give what enumeration in whole numbers gives."""
    result = exact_test(table)
    assert result.p_value == pytest.approx(enumerated(table), rel=1e-9)
    assert result.method == "freeman-halton"


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=4))
def test_enumeration_law(table):
    """For every small table the p-value is that of enumeration, and rows' order is nothing."""
    p_value = exact_test(table).p_value
    assert p_value == pytest.approx(enumerated(table), rel=1e-9)
    assert exact_test(table[::-1]).p_value == pytest.approx(p_value)
    assert exact_test([(b, a) for a, b in table]).p_value == pytest.approx(p_value)


@pytest.mark.parametrize(
    "table",
    [[], [(3, 2)], [(3, 2), (0, 0)], [(3, 0), (5, 0), (2, 0)], [(0, 3), (0, 5)], [(0, 0), (0, 0)]],
)
def test_one_possible_table(table):
    """Where the margins allow one table alone, nothing can be rejected."""
    assert exact_test(table) == ExactTest(1.0, "none")


def test_empty_rows_say_nothing():
    """A row without counts changes neither the p-value nor the method."""
    assert exact_test([(3, 1), (0, 0), (1, 3)]) == exact_test([(3, 1), (1, 3)])


def test_beyond_the_bound_each_row_meets_the_rest():
    """Past the bound, p is k times the smallest of Fisher's tests of a row against the rest."""
    table = [(90, 10), (95, 5), (60, 40)]
    each = [fisher_exact([row, (245 - row[0], 55 - row[1])]).pvalue for row in table]
    result = exact_test(table, max_tables=100)
    assert result.p_value == pytest.approx(3 * min(each))
    assert result.method == "pooled-fisher"


def test_the_bound_counts_tables():
    """5 successes over 3 rows are at most C(7, 2) = 21 tables: 21 are enumerated, 20 not."""
    table = [(2, 3), (2, 3), (1, 4)]
    assert exact_test(table, max_tables=21).method == "freeman-halton"
    assert exact_test(table, max_tables=20).method == "pooled-fisher"


def test_the_fallback_never_exceeds_one():
    """Equal rows give p 1 beyond the bound as well."""
    assert exact_test([(50, 50)] * 4, max_tables=1) == ExactTest(1.0, "pooled-fisher")


def test_large_tables_are_bounded_work():
    """Fifty rows of thousands of counts still give an answer."""
    table = [(2000, 20)] * 49 + [(1500, 520)]
    result = exact_test(table)
    assert result.method == "pooled-fisher"
    assert result.p_value < 1e-30


def test_tiny_p_values_are_not_rounded_away():
    """All 30 successes in one of three rows of 30: 3 of C(90, 30) placings are as unlikely."""
    result = exact_test([(0, 30), (0, 30), (30, 0)])
    assert result.p_value == pytest.approx(3 / comb(90, 30), rel=1e-9)


def test_many_rows_with_few_failures_are_enumerated():
    """Three failures on one of four replicas of 1000: 4 tables of C(1000, 3) are as unlikely."""
    few = comb(1000, 3)
    table = [(1000, 0), (1000, 0), (997, 3), (1000, 0)]
    result = exact_test(table)
    assert result.method == "freeman-halton"
    assert result.p_value == pytest.approx(4 * few / comb(4000, 3), rel=1e-9)


def test_negative_counts():
    """A negative count is refused."""
    with pytest.raises(ValueError, match=r"^a count is negative"):
        exact_test([(1, -1), (2, 2)])
