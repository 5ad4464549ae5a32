"""The area under the ROC curve against recorded values, scikit-learn and the definition."""

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import norm, t
from sklearn.metrics import roc_auc_score

from denv.stats.auroc import auroc
from denv.stats.proportions import clopper_pearson, wilson
from tests.stats.recorded import recorded

scores = st.lists(st.integers(0, 6).map(lambda i: i / 6), min_size=2, max_size=14)


def area(correct, wrong):
    """Estimate an area that there is."""
    result = auroc(correct, wrong)
    assert result is not None
    return result


def test_recorded_values():
    """With ties: area, DeLong's variance, Wald's and logit limits, Hanley and McNeil's error."""
    case = recorded("delong_ties_8_8")
    result, right = area(**case["input"]), case["expected"]
    assert result.value == pytest.approx(right["auc"], abs=5e-9)
    assert result.variance == pytest.approx(right["var"], abs=5e-9)
    assert result.standard_error == pytest.approx(right["se"], abs=5e-9)
    assert result.wald == pytest.approx(right["wald"], abs=5e-9)
    assert result.logit == pytest.approx(right["logit"], abs=5e-9)
    assert result.hanley_mcneil_se == pytest.approx(right["hanley_mcneil_se"], abs=5e-9)
    assert (result.correct, result.wrong, result.confidence) == (8, 8, 0.95)


def test_perfect_separation_is_not_certain():
    """Where the variance is 0 the lower limit is that of 2 in 2 disjoint pairs, 0.025^(1/2)."""
    case = recorded("delong_perfect")
    result, right = area(**case["input"]), case["expected"]
    assert (result.value, result.standard_error) == (right["auc"], right["se"])
    assert (result.wald, result.logit, result.method) == (None, None, "hoeffding")
    assert result.interval == pytest.approx((0.025**0.5, 1.0), abs=1e-9)
    assert result.interval[0] == pytest.approx(clopper_pearson(2, 2).low, abs=1e-9)
    mirrored = area(case["input"]["wrong"], case["input"]["correct"])
    assert mirrored.interval == pytest.approx((0.0, 1 - 0.025**0.5), abs=1e-9)


def test_an_empty_class_has_no_area():
    """Without wrong or without right answers there is nothing to compare."""
    case = recorded("auroc_one_class")
    assert auroc(**case["input"]) is case["expected"] is None
    assert auroc([], [0.4]) is None
    assert auroc([], []) is None


@given(scores, scores)
def test_definition(correct, wrong):
    """Area and variance are those of all pairs, and the area is scikit-learn's."""
    result = area(correct, wrong)
    pairs = np.array([[(x > y) + (x == y) / 2 for y in wrong] for x in correct])
    labels = [1] * len(correct) + [0] * len(wrong)
    assert result.value == pytest.approx(roc_auc_score(labels, correct + wrong))
    by_correct, by_wrong = pairs.mean(axis=1), pairs.mean(axis=0)
    variance = by_correct.var(ddof=1) / len(correct) + by_wrong.var(ddof=1) / len(wrong)
    assert result.value == pytest.approx(pairs.mean())
    assert result.variance == pytest.approx(variance, abs=1e-12)


@given(scores, scores)
def test_swapping_the_classes_mirrors_everything(correct, wrong):
    """Exchanging right and wrong mirrors area and limits at one half; limits hold the area."""
    one, other = area(correct, wrong), area(wrong, correct)
    assert one.value == pytest.approx(1 - other.value)
    assert one.interval == pytest.approx((1 - other.interval[1], 1 - other.interval[0]), abs=1e-9)
    assert 0 <= one.interval[0] <= one.value <= one.interval[1] <= 1
    assert one.interval[1] - one.interval[0] > 0.01


def test_large_classes_take_the_t_quantile():
    """From 10 answers a class on the limits are logit ones, somewhat wider than with z."""
    rng = np.random.default_rng(5)
    result = area(rng.normal(1, 1, 60), rng.normal(0, 1, 10))
    assert result.method == "logit-t"
    assert result.interval[0] < result.logit[0] < result.value < result.logit[1]
    assert result.logit[1] < result.interval[1]
    assert area(rng.normal(1, 1, 60), rng.normal(0, 1, 9)).method == "hoeffding"


def test_equal_sizes_and_spreads_have_pooled_degrees_of_freedom():
    """With n answers a class and equal component variances, t has 2(n − 1) degrees of freedom."""
    values = np.arange(20.0)
    result = area(values + 3.5, values)
    reach = t.isf(0.025, 38) * result.standard_error / (result.value * (1 - result.value))
    limits = expit(logit(result.value) + np.array([-reach, reach]))
    assert result.interval == pytest.approx(tuple(limits), abs=1e-9)


def test_a_class_of_one_has_no_variance():
    """One wrong answer gives an area, no variance, and limits that hold for a single pair."""
    result = area([0.9, 0.8, 0.2], [0.5])
    assert result.value == pytest.approx(2 / 3)
    assert (result.variance, result.standard_error, result.wald, result.logit) == (None,) * 4
    assert result.method == "hoeffding"
    assert result.interval[0] < 0.05
    assert result.interval[1] > 0.99


def test_all_tied_is_not_certain():
    """Confidence that never varies has the area one half and wide limits."""
    result = area([0.7] * 12, [0.7] * 12)
    assert (result.value, result.variance) == (0.5, 0.0)
    assert result.interval[0] < 0.2
    assert result.interval[1] > 0.8


@pytest.mark.parametrize(
    ("true", "correct", "wrong"), [(0.7, 228, 12), (0.9, 40, 4), (0.9, 30, 30)]
)
def test_coverage(true, correct, wrong):
    """Of 300 seeded samples of normal scores, 95 % limits hold the true area in at least 91 %."""
    rng, shift = np.random.default_rng(11), norm.ppf(true) * 2**0.5
    covered = 0
    for _ in range(300):
        result = area(rng.normal(shift, 1, correct), rng.normal(0, 1, wrong))
        covered += result.interval[0] <= true <= result.interval[1]
    assert covered >= 273


def test_answered_and_wrong():
    """The chance of an answer that is wrong is over all items; over the answered it is another."""
    case = recorded("answers_and_wrong")
    given_, right = case["input"], case["expected"]
    joint = wilson(given_["wrong"], given_["n"])
    conditional = wilson(given_["wrong"], given_["answered"])
    assert given_["wrong"] / given_["n"] == pytest.approx(right["joint"])
    assert (joint.low, joint.high) == pytest.approx(right["joint_wilson"], abs=5e-9)
    assert given_["wrong"] / given_["answered"] == pytest.approx(right["conditional"])
    limits = (conditional.low, conditional.high)
    assert limits == pytest.approx(right["conditional_wilson"], abs=5e-9)


@pytest.mark.parametrize(
    ("correct", "confidence", "words"),
    [
        ([0.5, nan], 0.95, "a confidence is not a finite number"),
        ([[0.5]], 0.95, "a confidence is not a finite number"),
        ([0.5], 1.0, r"confidence 1\.0 is not between 0 and 1"),
    ],
)
def test_impossible_input(correct, confidence, words):
    """Confidences that are none and coverages that are none are refused."""
    with pytest.raises(ValueError, match=f"^{words}$"):
        auroc(correct, [0.1, 0.2], confidence=confidence)
