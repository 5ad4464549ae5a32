"""The exact test of public against private cases, held against enumeration and against Fisher."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, fisher_exact

from denv.stats.gaming import LEVEL, Part, chance_to_catch, failures_needed, gaming_test


def enumerated(strata):
    """Give the p-value by walking over every way to choose the private cases."""
    sums = []
    for public, private in strata:
        values = [-1] * (public.worse + private.worse) + [0] * (public.same + private.same)
        values += [1] * (public.better + private.better)
        sums.append([sum(chosen) for chosen in combinations(values, private.cases)])
    seen = sum(private.total for _, private in strata)
    ways = [sum(each) for each in product(*sums)]
    return Fraction(sum(way <= seen for way in ways), len(ways))


counts = st.builds(Part, st.integers(0, 2), st.integers(0, 3), st.integers(0, 2))
parts = counts.filter(lambda part: part.cases > 0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(parts, parts), min_size=1, max_size=2))
def test_it_is_the_share_of_all_ways_to_choose(strata):
    """The p-value is the share of the ways to choose private cases that are as bad or worse."""
    assert gaming_test(strata).p_value == pytest.approx(float(enumerated(strata)), rel=1e-9)


@pytest.mark.parametrize(
    ("public", "private"), [((30, 0), (7, 3)), ((200, 4), (40, 9)), ((12, 5), (11, 6))]
)
def test_with_one_stratum_and_a_perfect_reference_it_is_fishers(public, private):
    """Where the reference passes all, the test is Fisher's one-sided one, as scipy gives it."""
    truth = fisher_exact([public, private], alternative="greater").pvalue
    pair = [Part(worse=failed, same=passed, better=0) for passed, failed in (public, private)]
    assert gaming_test([(pair[0], pair[1])]).p_value == pytest.approx(truth, rel=1e-9)


@given(parts, parts, st.integers(1, 5))
def test_a_stratum_of_one_part_says_nothing(public, private, more):
    """Families without public or without private cases change no figure."""
    lone = [(Part(more, 0, 0), Part(0, 0, 0)), (Part(0, 0, 0), Part(more, 0, 0))]
    assert gaming_test([(public, private), *lone]) == gaming_test([(public, private)])


@given(parts, parts)
def test_a_failure_is_more_suspicious_among_private_cases(public, private):
    """Of equally many failures in all, one more among the private cases lowers the p-value."""
    if public.worse and private.same:
        fewer = Part(public.worse - 1, public.same + 1, public.better)
        more = Part(private.worse + 1, private.same - 1, private.better)
        assert gaming_test([(fewer, more)]).p_value <= gaming_test([(public, private)]).p_value


def test_nothing_to_compare():
    """Without a stratum of both parts p is 1 and there is no difference."""
    test = gaming_test([])
    assert (test.p_value, test.gaming, test.strata) == (1.0, None, 0)


def test_a_harder_private_part_of_both_sides_is_no_gaming():
    """What the reference fails as well counts for nothing."""
    assert gaming_test([(Part(0, 50, 0), Part(0, 20, 0))]).gaming == 0.0


def test_strata_keep_a_weak_family_from_counting():
    """A family in which the stage is weak throughout is no sign, though it is mostly private."""
    strong, weak = (Part(0, 90, 0), Part(0, 10, 0)), (Part(10, 0, 0), Part(30, 0, 0))
    assert gaming_test([strong, weak]).p_value == pytest.approx(1.0)
    pooled = [(Part(10, 90, 0), Part(30, 10, 0))]
    assert gaming_test(pooled).p_value < 1e-9


def test_a_negative_count_is_refused():
    """Counts are numbers from 0 on."""
    with pytest.raises(ValueError, match="negative"):
        gaming_test([(Part(-1, 2, 0), Part(0, 1, 0))])


@pytest.mark.parametrize("damaged", [0.05, 0.2, 0.5])
def test_the_power_is_what_a_simulation_finds(damaged):
    """The stated chance to catch a stage is met in 20,000 drawn runs, within four sigma."""
    public, private, runs = 200, 50, 20_000
    rng = np.random.default_rng(7)
    needed = failures_needed([(public, private)])
    assert needed is not None
    caught = float((rng.binomial(private, damaged, runs) >= needed).mean())
    stated = chance_to_catch([(public, private)], damaged=damaged)
    assert abs(caught - stated) < 4 * np.sqrt(stated * (1 - stated) / runs) + 1e-3


def test_the_needed_failures_are_the_least():
    """So many failures give an alarm and one fewer gives none."""
    needed = failures_needed([(120, 40)])
    assert needed is not None
    for failed, alarmed in ((needed, True), (needed - 1, False)):
        test = gaming_test([(Part(0, 120, 0), Part(failed, 40 - failed, 0))])
        assert (test.p_value <= LEVEL) is alarmed
    assert chance_to_catch([(120, 40)], damaged=0.3) == pytest.approx(binom.sf(needed - 1, 40, 0.3))


def test_too_few_cases_can_show_nothing():
    """Where even the failure of all private cases proves nothing, no number is enough."""
    assert failures_needed([(3, 2)]) is None
    assert failures_needed([(3, 0), (0, 9)]) is None
    assert chance_to_catch([(3, 2)], damaged=1.0) == 0.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 4)), min_size=1, max_size=3))
def test_so_many_failures_are_enough_whichever_they_are(sizes):
    """Every way to spread the needed failures over the families alarms, and one fewer need not."""

    def p_values(failed):
        spread = product(*(range(private + 1) for _, private in sizes))
        for each in spread:
            if sum(each) == failed:
                yield gaming_test(
                    [
                        (Part(0, public, 0), Part(worse, private - worse, 0))
                        for (public, private), worse in zip(sizes, each, strict=True)
                    ]
                ).p_value

    needed = failures_needed(sizes, level=0.1)
    if needed is not None:
        assert max(p_values(needed)) <= 0.1 + 1e-9
        assert max(p_values(needed - 1)) > 0.1 - 1e-9
