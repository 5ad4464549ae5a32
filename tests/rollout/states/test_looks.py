"""The pooled test of looks: exact values, laws, and what it finds."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from denv.records import Kind
from denv.rollout.states import Tally
from denv.rollout.states.looks import WORSE, log_evidence, weigh


def plain(counts: list[tuple[int, int]], allowed: float) -> float:
    """Write the evidence out as its definition has it, without logarithms."""
    total = 1 / (len(counts) + 1)
    for k in range(1, len(counts) + 1):
        ratios = []
        for share in WORSE:
            p = allowed + (1 - allowed) * share
            ratios.append(
                np.prod(
                    [
                        (p / allowed) ** x * ((1 - p) / (1 - allowed)) ** (n - x)
                        for x, n in counts[k - 1 :]
                    ]
                )
            )
        total += float(np.mean(ratios)) / (k * (k + 1))
    return total


@pytest.mark.parametrize(
    "counts", [[(0, 5)], [(3, 10)], [(0, 20), (4, 20)], [(1, 8), (0, 9), (5, 10), (2, 3)]]
)
@pytest.mark.parametrize("allowed", [0.01, 0.05, 0.5])
def test_it_is_what_its_definition_says(counts: list[tuple[int, int]], allowed: float) -> None:
    """The stable sum of logarithms equals the definition written out."""
    assert exp(log_evidence(counts, allowed)) == pytest.approx(plain(counts, allowed), rel=1e-9)


@pytest.mark.parametrize("allowed", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("earlier", [[], [(0, 30)], [(2, 30), (5, 30)]])
def test_its_mean_does_not_rise_at_the_threshold(
    allowed: float, earlier: list[tuple[int, int]]
) -> None:
    """Over all counts of a next look, drawn at the allowed rate, the mean is what it was."""
    mean = sum(
        binom.pmf(x, 30, allowed) * exp(log_evidence([*earlier, (x, 30)], allowed))
        for x in range(31)
    )
    assert mean == pytest.approx(exp(log_evidence(earlier, allowed)), rel=1e-9)


@pytest.mark.parametrize("drawn", [10, 50, 100])
def test_its_mean_falls_for_draws_without_replacement(drawn: int) -> None:
    """5 of 100 cases always fail and 5 % may: the mean is at most 1, for the whole suite too."""
    mean = sum(
        hypergeom.pmf(x, 100, 5, drawn) * exp(log_evidence([(x, drawn)], 0.05))
        for x in range(6)
        if x <= drawn
    )
    assert mean < 1


@given(
    st.lists(st.integers(0, 40).map(lambda x: (x, 40)), min_size=1, max_size=12),
    st.floats(0.001, 0.9),
)
def test_a_further_failure_never_takes_evidence_away(
    counts: list[tuple[int, int]], allowed: float
) -> None:
    """One more failure in the last look raises the evidence."""
    failed, counted = counts[-1]
    if failed == counted:
        return
    more = [*counts[:-1], (failed + 1, counted)]
    assert log_evidence(more, allowed) >= log_evidence(counts, allowed)


def test_none_allowed_means_none() -> None:
    """At a threshold of 100 % a single failure decides, and no failure never does."""
    assert log_evidence([(0, 1000)] * 50, 0.0) == 0.0
    assert log_evidence([(0, 50), (1, 50)], 0.0) == inf


def test_all_allowed_never_decides() -> None:
    """At a threshold of 0 % nothing can be missed."""
    found = weigh([[Tally(kind=Kind.EXACT, passed=0, failed=50)]], {Kind.EXACT: Fraction(0)})
    assert (found[0].log_e, found[0].decides) == (0.0, False)


def test_large_counts_stay_finite() -> None:
    """A million cases that all fail do not overflow."""
    assert 1e6 < log_evidence([(10**6, 10**6)], 0.05) < inf


def test_a_stage_that_turns_bad_late_is_found() -> None:
    """Ten good looks do not hide that half of the eleventh failed."""
    assert log_evidence([(1, 50)] * 10 + [(25, 50)], 0.05) > log(100)


def test_kinds_share_the_level() -> None:
    """With two gated kinds each has to reach 200 to 1."""
    thresholds = {Kind.EXACT: Fraction(95, 100), Kind.TOOL_CALLS: Fraction(99, 100)}
    found = weigh([[Tally(kind=Kind.EXACT, passed=50, failed=0)]], thresholds)
    assert [one.needed for one in found] == [pytest.approx(log(200))] * 2
    assert [(one.counted, one.looks) for one in found] == [(50, 1), (0, 0)]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_level_out_of_range_is_refused(alpha: float) -> None:
    """A level is a chance."""
    with pytest.raises(ValueError, match="alpha"):
        weigh([], {}, alpha=alpha)


def test_a_threshold_out_of_range_is_refused() -> None:
    """A pass rate is a share."""
    with pytest.raises(ValueError, match="exact"):
        weigh([], {Kind.EXACT: Fraction(3, 2)})
