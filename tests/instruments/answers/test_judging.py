"""The verdict's rule, on counts whose limits are known."""

from __future__ import annotations

import pytest

from denv.instruments.paired.judging import Settings
from tests.instruments.answers.samples import assessed


def verdict(counts, **settings):
    return assessed(counts, settings=Settings(**settings)).verdict


def reasons(counts, **settings):
    return " ".join(assessed(counts, settings=Settings(**settings)).reasons)


def test_same_answers_are_faithful():
    """240 equal answers, 190 of them right, show that the difference is within 5 points.

    Tango's limits without a discordant pair are ±z²/(n + z²): with 4 % on each side z is 1.751.
    """
    assert verdict({"rr": 190, "ww": 50}) == "faithful"
    assert "between -1.3 and 1.3 points" in reasons({"rr": 190, "ww": 50})


def test_few_equal_answers_prove_nothing():
    """30 equal answers leave ±z²/(n + z²) = ±9.3 points: undecided."""
    assert verdict({"rr": 24, "ww": 6}) == "undecided"


def test_large_drop_is_different():
    """40 of 240 lost and none won is beyond 5 points, and so is the same with sides swapped."""
    assert verdict({"rr": 150, "rw": 40, "ww": 50}) == "different"
    assert "less often" in reasons({"rr": 150, "rw": 40, "ww": 50})
    assert verdict({"rr": 110, "wr": 40, "ww": 90}) == "different"
    assert "more often" in reasons({"rr": 110, "wr": 40, "ww": 90})


def test_significant_drop_is_not_yet_different():
    """A drop of 4 points that is surely not 0 is no drop beyond 5: undecided, and it says so."""
    counts = {"rr": 180, "rw": 10, "ww": 50}
    assert verdict(counts) == "undecided"
    assert "equal rates are rejected (mid-p 0.00098)" in reasons(counts)


def test_margin():
    """The margin is the user's: a drop that is different at one point is faithful at ten."""
    counts = {"rr": 170, "rw": 14, "wr": 2, "ww": 54}
    assert verdict(counts, margin=0.01) == "different"
    assert verdict(counts, margin=0.05) == "undecided"
    assert verdict(counts, margin=0.10) == "faithful"


@pytest.mark.parametrize(
    ("counts", "word"),
    [
        ({"rr": 40, "ww": 200}, "floor"),
        ({"rr": 10, "rw": 30, "ww": 200}, "floor"),
        ({"rr": 238, "ww": 2}, "ceiling"),
        ({"rr": 138, "rw": 100, "ww": 2}, "ceiling"),
    ],
)
def test_floor_and_ceiling(counts, word):
    """A reference under 20 % or over 98 % right leaves nothing to judge by."""
    assert verdict(counts) == "undecided"
    assert f"{word}: the reference is right in" in reasons(counts)


def test_edges_of_floor_and_ceiling():
    """Exactly 20 % is no floor, exactly 98 % no ceiling."""
    assert verdict({"rr": 48, "ww": 192}) == "faithful"
    assert verdict({"rr": 245, "ww": 5}) == "faithful"


def test_floor_is_of_the_resolved_items():
    """What was cut off does not make a floor; it makes the interval wide."""
    counts = {"rr": 45, "ww": 5, "tt": 190}
    assert verdict(counts) == "undecided"
    assert "floor" not in reasons(counts)
    assert "190 of 240 pairs are open" in reasons(counts)


@pytest.mark.parametrize("open_pair", ["rt", "rx", "tr", "tt", "xx", "tx"])
def test_open_pairs_never_help(open_pair):
    """Truncated and unusable answers are resolved both ways: 20 of 240 leave it undecided."""
    counts = {"rr": 180, "ww": 40, open_pair: 20}
    assert verdict(counts) == "undecided"
    assert "20 of 240 pairs are open" in reasons(counts)


def test_few_open_pairs_change_nothing():
    """With three pairs open the interval still lies within the margin."""
    assert verdict({"rr": 187, "ww": 50, "rt": 2, "tr": 1}) == "faithful"


def test_difference_in_spite_of_open_pairs():
    """A drop is different where it is, even with every open pair resolved for the stage."""
    assert verdict({"rr": 130, "rw": 60, "ww": 40, "wt": 10}) == "different"
    assert verdict({"rr": 150, "rw": 30, "ww": 40, "wt": 20}) == "undecided"


def test_nothing_known():
    """Without any answer of the reference there is nothing to judge by."""
    assert reasons({"xr": 3}).endswith("no answer of the reference is known")


SAME, WORSE, SHORT = {"rr": 190, "ww": 50}, {"rr": 150, "rw": 40, "ww": 50}, {"rr": 40, "ww": 200}


@pytest.mark.parametrize(
    ("forced", "unsure", "right"),
    [
        (SAME, SAME, "faithful"),
        (SAME, WORSE, "different"),
        (WORSE, SAME, "different"),
        (SHORT, WORSE, "different"),
        (SAME, SHORT, "undecided"),
        (SHORT, SHORT, "undecided"),
    ],
)
def test_both_conditions(forced, unsure, right):
    """Together they are different where either is, and faithful where both are."""
    found = assessed(forced, unsure)
    assert found.verdict == right
    assert [reason.split(":")[0] for reason in found.reasons[:1]] == ["forced"]
    assert any(reason.startswith("unsure: ") for reason in found.reasons)


def test_levels_that_are_not_held_are_not_offered():
    """29 equal pairs lie within 10 points (9.6, z²/(n + z²)), and are not faithful all the same."""
    assert verdict({"rr": 23, "ww": 6}, margin=0.10) == "undecided"
    assert "29 pairs are too few to show it, 30 are needed" in reasons(
        {"rr": 23, "ww": 6}, margin=0.10
    )
    assert verdict({"rr": 24, "ww": 6}, margin=0.10) == "faithful"
    with pytest.raises(ValueError, match="margin"):
        Settings(margin=0.11)
