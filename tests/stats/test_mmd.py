"""The discrepancy with the Hamming kernel against recorded values and enumeration."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denv.stats.mmd import hamming_mmd
from tests.stats.recorded import recorded

texts = st.lists(st.text("ab", min_size=2, max_size=2), min_size=2, max_size=4)


def mmd2(x, y):
    """Compute the definition, pair by pair, for texts of one length."""

    def kernel(a, b):
        return sum(i == j for i, j in zip(a, b, strict=True)) / len(a)

    def within(side):
        pairs = list(combinations(side, 2))
        return sum(kernel(a, b) for a, b in pairs) / len(pairs)

    between = sum(kernel(a, b) for a in x for b in y) / (len(x) * len(y))
    return within(x) + within(y) - 2 * between


def enumerated_p(x, y):
    """Give the share of all relabellings whose discrepancy is at least the observed one."""
    both, observed = [*x, *y], mmd2(x, y)
    values = []
    for chosen in combinations(range(len(both)), len(x)):
        rest = [i for i in range(len(both)) if i not in chosen]
        values.append(mmd2([both[i] for i in chosen], [both[i] for i in rest]))
    return sum(value >= observed - 1e-9 for value in values) / len(values)


def test_recorded_values():
    """The kernels' means and the discrepancy are the recorded ones; p is that of enumeration."""
    case = recorded("mmd_hamming")
    x, y, right = case["input"]["x"], case["input"]["y"], case["expected"]
    result = hamming_mmd(x, y, rng=np.random.default_rng(0))
    assert result.mmd2 == pytest.approx(right["mmd2"], abs=5e-8)
    assert result.within_x == pytest.approx(right["kxx"], abs=5e-9)
    assert result.within_y == pytest.approx(right["kyy"], abs=5e-9)
    assert result.between == pytest.approx(right["kxy"], abs=5e-9)
    assert result.sizes == (3, 3)
    assert result.p_value == pytest.approx(enumerated_p(x, y))


@settings(deadline=None, max_examples=40)
@given(texts, texts)
def test_small_samples_are_enumerated(x, y):
    """With few texts, p is the exact share of relabellings, and swapping the sides is nothing."""
    result = hamming_mmd(x, y, rng=np.random.default_rng(0))
    assert result.mmd2 == pytest.approx(mmd2(x, y), abs=1e-12)
    assert result.p_value == pytest.approx(enumerated_p(x, y))
    swapped = hamming_mmd(y, x, rng=np.random.default_rng(0))
    assert swapped.mmd2 == pytest.approx(result.mmd2, abs=1e-12)
    assert swapped.p_value == pytest.approx(result.p_value)


def test_ties_are_not_broken_by_rounding():
    """Every relabelling of one odd text among five gives a discrepancy of 0, so p is 1."""
    result = hamming_mmd(["aa", "ab"], ["aa", "aa", "aa"], rng=np.random.default_rng(0))
    assert (result.mmd2, result.p_value) == (0.0, 1.0)


def test_drawn_permutations_never_give_zero():
    """Of 99 drawn relabellings none reaches two disjoint samples: p is 1/100."""
    x, y = ["aaaa"] * 12, ["bbbb"] * 12
    result = hamming_mmd(x, y, rng=np.random.default_rng(0), permutations=99)
    assert result.mmd2 == pytest.approx(2.0)
    assert result.p_value == pytest.approx(1 / 100)


def test_equal_samples_are_not_rejected():
    """Where all texts are the same no relabelling differs: p is 1."""
    result = hamming_mmd(["ab"] * 5, ["ab"] * 5, rng=np.random.default_rng(0))
    assert result.mmd2 == pytest.approx(0, abs=1e-12)
    assert result.p_value == 1.0


def test_shorter_texts_are_padded():
    """Behind its end a text differs from a longer one and agrees with one that has ended too."""
    result = hamming_mmd([[1], [1]], [[1, 2], [1, 2]], rng=np.random.default_rng(0))
    assert (result.within_x, result.within_y, result.between) == (1.0, 1.0, 0.5)


def test_empty_texts_are_equal():
    """Texts without any symbol agree with each other."""
    assert hamming_mmd(["", ""], ["", ""], rng=np.random.default_rng(0)).between == 1.0


def test_level_in_use():
    """Samples of one distribution are rejected at 5 % about that often (200 trials, seeded)."""
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(200):
        drawn = rng.choice(4, size=(12, 6), p=[0.7, 0.1, 0.1, 0.1]).tolist()
        rejected += hamming_mmd(drawn[:6], drawn[6:], rng=rng, permutations=199).p_value <= 0.05
    # Binomial(200, 0.05) is above 19 with a chance of 0.3 %.
    assert rejected <= 19


@pytest.mark.parametrize(("x", "y"), [(["a"], ["a", "b"]), (["a", "b"], []), ([], [])])
def test_too_few_texts(x, y):
    """A mean over pairs needs two texts on each side."""
    with pytest.raises(ValueError, match=r"^a discrepancy needs at least two texts on each side$"):
        hamming_mmd(x, y, rng=np.random.default_rng(0))
