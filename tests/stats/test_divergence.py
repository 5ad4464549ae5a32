"""Bounds from top-k lists against full distributions, and the figures of paired tokens."""

from math import inf, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from denv.stats.divergence import (
    delta_p,
    kl_lower_bound,
    perplexity_ratio,
    pinsker,
    reported_mass,
    stein_tokens,
    total_variation,
)
from tests.stats.recorded import recorded


@st.composite
def lists(draw):
    """Two full distributions, and what two servers that report the likeliest tokens show of them.

    NaN stands for a token that a server does not report; each has a k of its own.
    """
    size = draw(st.integers(2, 12))
    weight = st.floats(1e-4, 1.0)
    p, q = (np.array(draw(st.lists(weight, min_size=size, max_size=size))) for _ in "pq")
    p, q = p / p.sum(), q / q.sum()
    shown = []
    for side in (p, q):
        k = draw(st.integers(1, size))
        logs = np.full(size, nan)
        likeliest = np.argsort(-side)[:k]
        logs[likeliest] = np.log(side[likeliest])
        shown.append(logs)
    return p, q, shown[0], shown[1]


@pytest.mark.parametrize("name", ["kl_topk_2", "kl_topk_3"])
def test_rest_bucket(name):
    """The rest bucket gives the recorded bound, under the full divergence, and no naive sum."""
    given_, right = recorded(name)["input"], recorded(name)["expected"]
    p, q = np.log(given_["p_top"]), np.log(given_["q_same_tokens"])
    bound = float(kl_lower_bound(p, q))
    assert bound == pytest.approx(right["lower_bound_restbucket"], abs=5e-9)
    full = rel_entr(given_["full_p"], given_["full_q"]).sum()
    assert full == pytest.approx(right["full"], abs=5e-9)
    assert bound <= full
    assert bound != pytest.approx(right["naive_truncated_sum"], abs=1e-4)
    assert bound != pytest.approx(right["renormalised"], abs=1e-4)


@given(lists())
def test_bounds_hold_whatever_is_not_reported(sides):
    """The divergence is at least its bound, and the total variation between its own."""
    p, q, p_logs, q_logs = sides
    assert float(kl_lower_bound(p_logs, q_logs)) <= rel_entr(p, q).sum() + 1e-12
    variation = total_variation(p_logs, q_logs)
    truth = np.abs(p - q).sum() / 2
    assert variation.lower - 1e-12 <= truth <= variation.upper + 1e-12


@given(lists())
def test_full_lists_give_the_figures_themselves(sides):
    """Where both sides report every token, the bounds meet at the true values."""
    p, q, _, _ = sides
    logs = np.log(p), np.log(q)
    assert float(kl_lower_bound(*logs)) == pytest.approx(rel_entr(p, q).sum(), abs=2e-5)
    variation, truth = total_variation(*logs), np.abs(p - q).sum() / 2
    assert float(variation.lower) == pytest.approx(truth, abs=1e-9)
    assert float(variation.upper) == pytest.approx(truth, abs=1e-9)


@given(lists())
def test_identical_sides_never_differ(sides):
    """A side against itself has divergence 0 and lower bound 0; its unseen mass counts above."""
    p, _, p_logs, _ = sides
    assert float(kl_lower_bound(p_logs, p_logs)) == pytest.approx(0, abs=1e-9)
    variation = total_variation(p_logs, p_logs)
    assert float(variation.lower) == 0.0
    unseen = p[np.isnan(p_logs)].sum()
    assert float(variation.upper) == pytest.approx(unseen, abs=1e-12)


@given(lists())
def test_swapping_the_sides_keeps_the_variation(sides):
    """Total variation has no direction."""
    _, _, p_logs, q_logs = sides
    one, other = total_variation(p_logs, q_logs), total_variation(q_logs, p_logs)
    assert float(one.lower) == pytest.approx(float(other.lower), abs=1e-12)
    assert float(one.upper) == pytest.approx(float(other.upper), abs=1e-12)


def test_a_token_that_one_side_lacks_is_part_of_the_rest():
    """With p {a: .5, b: .3}, q {a: .4, b unknown}: the cells are a and the rest."""
    bound = kl_lower_bound([log(0.5), log(0.3)], [log(0.4), nan])
    assert float(bound) == pytest.approx(0.5 * log(0.5 / 0.4) + 0.5 * log(0.5 / 0.6), abs=1e-12)
    variation = total_variation([log(0.5), log(0.3)], [log(0.4), nan])
    assert float(variation.lower) == pytest.approx(0.1)
    assert float(variation.upper) == pytest.approx(1 - 0.4)


def test_many_positions_at_once():
    """Leading axes are positions: each gives what it gives alone."""
    p = np.log([[[0.6, 0.25], [0.9, 0.05]], [[0.5, 0.5], [0.3, 0.2]]])
    q = np.log([[[0.5, 0.3], [0.8, 0.15]], [[0.4, 0.6], [0.2, 0.3]]])
    bound, variation = kl_lower_bound(p, q), total_variation(p, q)
    assert bound.shape == variation.lower.shape == variation.upper.shape == (2, 2)
    for place in np.ndindex(2, 2):
        assert bound[place] == kl_lower_bound(p[place], q[place])
        assert variation.upper[place] == total_variation(p[place], q[place]).upper


def test_no_common_token():
    """Without a common token nothing is known: bound 0, variation anything from 0 to 1."""
    assert float(kl_lower_bound([-0.1, nan], [nan, -0.2])) == 0.0
    variation = total_variation([-0.1, nan], [nan, -0.2])
    assert (float(variation.lower), float(variation.upper)) == (0.0, 1.0)


def test_rounding_of_the_rest_does_not_make_the_bound_infinite():
    """Here q's list sums to 1.0002 by rounding: its rest counts as 1e-6, p's as .01."""
    bound = kl_lower_bound(np.log([0.7, 0.29]), np.log([0.7001, 0.3001]))
    seen = 0.7 * log(0.7 / 0.7001) + 0.29 * log(0.29 / 0.3001)
    assert float(bound) == pytest.approx(seen + 0.01 * log(0.01 / 1e-6), abs=1e-9)


def test_a_token_that_q_excludes():
    """A token that p may emit and q never does has an infinite divergence; the other way none."""
    assert float(kl_lower_bound(np.log([0.6, 0.4]), [log(0.6), -inf])) == inf
    assert np.isfinite(kl_lower_bound([log(0.6), -inf], np.log([0.6, 0.4])))


def test_scaled_logprobs_are_no_distribution():
    """Probabilities that sum to 1.5 are refused in words, and can be seen before."""
    scaled = np.log([[0.9, 0.6], [0.5, 0.4]])
    assert reported_mass(scaled).tolist() == pytest.approx([1.5, 0.9])
    for function in (kl_lower_bound, total_variation):
        with pytest.raises(ValueError, match=r"^the reported probabilities .* sum to 1\.5$"):
            function(scaled, np.log([[0.5, 0.4], [0.5, 0.4]]))


def test_shapes_must_agree():
    """Lists of unlike length cannot be token for token."""
    with pytest.raises(ValueError, match=r"^logprobs of the shapes \(2,\) and \(3,\)$"):
        kl_lower_bound([-1.0, -2.0], [-1.0, -2.0, -3.0])


def test_pinsker():
    """The bound is sqrt(KL/2), and never above 1."""
    case = recorded("pinsker")
    bounds = [pinsker(kl) for kl in case["input"]["kl"]]
    assert bounds == pytest.approx(case["expected"], abs=5e-9)
    assert pinsker(50) == 1.0


@given(lists())
def test_pinsker_bounds_the_variation(sides):
    """The true total variation is at most Pinsker's bound of the true divergence."""
    p, q, _, _ = sides
    assert np.abs(p - q).sum() / 2 <= pinsker(max(0.0, rel_entr(p, q).sum())) + 1e-9


def test_stein_tokens():
    """The number of tokens is ln(1/alpha)/KL, and infinite without a divergence."""
    case = recorded("stein_tokens")
    for name, kl in case["input"]["kl"].items():
        assert stein_tokens(kl) == pytest.approx(case["expected"][name], abs=5e-9)
    assert stein_tokens(0.0) == inf


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pinsker(-0.1), "a divergence of -0.1 is not 0 or more"),
        (lambda: pinsker(nan), "a divergence of nan is not 0 or more"),
        (lambda: stein_tokens(-1), "a divergence of -1 is not 0 or more"),
        (lambda: stein_tokens(0.1, alpha=1), "alpha 1 is not between 0 and 1"),
        (lambda: delta_p([], []), r"pairs of the shapes \(0,\) and \(0,\)"),
        (lambda: delta_p([0.5], [1.5]), "a probability is not between 0 and 1"),
        (lambda: delta_p([0.5], [nan]), "a value is not finite"),
        (lambda: perplexity_ratio([1.0], [1.0, 2.0]), r"pairs of the shapes \(1,\) and \(2,\)"),
        (lambda: perplexity_ratio([inf], [1.0]), "a value is not finite"),
    ],
)
def test_impossible_input(call, words):
    """Impossible values are refused in words."""
    with pytest.raises(ValueError, match=f"^{words}$"):
        call()


def test_delta_p():
    """Mean and RMS of the change are llama.cpp's."""
    case = recorded("delta_p")
    result = delta_p(case["input"]["ref_p"], case["input"]["cand_p"])
    assert result.mean == pytest.approx(case["expected"]["mean"], abs=5e-9)
    assert result.rms == pytest.approx(case["expected"]["rms"], abs=5e-9)
    assert result.tokens == 3


def test_perplexity_ratio():
    """The ratio is exp of the mean paired difference, infinite where that overflows."""
    case = recorded("ppl_ratio")
    result = perplexity_ratio(case["input"]["ref_nll"], case["input"]["cand_nll"])
    assert result.delta_nll == pytest.approx(case["expected"]["dnll"], abs=5e-9)
    assert result.ratio == pytest.approx(case["expected"]["ratio"], abs=5e-9)
    assert result.tokens == 3
    assert perplexity_ratio([0.0], [9999.0]).ratio == inf
