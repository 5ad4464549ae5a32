"""The common factor of two sides' gaps: its bounds, and which alternatives are the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from denv.checks.scaling import common_factor
from denv.records import TokenLogprob, TopLogprob
from tests.checks.answers import token

Position = tuple[TokenLogprob, TokenLogprob]


def position(ours: float, theirs: float) -> Position:
    """Give a position whose one gap is this wide on each side."""
    return token("x", 0.0, {"y": -ours}), token("x", 0.0, {"y": -theirs})


def factor(*positions: Position, by_ids: bool = False) -> float | None:
    return common_factor(positions, by_ids=by_ids)


def test_the_least_factor_is_a_tenth() -> None:
    """Gaps of 1.1 and 1.0 nats are scaled, gaps of 1.09 and 1.0 are not."""
    assert factor(*[position(1.1, 1.0)] * 4) == pytest.approx(1.1)
    assert factor(*[position(1.09, 1.0)] * 4) is None


def test_nine_gaps_of_ten_are_enough() -> None:
    """A tenth of the gaps may be off the common factor, more may not."""
    scaled, other = position(2.0, 1.0), position(1.0, 1.0)
    assert factor(*[scaled] * 9, other) == pytest.approx(2.0)
    assert factor(*[scaled] * 9, other, other) is None


def test_a_gap_of_half_a_nat_counts() -> None:
    """The narrowest gap that is looked at is one of 0.5 nats, on both sides."""
    assert factor(*[position(1.0, 0.5)] * 4) == pytest.approx(2.0)
    assert factor(*[position(0.98, 0.49)] * 4) is None


def test_without_gaps_there_is_no_factor() -> None:
    """No position, or none with an alternative that both sides list, tells nothing."""
    assert factor() is None
    assert factor((token("x", -0.1, {"y": -3.0}), token("z", -0.1, {"w": -3.0}))) is None


def test_gaps_are_taken_from_what_both_sides_hold_likeliest() -> None:
    """The likeliest alternative is the one of the highest sum, not of one side's highest value."""
    ours = token("a", -0.1, {"b": -0.2, "c": -2.2})
    theirs = token("a", -3.0, {"b": -0.2, "c": -1.2})
    assert factor((ours, theirs)) == pytest.approx(2.0)


def other(entry: TokenLogprob, token_id: int, name: str, raw: bytes, value: float) -> TokenLogprob:
    """Give a position an id of its own and one alternative."""
    return replace(entry, id=1, top=(TopLogprob(name, value, raw, token_id),))


def test_alternatives_are_the_same_by_id_where_ids_are_shared() -> None:
    """With shared ids the id decides, without them the bytes do, whatever ids are listed."""
    own = token("x", 0.0)
    same_id = (other(own, 7, "y", b"y", -2.0), other(own, 7, "token_id:7", b"z", -1.0))
    assert factor(same_id, by_ids=True) == pytest.approx(2.0)
    assert factor(same_id) is None
    same_bytes = (other(own, 7, "y", b"y", -2.0), other(own, 8, "y", b"y", -1.0))
    assert factor(same_bytes) == pytest.approx(2.0)
    assert factor(same_bytes, by_ids=True) is None
