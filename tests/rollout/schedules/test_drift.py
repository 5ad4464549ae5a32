"""Which side has changed, from counts whose tests are known."""

from __future__ import annotations

import json

import pytest
from scipy.stats import beta, binom, binomtest

from denv.records import Kind, Side
from denv.rollout.schedules.comparing import Compared
from denv.rollout.schedules.drift import Change, DriftVerdict, floor_of, judge_drift, side_drift
from denv.stats.proportions import clopper_pearson_upper

LEVEL = 0.01


def side(*, same=60, to_fail=0, to_pass=0, repeats=2, differing=0, missing=0):
    """Give a side's cases: so many as before, flipped each way; ``differing`` repeats do so."""
    kinds = [(True, True)] * same + [(True, False)] * to_fail + [(False, True)] * to_pass
    found = []
    for number, (then, now) in enumerate(kinds):
        said = tuple(not (number < differing and r == 0) for r in range(repeats))
        found.append(Compared(f"c{number}", Kind.EXACT, then, now, said))
    return [*found, *[None] * missing]


def change(**counts):
    return side_drift(Side.STAGE, side(**counts), level=LEVEL).change


def test_floor_is_the_clopper_pearson_limit():
    """Of 120 repeats one differed: the limit at 99.5 % is a quantile of Beta(2, 119)."""
    floor = floor_of(side(differing=1))
    assert floor is not None
    assert (floor.differing, floor.repeats) == (1, 120)
    assert floor.upper == pytest.approx(beta.ppf(0.995, 2, 119))
    assert floor_of(side(repeats=0)) is None


def test_flips_are_held_against_the_floor():
    """The least number of flips that noise does not explain is the binomial's at the limit."""
    upper = float(beta.ppf(0.995, 1, 120))
    least = next(k for k in range(60) if binom.sf(k - 1, 60, upper) <= LEVEL / 2)
    assert least == 8
    # As many one way and back: McNemar's test sees nothing of it.
    assert change(same=60 - least, to_fail=4, to_pass=4) is Change.CHANGED
    assert change(same=60 - least + 1, to_fail=4, to_pass=3) is Change.STEADY


def test_direction_is_mcnemars():
    """Nine one way and none back have p = 0.0039 (binomial, two sides): worse, or better."""
    found = side_drift(Side.STAGE, side(same=51, to_fail=9), level=LEVEL)
    assert found.mcnemar_p == pytest.approx(binomtest(9, 9).pvalue)
    assert found.change is Change.WORSE
    assert change(same=51, to_pass=9) is Change.BETTER


def test_noise_explains_as_much_as_the_baseline_showed():
    """With a fifth of the repeats differing nine flips are noise; all one way they are unclear."""
    assert change(same=51, to_fail=5, to_pass=4, differing=24) is Change.STEADY
    assert change(same=51, to_fail=9, differing=24) is Change.UNCLEAR


def test_without_repeats_only_the_direction_is_known():
    """No floor: a clear direction is a change, other flips are unclear, no flip is steady."""
    assert change(same=51, to_fail=9, repeats=0) is Change.WORSE
    assert change(same=57, to_fail=3, repeats=0) is Change.UNCLEAR
    assert change(repeats=0) is Change.STEADY


@pytest.mark.parametrize("counts", [{"same": 0}, {"same": 3}, {"same": 5, "repeats": 0}])
def test_too_few_cases_say_nothing(counts):
    """Where not even a flip of every case could be told from noise, nothing is known."""
    assert change(**counts) is Change.UNKNOWN


STEADY, WORSE = {"same": 60}, {"same": 40, "to_fail": 20}
UNCLEAR = {"same": 51, "to_fail": 9, "differing": 24}


@pytest.mark.parametrize(
    ("stage", "reference", "verdict"),
    [
        (STEADY, STEADY, DriftVerdict.NONE),
        (WORSE, STEADY, DriftVerdict.STAGE),
        (STEADY, WORSE, DriftVerdict.REFERENCE),
        (WORSE, WORSE, DriftVerdict.BOTH),
        (UNCLEAR, STEADY, DriftVerdict.UNDECIDED),
        (WORSE, {"same": 0, "missing": 60}, DriftVerdict.UNDECIDED),
    ],
)
def test_sides_are_told_apart(stage, reference, verdict):
    """Each side is held against itself; what is open of one leaves the verdict open."""
    found = judge_drift({Side.STAGE: side(**stage), Side.REFERENCE: side(**reference)})
    assert found.verdict is verdict
    json.dumps(found.document(), allow_nan=False)


def test_sentences_name_counts_and_cases():
    """What is said holds the counts, the floor, and the first cases."""
    found = side_drift(Side.REFERENCE, side(same=40, to_fail=20, missing=2), level=LEVEL)
    assert found.sentence == (
        "the reference got worse: 20 of 60 cases changed their outcome (20 to fail, 0 to pass); "
        "0 of 120 repeats of the baseline did, so that noise explains up to 4.3%; "
        "first: c40, c41, c42"
    )
    assert found.missing == 2


def test_unmeasured_cases_are_no_flips():
    """A check that says nothing of one of the answers is left aside."""
    cases = [*side(), Compared("x", Kind.EXACT, True, None), Compared("y", Kind.EXACT, None, True)]
    found = side_drift(Side.STAGE, cases, level=LEVEL)
    assert (found.cases, found.flips, found.texts) == (60, 0, 62)


def test_an_unchanged_side_is_seldom_called_changed():
    """Over all outcomes of 60 cases that flip as repeats do, a change is found in at most 1 %.

    The worst of these rates is looked at, all of the floor's and the flips' outcomes summed.
    """
    for rate in (0.01, 0.03, 0.1):
        wrong = 0.0
        for differing in range(40):
            upper = clopper_pearson_upper(differing, 120, confidence=1 - LEVEL / 2).high
            least = next(k for k in range(62) if binom.sf(k - 1, 60, upper) <= LEVEL / 2)
            wrong += binom.pmf(differing, 120, rate) * binom.sf(least - 1, 60, rate)
        assert wrong <= LEVEL


def test_a_level_that_is_none():
    """Levels are shares."""
    with pytest.raises(ValueError, match=r"level 1\.0 is not between 0 and 1"):
        judge_drift({Side.STAGE: [], Side.REFERENCE: []}, level=1.0)
