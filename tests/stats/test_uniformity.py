"""Cramér and von Mises' test against recorded values and its formula."""

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.stats.uniformity import cramer_von_mises
from tests.stats.recorded import recorded


def test_recorded_values():
    """Fractions near uniform and their cubes have the recorded statistics and p-values."""
    case = recorded("rut_cvm")
    u, right = np.array(case["input"]["u"]), case["expected"]
    result, cubed = cramer_von_mises(u), cramer_von_mises(u**3)
    assert result.statistic == pytest.approx(right["stat"], abs=5e-9)
    assert result.p_value == pytest.approx(right["p"], abs=5e-9)
    assert result.size == 10
    assert cubed.statistic == pytest.approx(right["cubed_stat"], abs=5e-9)
    assert cubed.p_value == pytest.approx(right["cubed_p"], abs=5e-9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_formula(fractions):
    """The statistic is 1/12n + Σ((2i − 1)/2n − u)², and mirroring the ranks changes nothing."""
    n = len(fractions)
    formula = 1 / (12 * n) + sum(
        ((2 * i - 1) / (2 * n) - u) ** 2 for i, u in enumerate(sorted(fractions), start=1)
    )
    result = cramer_von_mises(fractions)
    assert result.statistic == pytest.approx(formula, abs=1e-12)
    assert cramer_von_mises([1 - u for u in fractions]).statistic == pytest.approx(formula)
    assert 0 <= result.p_value <= 1


def test_constant_ranks_are_rejected():
    """Twenty ranks at one end cannot be uniform."""
    assert cramer_von_mises([1.0] * 20).p_value < 1e-6


@pytest.mark.parametrize(
    ("fractions", "words"),
    [
        ([], "a test of uniformity needs at least two fractions"),
        ([0.5], "a test of uniformity needs at least two fractions"),
        ([0.5, 1.5], "a rank fraction is not between 0 and 1"),
        ([0.5, nan], "a rank fraction is not between 0 and 1"),
    ],
)
def test_impossible_input(fractions, words):
    """Too few fractions and such as are none are refused."""
    with pytest.raises(ValueError, match=f"^{words}$"):
        cramer_von_mises(fractions)
