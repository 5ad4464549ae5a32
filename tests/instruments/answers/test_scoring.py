"""Both sides' readings assessed: counts, tests, intervals and the document."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denv.instruments.answers.bank import Condition
from denv.instruments.answers.readings import State
from denv.instruments.answers.scoring import assess
from denv.instruments.answers.summary import summarise
from denv.instruments.paired.judging import Settings, measure_drop
from denv.instruments.paired.pairing import Table, find_rise, tabulate
from denv.stats.paired import PairedCounts, tango
from tests.instruments.answers.samples import assessed, numbered, pairs, reading


def readings(letters: str):
    return [reading(letter) for letter in letters]


# ---------------------------------------------------------------- one side


def test_answered_and_wrong():
    """The rate that matters has all items below the line, the conditional one the answered.

    Of 240 items 180 are answered and 18 wrong; the limits are statsmodels' (Wilson).
    """
    found = summarise(readings("r" * 162 + "w" * 18 + "u" * 40 + "a" * 20))
    joint, conditional = found.answered_and_wrong, found.wrong_of_answered
    assert (joint.count, joint.of, joint.value) == (18, 240, 0.075)
    assert joint.interval == pytest.approx((0.04796477, 0.11542607), abs=5e-9)
    assert (conditional.count, conditional.of, conditional.value) == (18, 180, 0.1)
    assert conditional.interval == pytest.approx((0.06419425, 0.15252215), abs=5e-9)


def test_accuracy_is_over_all_items():
    """Of 100 items 80 are right, 12 wrong and 8 truncated: 80 %, between 80 and 88 %."""
    found = summarise(readings("r" * 80 + "w" * 12 + "t" * 8))
    assert (found.accuracy.value, found.accuracy.of) == (0.8, 100)
    assert (found.bounds.lower, found.bounds.upper) == (0.8, 0.88)
    assert found.bounds.complete_case == pytest.approx(80 / 92)
    assert (found.items, found.open) == (100, 8)


def test_unusable_is_open_too():
    """An answer that never came is neither right nor wrong, and widens the bounds likewise."""
    found = summarise(readings("r" * 80 + "w" * 12 + "x" * 8))
    assert (found.bounds.lower, found.bounds.upper) == (0.8, 0.88)


def test_degenerate_rate_is_over_usable_answers():
    """Of 20 usable answers 5 are degenerate: 25 %."""
    found = summarise(readings("d" * 5 + "r" * 10 + "t" * 5 + "x" * 20))
    assert (found.degenerate.count, found.degenerate.of, found.degenerate.value) == (5, 20, 0.25)


def test_nothing_counted_is_null():
    """Rates of nothing and their intervals are None."""
    found = summarise(readings("xx"))
    assert (found.degenerate.value, found.degenerate.interval) == (None, None)
    assert (found.wrong_of_answered.value, found.bounds.complete_case) == (None, None)
    assert found.auroc is None


def test_auroc():
    """The area is that of confidence to correctness over the answers that have a confidence.

    3 right of -.1, -.2, -.6 and 2 wrong of -.4, -.9: 5 of the 6 pairs are ordered rightly.
    """
    found = summarise(
        [reading("r", -0.1), reading("r", -0.2), reading("r", -0.6), reading("w", -0.4),
         reading("w", -0.9), reading("w"), reading("r"), reading("u"), reading("t", -0.3)]
    )  # fmt: skip
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(5 / 6)
    assert (found.auroc.correct, found.auroc.wrong, found.sure) == (3, 2, 5)


@pytest.mark.parametrize("letter", ["r", "w"])
def test_auroc_of_one_class(letter):
    """Where all are right, or all wrong, there is no area: null, not 1 and not 0.5."""
    assert summarise([reading(letter, -0.5)] * 4).auroc is None


def test_auroc_of_tiny_probabilities():
    """Confidences that are 0 as floats keep their order."""
    found = summarise([reading("r", -800.0), reading("w", -900.0)])
    assert found.auroc is not None
    assert found.auroc.value == 1.0


# ---------------------------------------------------------------- pairs


def test_table():
    """Right and not right are paired; unsure, absent and degenerate are not right."""
    found = tabulate(pairs({"rr": 5, "rw": 1, "ru": 1, "ra": 1, "rd": 1, "wr": 2, "uw": 3}))
    assert found == Table(both=5, reference_only=4, stage_only=2, neither=3)


def test_open_pairs():
    """Where a side is open, the other side's answer says what the pair may still be."""
    found = tabulate(pairs({"rt": 1, "rx": 2, "wt": 3, "tr": 4, "xu": 5, "tt": 6, "tx": 7}))
    assert (found.maybe_reference_only, found.maybe_stage_only) == (1 + 2 + 5, 3 + 4)
    assert (found.either_way, found.resolved, found.open) == (13, 0, 28)
    assert found.counts() is None


def test_paired_interval():
    """The drop of 36 both, 12 reference only, 2 stage only has Tango's published limits.

    The mid-p-value for 12 to 2 is 2 P(X < 2) + P(X = 2) of Bin(14, 1/2).
    """
    (found,) = assessed({"rr": 36, "rw": 12, "wr": 2}).conditions
    assert found.paired.drop.value == pytest.approx(0.2)
    assert found.paired.drop.interval == pytest.approx((0.06111241, 0.34470875), abs=5e-9)
    assert found.paired.mcnemar is not None
    assert found.paired.mcnemar.mid_p == pytest.approx((2 * (1 + 14) + 91) / 2**14)


def test_range_of_p():
    """For 5 to 1 and three pairs that are open either way the exact p lies between .039 and 1."""
    (found,) = assessed({"rr": 20, "rw": 5, "wr": 1, "tt": 3}).conditions
    assert (found.paired.p_range.low, found.paired.p_range.high) == (0.0390625, 1.0)


def test_rises():
    """The rises are the stage's share less the reference's, with the sides' own denominators."""
    (found,) = assessed({"rr": 10, "uw": 4, "wu": 1, "rd": 3, "wt": 1, "dx": 1}).conditions
    assert found.wrong_rise.pairs == 18
    assert found.wrong_rise.value == pytest.approx((4 - 1) / 18)
    assert found.paired.degenerate_rise.pairs == 19
    assert found.paired.degenerate_rise.value == pytest.approx(3 / 19)


def test_rise_of_nothing():
    """Without a pair that is counted there is no rise."""
    found = find_rise(
        pairs({"rx": 2}), lambda one: True, counted=lambda one: one.resolved, confidence=0.95
    )
    assert (found.pairs, found.value, found.interval) == (0, None, None)


small = st.integers(0, 6)


tables = st.builds(Table, st.integers(0, 200), small, small, st.just(1), small, small, small)


@settings(deadline=None)
@given(tables, st.data(), st.sampled_from([0.05, 0.01]))
def test_limits_hold_for_every_resolution(table, data, alpha):
    """Whatever the open pairs would have been, its interval lies within the one that is given."""
    low, high = measure_drop(table, Settings(alpha=alpha)).faithful_limits
    one = data.draw(st.integers(0, table.either_way))
    other = data.draw(st.integers(0, table.either_way - one))
    b = table.reference_only + one + data.draw(st.integers(0, table.maybe_reference_only))
    c = table.stage_only + other + data.draw(st.integers(0, table.maybe_stage_only))
    same = table.resolved + table.open - b - c
    found = tango(PairedCounts(same, b, c, 0), confidence=1 - 1.6 * alpha)
    assert low - 1e-9 <= found.low <= found.high <= high + 1e-9


kinds = st.sampled_from(["rr", "rw", "wr", "uu", "rt", "tw", "ad"])


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(kinds, small, min_size=1))
def test_sides_swapped(counts):
    """With the sides swapped the drop changes its sign, and McNemar's p stays."""
    if not sum(counts.values()):
        return
    (found,) = assessed(counts).conditions
    (other,) = assessed({name[::-1]: count for name, count in counts.items()}).conditions
    theirs = other.paired.drop.faithful_limits
    assert found.paired.drop.faithful_limits == pytest.approx((-theirs[1], -theirs[0]))
    if found.paired.drop.value is not None:
        assert other.paired.drop.value == pytest.approx(-found.paired.drop.value)
    assert found.paired.p_range == other.paired.p_range


# ---------------------------------------------------------------- the whole


def test_every_item_counts():
    """An item that a side was not asked is open, and never left out."""
    items = numbered(3)
    found = assess(items, {Condition.FORCED: ({"i0": reading("r")}, {"i0": reading("r")})})
    (condition,) = found.conditions
    assert condition.stage.counts[State.UNUSABLE] == 2
    assert condition.paired.table == Table(1, 0, 0, 0, either_way=2)


def test_refused_input():
    """No item, no condition, a reading of no item and settings out of range are errors."""
    with pytest.raises(ValueError, match="at least one item"):
        assess((), {Condition.FORCED: ({}, {})})
    with pytest.raises(ValueError, match="one condition"):
        assess(numbered(1), {})
    with pytest.raises(ValueError, match="'i7'"):
        assess(numbered(1), {Condition.FORCED: ({}, {"i7": reading("r")})})
    for name, wrong in (("margin", 0.0), ("margin", 1.0), ("confidence", 1.0), ("alpha", 0.06)):
        with pytest.raises(ValueError, match=name):
            Settings(**{name: wrong})
    with pytest.raises(ValueError, match="floor"):
        Settings(floor=0.9, ceiling=0.9)


def test_document():
    """The document is strict JSON, holds both conditions, and repeats the verdict's reasons."""
    found = assessed({"rr": 190, "ww": 50}, {"rr": 150, "ru": 40, "xw": 30, "tt": 20})
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert list(document) == ["traces", "verdict", "reasons", "conditions"]
    assert document["verdict"] == found.verdict
    assert list(document["conditions"]) == ["forced", "unsure"]
    forced = document["conditions"]["forced"]
    assert forced["pairs"]["both"] == 190
    assert len(forced["items"]) == 240
    unsure = document["conditions"]["unsure"]
    assert unsure["sides"]["reference"]["unusable"] == 30
    assert unsure["sides"]["reference"]["auroc"] is None
    assert {row["stage"]["state"] for row in unsure["items"]} == {
        "right", "unsure", "wrong", "truncated"
    }  # fmt: skip


def test_document_of_nothing():
    """Where no answer came at all, figures are null and the verdict is undecided."""
    document = assessed({"xx": 5}).document()
    forced = document["conditions"]["forced"]
    assert document["verdict"] == "undecided"
    assert (forced["drop"]["value"], forced["mcnemar"]["mid_p"]) == (None, None)
    assert (forced["equivalence"], forced["sides"]["stage"]["auroc"]) == (None, None)
