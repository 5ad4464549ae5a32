"""The sign-flip test against enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.stats.permutation import FLIPS, sign_flip, smallest_p
from tests.stats.recorded import HALF_A_DIGIT, recorded


def rng():
    return np.random.default_rng(1)


def enumerated(differences):
    """Count, in whole numbers, the flips whose sum is as far from zero or farther."""
    seen = abs(sum(differences))
    flips = list(product((1, -1), repeat=len(differences)))
    sums = (sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in flips)
    return float(Fraction(sum(abs(total) >= seen for total in sums), len(flips)))


def test_recorded():
    """Eight texts give 26 of 256 flips."""
    case = recorded("signflip_exact_8")
    result = sign_flip(case["input"]["cand"], case["input"]["ref"], rng=rng())
    assert result.p_value == pytest.approx(case["expected"], abs=HALF_A_DIGIT)
    assert (result.method, result.texts, result.smallest_p) == ("exact", 8, 2 / 256)
    assert result.difference == pytest.approx(0.00625)


def test_smallest_p():
    """Fewer than six texts never reach five per cent."""
    case = recorded("signflip_min_p")
    assert [smallest_p(n) for n in case["input"]["n"]] == case["expected"]
    with pytest.raises(ValueError, match=r"^a test needs at least one text$"):
        smallest_p(0)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_smallest_p_is_reached(n):
    """Differences of one sign give the smallest p that there is."""
    assert sign_flip([1.0] * n, [0.0] * n, rng=rng()).p_value == smallest_p(n)


@given(st.lists(st.integers(-30, 30), min_size=1, max_size=8))
def test_enumeration_law(tenths):
    """For decimals with many ties the p-value is that of enumeration in whole numbers."""
    ref = [0.7] * len(tenths)
    result = sign_flip([0.7 + d / 10 for d in tenths], ref, rng=rng())
    exact = enumerated([round(10 * (0.7 + d / 10 - 0.7)) for d in tenths])
    assert result.p_value == pytest.approx(exact, abs=1e-12)
    other = sign_flip(ref, [0.7 + d / 10 for d in tenths], rng=rng())
    assert (other.p_value, other.difference) == (result.p_value, -result.difference)
    assert result.smallest_p <= result.p_value <= 1


def test_zero_differences_say_nothing():
    """Texts without a difference leave the p-value as it is, and lower no reachable one."""
    few = sign_flip([1.0, 2.0, -1.0, 3.0], [0.0] * 4, rng=rng())
    many = sign_flip([1.0, 2.0, -1.0, 3.0] + [0.0] * 40, [0.0] * 44, rng=rng())
    assert (many.p_value, many.method, many.smallest_p) == (few.p_value, "exact", 0.125)
    same = sign_flip([1.0, 2.0], [1.0, 2.0], rng=rng())
    assert (same.p_value, same.smallest_p, same.difference) == (1.0, 1.0, 0.0)


def test_many_texts_are_sampled():
    """Beyond the flips that are tried, the sampled p-value is near the exact one."""
    differences = [3, -1, 2, 4, -2, 1, 5, -3, 2, 1]
    exact = sign_flip(differences, [0] * 10, rng=rng())
    sampled = sign_flip(differences, [0] * 10, rng=rng(), flips=1000)
    assert (exact.method, sampled.method) == ("exact", "monte-carlo")
    assert exact.p_value == pytest.approx(enumerated(differences))
    # Two one-sided standard errors of 1000 flips, four times.
    assert sampled.p_value == pytest.approx(exact.p_value, abs=0.1)
    assert sampled.smallest_p == 2 / 1001


def test_sampled_p_is_never_zero():
    """Fifty differences of one sign give the smallest sampled p, which is not 0."""
    result = sign_flip([1.0] * 50, [0.0] * 50, rng=rng(), flips=999)
    assert result.p_value == pytest.approx(result.smallest_p) == pytest.approx(0.002)


def test_default_limit():
    """Fourteen texts are tried exactly by default, and fifteen sampled."""
    assert FLIPS == 2**14
    values = np.random.default_rng(3).normal(size=15).tolist()
    assert sign_flip(values[:14], [0.0] * 14, rng=rng()).method == "exact"
    assert sign_flip(values, [0.0] * 15, rng=rng()).method == "monte-carlo"


def test_seed_decides():
    """The same generator state gives the same sampled p-value."""
    values = np.random.default_rng(3).normal(0.2, size=40).tolist()
    first = sign_flip(values, [0.0] * 40, rng=rng(), flips=500)
    assert first == sign_flip(values, [0.0] * 40, rng=rng(), flips=500)


@pytest.mark.parametrize(
    ("cand", "ref", "flips", "words"),
    [
        ([1.0], [1.0, 2.0], 10, "cand and ref need the same number of values, at least one$"),
        ([], [], 10, "cand and ref need the same number of values, at least one$"),
        ([np.nan], [1.0], 10, "a difference is not finite$"),
        ([2.0], [1.0], 0, "flips is below 1$"),
    ],
)
def test_impossible_input(cand, ref, flips, words):
    """Impossible input is refused in words."""
    with pytest.raises(ValueError, match=f"^{words}"):
        sign_flip(cand, ref, rng=rng(), flips=flips)
