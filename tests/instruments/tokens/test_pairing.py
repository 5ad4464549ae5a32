"""Two readings of one text: which positions are the same event, and what they show."""

from __future__ import annotations

from math import log

import pytest

from denv.instruments.tokens.pairing import RANK_CAP, compare, table
from denv.records import TokenLogprob, TopLogprob


def reading(own: bytes, listed: dict[bytes, float], *, own_p: float | None = None, ids=False):
    """Write an entry from probabilities; ids are the bytes' own numbers."""

    def number(piece: bytes) -> int | None:
        return int.from_bytes(piece or b"\xff\xff", "big") if ids else None

    top = tuple(TopLogprob(t.decode(), log(p), t, number(t)) for t, p in listed.items())
    value = listed.get(own, own_p)
    return TokenLogprob(own.decode(), value and log(value), own, number(own), top)


P = {b"a": 0.6, b"b": 0.25}
Q = {b"a": 0.5, b"b": 0.3}


@pytest.mark.parametrize("ids", [True, False])
def test_figures_of_one_position(ids):
    """The bounds are those of the lists; KL 0.02066023 is full arithmetic over the rest bucket."""
    found = compare((reading(b"b", P, ids=ids),), (reading(b"b", Q, ids=ids),), same_ids=ids)
    assert found.by_ids is ids
    assert found.kl[0] == pytest.approx(0.02066023, abs=1e-8)
    assert found.tv_low[0] == pytest.approx(0.10)  # (|.6-.5| + |.25-.3| + |.15-.2|) / 2
    assert found.tv_high[0] == pytest.approx(0.25)  # 1 - (.5 + .25)
    assert found.unreported[0] == pytest.approx(0.15)
    assert (found.agrees[0], found.rank[0]) == (1, 2)
    assert found.p_own[0] == pytest.approx(log(0.25))
    assert found.q_own[0] == pytest.approx(log(0.3))


def test_a_token_that_is_not_listed_takes_the_least_listed_value():
    """Its probability is at most that, so its NLL at least as large; it is marked."""
    found = compare((reading(b"b", P),), (reading(b"b", {b"a": 0.7, b"c": 0.2}),), same_ids=True)
    assert found.q_own[0] == pytest.approx(log(0.2))
    assert found.unlisted.tolist() == [True]
    assert found.rank[0] == 3


def test_a_token_beyond_the_list_keeps_its_own_value():
    """A server that lists the text's token beside the likeliest ones says its value."""
    stage = reading(b"z", {b"a": 0.7, b"c": 0.2}, own_p=0.001)
    found = compare((reading(b"z", P, own_p=0.01),), (stage,), same_ids=True)
    assert found.q_own[0] == pytest.approx(log(0.001))
    assert found.unlisted.tolist() == [False]


def test_ranks_are_capped():
    """Whatever a server says of deep ranks, lists of 20 and of 100 give the same."""
    listed = {bytes([65 + n]): 0.5 / 2**n for n in range(40)}
    deep = reading(bytes([65 + 30]), listed)
    assert compare((deep,), (deep,), same_ids=True).rank[0] == RANK_CAP


def test_ties_of_the_likeliest_agree():
    """Where two tokens are equally likely on one side, either is its top."""
    tied = reading(b"a", {b"a": 0.4, b"b": 0.4})
    other = reading(b"a", {b"b": 0.5, b"a": 0.3})
    assert compare((tied,), (other,), same_ids=True).agrees[0] == 1


@pytest.mark.parametrize(
    "listed", [{b"a": 0.9}, {b"a": 1.0, b"b": 1.0}], ids=["one token", "more than all"]
)
def test_what_is_no_distribution_is_skipped(listed):
    """A list of one token, or one whose probabilities sum to two, is not compared."""
    found = compare((reading(b"a", P),), (reading(b"a", listed),), same_ids=True)
    assert (found.count, found.skipped) == (0, 1)
    found = compare((reading(b"a", listed),), (reading(b"a", P),), same_ids=True)
    assert (found.count, found.skipped) == (0, 1)


def test_missing_positions_are_skipped():
    """A position that one side did not read leaves the others where they are."""
    ours = (reading(b"a", P), None, reading(b"b", P))
    theirs = (reading(b"a", Q), reading(b"a", Q), reading(b"b", Q))
    found = compare(theirs, ours, same_ids=True)
    assert found.index.tolist() == [0, 2]
    assert found.skipped == 1


def test_by_bytes_only_tokens_with_the_same_borders_are_paired():
    """Of "sea" + "side" and "se" + "aside" nothing is the same event, of " x" behind them all."""
    theirs = tuple(reading(piece, {piece: 0.5, b"?": 0.2}) for piece in (b"sea", b"side", b" x"))
    ours = tuple(reading(piece, {piece: 0.5, b"?": 0.2}) for piece in (b"se", b"aside", b" x"))
    found = compare(theirs, ours, same_ids=False)
    assert found.index.tolist() == [2]
    assert found.skipped == 2


def test_the_end_token_is_compared_where_both_show_it():
    """Without bytes it stands behind the text on both sides."""
    end = {b"": 0.5, b"a": 0.3}
    theirs = (reading(b"a", P), reading(b"", end))
    both = compare(theirs, (reading(b"a", Q), reading(b"", end)), same_ids=False)
    assert both.index.tolist() == [0, 1]
    one = compare(theirs, (reading(b"a", Q),), same_ids=False)
    assert one.index.tolist() == [0]


def test_unknown_bytes_end_what_can_be_paired():
    """Behind a token of unknown bytes no border is known."""
    unknown = TokenLogprob("?", -0.1, None, None, reading(b"a", P).top)
    theirs = (reading(b"a", P), unknown, reading(b"b", P))
    ours = (reading(b"a", Q), reading(b"c", Q, own_p=0.1), reading(b"b", Q))
    assert compare(theirs, ours, same_ids=False).index.tolist() == [0]


def test_tokens_written_alike_are_one_cell():
    """Two ids of the same bytes are added up when bytes are compared, and not when ids are."""
    top = (TopLogprob("a", log(0.3), b"a", 1), TopLogprob("a", log(0.2), b"a", 2))
    entry = TokenLogprob("a", log(0.3), b"a", 1, top)
    assert table(entry, by_ids=False) == {b"a": pytest.approx(log(0.5))}
    assert set(table(entry, by_ids=True)) == {1, 2}


def test_alternatives_without_bytes_are_no_cell():
    """A control token on one server is a part of a character on another: both are rest."""
    entry = reading(b"a", {b"a": 0.5, b"": 0.2})
    assert set(table(entry, by_ids=False)) == {b"a"}


def test_ids_are_used_only_where_every_alternative_has_one():
    """A side that lists alternatives by text alone is compared by bytes."""
    found = compare((reading(b"a", P),), (reading(b"a", Q, ids=True),), same_ids=True)
    assert not found.by_ids
    assert found.kl[0] > 0
