"""Group-sequential arithmetic against recorded and published values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from denv.stats.spending import (
    critical_values,
    crossing_chance,
    obrien_fleming_spent,
    pocock_spent,
    pocock_z,
)
from tests.stats.recorded import HALF_A_DIGIT, recorded


def test_peeking():
    """Up to ten looks at 1.96 have the recorded chances, which Armitage and others published."""
    case = recorded("peeking_z196")
    chances = [crossing_chance(case["input"]["z"], looks=k) for k in case["input"]["K"]]
    assert chances == pytest.approx(case["expected"], abs=HALF_A_DIGIT)


def test_pocock():
    """Pocock's critical values are the recorded ones."""
    case = recorded("pocock_z")
    values = [pocock_z(k, alpha=0.05) for k in case["input"]["K"]]
    assert values == pytest.approx(case["expected"], abs=HALF_A_DIGIT)
    assert pocock_z(1) == pytest.approx(norm.isf(0.025))


def test_obrien_fleming():
    """The level spent is the recorded one, and nothing at the start."""
    case = recorded("obf_spending")
    alpha = case["input"]["alpha"]
    spent = [obrien_fleming_spent(t, alpha=alpha) for t in case["input"]["t"]]
    assert spent == pytest.approx(case["expected"], abs=HALF_A_DIGIT)
    assert obrien_fleming_spent(0, alpha=alpha) == 0.0


def test_pocock_spending():
    """Half of the information spends 0.05·ln(1 + 1.718282/2) = 0.05·0.620115."""
    assert pocock_spent(0.5, alpha=0.05) == pytest.approx(0.03100573, abs=HALF_A_DIGIT)


def test_critical_values_of_a_published_design():
    """R's rpact, O'Brien–Fleming-type spending, 2.5 % a side, three looks: 3.710, 2.511, 1.993."""
    times = [1 / 3, 2 / 3, 1]
    both_sides = [2 * obrien_fleming_spent(t, alpha=0.025) for t in times]
    assert critical_values(times, both_sides) == pytest.approx((3.710, 2.511, 1.993), abs=5e-4)


def test_critical_values_of_pococks_bounds():
    """Spending what Pocock's constant bound spends gives that bound at every look."""
    z = pocock_z(4)
    spent = [crossing_chance(z, looks=k) for k in range(1, 5)]
    assert critical_values([0.25, 0.5, 0.75, 1.0], spent) == pytest.approx([z] * 4, abs=1e-8)


@settings(deadline=None, max_examples=20)
@given(st.floats(0.05, 0.9), st.floats(0.001, 0.2), st.sampled_from([0, 1]))
def test_two_looks_are_a_bivariate_normal(time, alpha, kind):
    """At two looks the chance of staying within is scipy's of correlated normals."""
    spend = (obrien_fleming_spent, pocock_spent)[kind]
    times = [time, 1.0]
    first, last = critical_values(times, [spend(t, alpha=alpha) for t in times])
    rho = np.sqrt(time)
    inside = multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf(
        [first, last], lower_limit=[-first, -last]
    )
    assert 1 - inside == pytest.approx(alpha, abs=1e-6)


@given(st.floats(1e-6, 1), st.floats(1e-6, 1), st.floats(0.001, 0.5))
def test_spending_laws(one, other, alpha):
    """Spending rises with time, up to the whole level; at usual levels O'Brien–Fleming's waits."""
    early, late = sorted((one, other))
    for spend in (obrien_fleming_spent, pocock_spent):
        assert 0 <= spend(early, alpha=alpha) <= spend(late, alpha=alpha) <= alpha * (1 + 1e-9)
        assert spend(1, alpha=alpha) == pytest.approx(alpha)
    if alpha <= 0.1:
        assert obrien_fleming_spent(early, alpha=alpha) <= pocock_spent(early, alpha=alpha) + 1e-12
    assert pocock_spent(0, alpha=alpha) == 0.0


def test_more_looks_cost_more():
    """The chance rises with the looks, is below that of independent ones, and falls with z."""
    chances = [crossing_chance(2.0, looks=k) for k in (1, 2, 4, 8, 40)]
    assert chances == sorted(chances)
    single = chances[0]
    assert chances[3] < 1 - (1 - single) ** 8
    assert crossing_chance(3.0, looks=8) < chances[3]


def test_tiny_chances_keep_their_digits():
    """At one look the chance is the normal tail, down to 1e-23."""
    assert crossing_chance(10.0, looks=1) == pytest.approx(2 * norm.sf(10.0), rel=1e-9)


def test_close_looks():
    """Two looks at nearly the same data cost nearly as much as one."""
    first, second = critical_values([0.5, 0.502], [0.025, 0.0251])
    assert first == pytest.approx(norm.isf(0.0125), abs=1e-9)
    assert second > first


@pytest.mark.parametrize(
    ("times", "spent", "words"),
    [
        ([], [], "times and spent need the same number of looks, at least one$"),
        ([0.5], [0.01, 0.05], "times and spent need the same number of looks, at least one$"),
        ([0.5, 0.5], [0.01, 0.05], "times do not increase from above 0$"),
        ([0.0, 0.5], [0.01, 0.05], "times do not increase from above 0$"),
        ([0.5, 1.0], [0.05, 0.05], "spent do not increase from above 0$"),
        ([0.5, 1.1], [0.01, 0.05], "time 1.1 or spent 0.05 at the last look is out of range$"),
        ([0.5, 1.0], [0.01, 1.0], "time 1.0 or spent 1.0 at the last look is out of range$"),
        ([0.5, 0.5005], [0.01, 0.05], "times are closer than 0.001$"),
    ],
)
def test_impossible_designs(times, spent, words):
    """Designs that no bounds fit are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}"):
        critical_values(times, spent)


def test_impossible_input():
    """Times, levels, bounds and looks out of range are refused."""
    for spend in (obrien_fleming_spent, pocock_spent):
        with pytest.raises(ValueError, match=r"^time 1.5 is not in \[0, 1\]$"):
            spend(1.5, alpha=0.05)
        with pytest.raises(ValueError, match=r"^alpha 0 is not between 0 and 1$"):
            spend(0.5, alpha=0)
    with pytest.raises(ValueError, match=r"^the number of looks is below 1$"):
        crossing_chance(2.0, looks=0)
    with pytest.raises(ValueError, match=r"^z nan is not positive$"):
        crossing_chance(float("nan"), looks=2)
    with pytest.raises(ValueError, match=r"^the number of looks is below 1$"):
        pocock_z(0)
    with pytest.raises(ValueError, match=r"^alpha 1 is not between 0 and 1$"):
        pocock_z(2, alpha=1)
