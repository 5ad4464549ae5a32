"""Adjusted p-values and the arithmetic of many looks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denv.stats.multiplicity import (
    all_pass_chance,
    benjamini_hochberg,
    family_wise_error,
    holm,
    sidak_level,
)
from tests.stats.recorded import HALF_A_DIGIT, recorded

shares = st.lists(st.floats(0, 1), max_size=12)


def test_independent_looks():
    """The chance of a false alarm and Šidák's level for 12, 30 and 365 looks are recorded."""
    case = recorded("repeated_looks_indep")
    alpha, expected = case["input"]["alpha"], case["expected"]
    for looks, error, level in zip(
        case["input"]["K"], expected["fwer"], expected["sidak"], strict=True
    ):
        assert family_wise_error(looks, alpha=alpha) == pytest.approx(error, abs=HALF_A_DIGIT)
        assert sidak_level(looks, alpha=alpha) == pytest.approx(level, abs=HALF_A_DIGIT)


def test_gates_in_conjunction():
    """Twelve gates that each fail one faithful stage in twenty pass 54 % together."""
    case = recorded("conjunction_of_gates")
    chance = all_pass_chance(case["input"]["G"], false_fail=case["input"]["f"])
    assert chance == pytest.approx(case["expected"], abs=HALF_A_DIGIT)
    assert all_pass_chance(0, false_fail=0.3) == 1.0


@given(st.integers(1, 10_000), st.floats(1e-6, 0.5))
def test_sidak_inverts(looks, alpha):
    """K looks at Šidák's level have the chance that was asked for."""
    level = sidak_level(looks, alpha=alpha)
    assert alpha / looks * (1 - 1e-9) <= level <= alpha
    assert family_wise_error(looks, alpha=level) == pytest.approx(alpha, rel=1e-9)


def test_benjamini_and_hochbergs_example():
    """Of the fifteen p-values in their paper, four are rejected at five per cent; by Holm three."""
    p_values = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
        0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000,
    ]  # fmt: skip
    assert sum(benjamini_hochberg(p_values).rejected(0.05)) == 4
    assert sum(holm(p_values).rejected(0.05)) == 3


@settings(max_examples=25)
@given(shares)
def test_adjustment_laws(p_values):
    """No p-value shrinks, none exceeds 1, BH is below Holm, order is kept, and so is the input."""
    bh, strict = benjamini_hochberg(p_values), holm(p_values)
    for p, one, other in zip(p_values, bh.p_values, strict.p_values, strict=True):
        assert p - 1e-15 <= one <= other + 1e-15
        assert other <= 1
    turned = benjamini_hochberg(p_values[::-1])
    assert turned.p_values[::-1] == pytest.approx(bh.p_values)


@settings(max_examples=25)
@given(shares)
def test_adjustment_by_definition(p_values):
    """For the i-th smallest of m: BH min over j ≥ i of m·p/j, Holm max over j ≤ i of (m-j+1)·p."""
    ranked, m = sorted(p_values), len(p_values)
    up = [min(1.0, *(m * p / (j + 1) for j, p in enumerate(ranked) if j >= i)) for i in range(m)]
    down = [min(1.0, max((m - j) * ranked[j] for j in range(i + 1))) for i in range(m)]
    assert sorted(benjamini_hochberg(p_values).p_values) == pytest.approx(up, abs=1e-12)
    assert sorted(holm(p_values).p_values) == pytest.approx(down, abs=1e-12)


def test_nothing_to_adjust():
    """No p-value gives none."""
    assert benjamini_hochberg([]).p_values == ()
    assert holm([]).p_values == ()
    assert holm([]).method == "holm"
    assert benjamini_hochberg([0.5]).method == "benjamini-hochberg"


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_impossible_p_values(bad):
    """What is no share is refused."""
    for function in (benjamini_hochberg, holm):
        with pytest.raises(ValueError, match=r"^p-value \S+ is not in \[0, 1\]$"):
            function([0.5, bad])
    with pytest.raises(ValueError, match=r"^false_fail \S+ is not in \[0, 1\]$"):
        all_pass_chance(2, false_fail=bad)


def test_impossible_looks():
    """No look, no level and negative gates are refused."""
    for function in (family_wise_error, sidak_level):
        with pytest.raises(ValueError, match=r"^the number of looks is below 1$"):
            function(0, alpha=0.05)
        with pytest.raises(ValueError, match=r"^alpha 1.0 is not between 0 and 1$"):
            function(2, alpha=1.0)
    with pytest.raises(ValueError, match=r"^the number of gates is negative$"):
        all_pass_chance(-1, false_fail=0.05)
