"""Where the text stands among the listed tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from denv.checks.alignment import Alignment, End, align, same_token
from denv.checks.spans import Located, locate, shared_ids
from denv.records import TokenLogprob, TopLogprob
from tests.checks.answers import token

UNKNOWN = token("\ufffd", -0.5, known=False)


def listed(*pieces: str | None) -> tuple[TokenLogprob, ...]:
    """Give tokens of these texts, None for one of unknown bytes."""
    return tuple(UNKNOWN if piece is None else token(piece, -0.5) for piece in pieces)


def spans(located: Located) -> list[tuple[int | None, int | None]]:
    return [(placed.start, placed.end) for placed in located.tokens]


@pytest.mark.parametrize(
    ("pieces", "text", "before", "after", "offsets"),
    [
        (["ab", "c"], "abc", 0, 0, [(0, 2), (2, 3)]),
        (["<think>", "abc", "</think>", "ab", "c"], "abc", 3, 0, [(0, 2), (2, 3)]),
        (["ab", "c", "<end>", "\n"], "abc", 0, 2, [(0, 2), (2, 3)]),
        (["ab", "c", "", ""], "abc", 0, 2, [(0, 2), (2, 3)]),
        (["x", " \n", "  ab", "c"], "abc", 2, 0, [(0, 2), (2, 3)]),
        (["a", None, None, "b", "c"], "a😊bc", 0, 0,
         [(0, 1), (None, None), (None, None), (5, 6), (6, 7)]),
        (["<x>", "y", "a", "b", None, "c"], "ab😊c", 2, 0, [(0, 1), (1, 2), (None, None), (6, 7)]),
        (["a", "b", None], "ab😊", 0, 0, [(0, 1), (1, 2), (None, None)]),
        (["<x>", None, None, "b"], "😊b", 1, 0, [(None, None), (None, None), (4, 5)]),
        (["a", "", "😊"], "a😊", 0, 0, [(0, 1), (None, None), (1, 5)]),
        (["", "", "", "", "😊"], "😊", 1, 0, [(None, None)] * 3 + [(0, 4)]),
        (["x", "", "😊"], "😊", 1, 0, [(None, None), (0, 4)]),
        (["", "a"], "a", 1, 0, [(0, 1)]),
        (["a", None, "b", "a", None, "c"], "a😊ba😊c", 0, 0,
         [(0, 1), (None, None), (5, 6), (6, 7), (None, None), (11, 12)]),
        (["a", "b", None, "a", "b", None, "c"], "ab😊ab😊c", 0, 0,
         [(0, 1), (1, 2), (None, None), (6, 7), (7, 8), (None, None), (12, 13)]),
        (["a"], "", 1, 0, []),
        ([], "", 0, 0, []),
    ],
)  # fmt: skip
def test_the_text_is_a_suffix_of_the_tokens(
    pieces: list[str | None],
    text: str,
    before: int,
    after: int,
    offsets: list[tuple[int | None, int | None]],
) -> None:
    """Each token of the text has its byte offsets, those around the text are set aside."""
    located = locate(listed(*pieces), text)
    assert located.complete
    assert located.covered == len(text.encode())
    assert located.before == before
    assert len(located.after) == after
    assert spans(located) == offsets


@pytest.mark.parametrize(
    ("pieces", "text", "covered"),
    [
        (["Othello"], "hello", 0),
        (["b"], "ab", 1),
        (["a"], "ab", 0),
        (["x", "b", "c"], "abc", 2),
        (["b", "<end>"], "ab", 1),
        (["b", None], "ab😊", 5),
        ([" a"], "ba", 0),
        ([], "ab", 0),
    ],
)
def test_a_text_that_is_not_covered_has_no_tokens(
    pieces: list[str | None], text: str, covered: int
) -> None:
    """How much of the text the tokens reach from its end is said."""
    located = locate(listed(*pieces), text)
    assert not located.complete
    assert located.tokens == ()
    assert located.covered == covered


def test_bytes_that_are_not_said_are_guessed_where_the_name_stands_in_the_text() -> None:
    """A name that is not in the text, or holds U+FFFD, is no guess."""
    bare = [replace(t, bytes=None) for t in listed("ab", "zz", "c", None)]
    located = locate(bare, "ab..c\ufffd")
    assert [placed.piece for placed in located.tokens] == [b"ab", None, b"c", None]


def test_half_a_pair_of_surrogates_never_raises() -> None:
    """A text that no UTF-8 can hold is looked for like any other."""
    half = token("\ud83d", -0.5, raw=b"\xed\xa0\xbd")
    for entry in (half, replace(half, bytes=None)):
        located = locate([entry], "\ud83d")
        assert spans(located) == [(0, 3)]


def test_bytes_come_from_ids_of_the_other_side() -> None:
    """An id's bytes are used where the token itself says none, and not where it does."""
    tokens = [
        token("token_id:1", -0.5, known=False, token_id=1),
        token("b", -0.5, token_id=2),
        token("c", -0.5, known=False, token_id=3),
    ]
    located = locate(tokens, "abc", by_id={1: b"a", 2: b"x"})
    assert [placed.piece for placed in located.tokens] == [b"a", b"b", b"c"]


def test_shared_ids_hold_both_sides_bytes() -> None:
    """Every id whose bytes either side says is known, alternatives among them."""
    ours = [replace(token("a", -1, token_id=1), top=(TopLogprob("b", -2, b"b", 2),))]
    theirs = [token("c", -1, token_id=3), token("d", -1, token_id=4, known=False)]
    assert shared_ids(ours, theirs) == {1: b"a", 2: b"b", 3: b"c"}


def test_entries_that_say_nothing_do_not_hide_a_contradiction() -> None:
    """Entries without id or bytes are passed over, those behind them are not."""
    silent = (TopLogprob("x", -2, b"x"), TopLogprob("y", -2, None, 9))
    ours = [replace(token("a", -1, token_id=1), top=silent)]
    theirs = [token("b", -1, token_id=1)]
    assert shared_ids(ours, theirs) is None
    assert shared_ids(theirs, ours) is None
    assert shared_ids(ours, ours) == {1: b"a"}


def walk(ours: list[str | None], theirs: list[str | None], *texts: str) -> Alignment:
    mine, other = (
        (texts[0], texts[-1]) if texts else ("".join(map(str, ours)), "".join(map(str, theirs)))
    )
    return align(locate(listed(*ours), mine), locate(listed(*theirs), other), by_ids=False)


@pytest.mark.parametrize(
    ("ours", "theirs", "end", "paired"),
    [
        (["a", "b"], ["a", "b"], End.WHOLE, 2),
        (["a", "b"], ["a"], End.REFERENCE_ENDED, 1),
        (["a"], ["a", "b"], End.STAGE_ENDED, 1),
        (["a", "bc"], ["a", "b", "c"], End.RETOKENISED, 1),
        (["a", "bc", "x"], ["a", "b", "c", "y"], End.RETOKENISED, 1),
        (["a", "b", "c", "x"], ["a", "bc", "y"], End.RETOKENISED, 1),
        (["a", "bcx"], ["a", "b", "c", "y"], End.PARTED, 1),
        (["a", "b", "c", "y"], ["a", "bcx"], End.PARTED, 1),
        (["a", "x"], ["a", "y"], End.PARTED, 1),
        (["x"], ["y"], End.PARTED, 0),
    ],
)
def test_why_the_walk_ends(
    ours: list[str | None], theirs: list[str | None], end: End, paired: int
) -> None:
    """Other borders over the same bytes are told from other words and from an end."""
    found = walk(ours, theirs)
    assert found.end is end
    assert [pair.index for pair in found.pairs] == list(range(paired))
    assert (found.stage_at, found.reference_at) == (paired, paired)


@pytest.mark.parametrize(
    ("ours", "theirs", "texts", "end", "skipped", "paired"),
    [
        (["a", None, "b"], ["a", "😊", "b"], ("a😊b",), End.WHOLE, 0, [0, 1, 2]),
        (["a", None, None, "b"], ["a", "😊", "b"], ("a😊b",), End.WHOLE, 2, [0, 3]),
        (["a", "😊", "b"], ["a", None, None, "b"], ("a😊b",), End.WHOLE, 2, [0, 2]),
        (["a", None, "b", "c"], ["a", "😊", "bc"], ("a😊bc",), End.RETOKENISED, 0, [0, 1]),
        (["a", None, "x"], ["a", "😊", "y"], ("a😊x", "a😊y"), End.PARTED, 0, [0, 1]),
        (["a", None], ["a", "😁"], ("a😊", "a😁"), End.PARTED, 0, [0]),
        (["a", None], ["a", None], ("a😊", "a😁"), End.PARTED, 0, [0]),
        (["a", None], ["a", "😊", "b"], ("a😊", "a😊b"), End.STAGE_ENDED, 0, [0, 1]),
        (["a", None, "b"], ["a", "😊"], ("a😊b", "a😊"), End.REFERENCE_ENDED, 0, [0, 1]),
        ([None, "b", None, "c"], ["😊", "b", "😊", "c"], ("😊b😊c",), End.WHOLE, 0, [0, 1, 2, 3]),
        (["a", None, None], ["a", "😊😊"], ("a😊😊",), End.WHOLE, 2, [0]),
        (
            ["a", None, None, "b", None, None, "c"],
            ["a", "😊", "b", "😊", "c"],
            ("a😊b😊c",),
            End.WHOLE,
            4,
            [0, 3, 6],
        ),
        # a border that only the end of a token shows
        ([None, "b", None, "c"], ["😊b", "😊", "c"], ("😊b😊c",), End.WHOLE, 2, [2, 3]),
        # tokens of no width between two that stand side by side, and behind the text
        (["a", None, "b"], ["a", None, None, "b"], ("ab",), End.WHOLE, 3, [0]),
        (["a", None], ["a", None, None], ("a",), End.RETOKENISED, 0, [0]),
    ],
)
def test_gaps_are_bridged_between_sure_borders(
    ours: list[str | None],
    theirs: list[str | None],
    texts: tuple[str, ...],
    *,
    end: End,
    skipped: int,
    paired: list[int],
) -> None:
    """Unknown tokens are paired where as many stand between two borders of both sides."""
    found = walk(ours, theirs, *texts)
    assert found.end is end
    assert found.skipped == skipped
    assert [pair.index for pair in found.pairs] == paired


def test_a_gap_that_is_not_bridged_says_where_it_begins() -> None:
    """Each side's first token that is not paired is named."""
    found = walk(["a", None, "b", None], ["a", "😊b", "😁"], "a😊b😊", "a😊b😁")
    assert found.end is End.PARTED
    assert (found.stage_at, found.reference_at) == (3, 2)


def test_tokens_are_the_same_by_id_then_bytes_then_name() -> None:
    """Each way is used only where both entries show it."""
    one = token("a", -1, token_id=1)
    assert same_token(one, replace(one, token="b", bytes=b"b"), by_ids=True)
    assert not same_token(one, replace(one, id=2), by_ids=True)
    assert same_token(one, replace(one, id=2), by_ids=False)
    assert same_token(one, replace(one, id=None), by_ids=True)
    assert same_token(replace(one, id=None), one, by_ids=True)
    assert same_token(one, replace(one, token="named otherwise"), by_ids=False)
    assert not same_token(one, replace(one, bytes=b"b"), by_ids=False)
    assert same_token(one, replace(one, bytes=None), by_ids=False)
    assert same_token(replace(one, bytes=b""), one, by_ids=False)
    assert not same_token(one, replace(one, token="b", bytes=None), by_ids=False)
