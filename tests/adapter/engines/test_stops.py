"""Stop strings, whichever way the bytes of a text are split over tokens."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from denv.adapter.engines.protocol import Token
from denv.adapter.engines.stops import StopStrings

LETTERS = st.text(alphabet="ab🎉é", max_size=12)
STOPS = st.lists(st.text(alphabet="ab🎉é", min_size=1, max_size=3), min_size=1, max_size=3)


def tokens(text: str, places: list[int]) -> list[Token]:
    """Split the text's bytes at places; what is between them may be half a character."""
    raw = text.encode()
    cuts = sorted({place % (len(raw) + 1) for place in places} | {0, len(raw)})
    pieces = [raw[a:b] for a, b in pairwise(cuts)]
    return [Token("", piece, id=number) for number, piece in enumerate(pieces)]


def expected(text: str, stop: list[str]) -> tuple[bytes, str | None]:
    """Read it byte by byte: the first moment at which a stop string stands at the end."""
    raw = text.encode()
    for end in range(1, len(raw) + 1):
        standing = [one for one in stop if raw[:end].endswith(one.encode())]
        if standing:
            found = max(standing, key=lambda one: len(one.encode()))
            return raw[: end - len(found.encode())], found
    return raw, None


def run(given: list[Token], stop: list[str]) -> tuple[list[Token], str | None]:
    stops = StopStrings(stop)
    out: list[Token] = []
    for token in given:
        out += stops.take(token)
        if stops.found is not None:
            return out, stops.found
    return out + stops.rest(), None


@given(text=LETTERS, stop=STOPS, places=st.lists(st.integers(0, 60), max_size=12))
def test_splits_change_nothing(text, stop, places):
    """What is let through and what stopped it are the same, however the bytes are split."""
    out, found = run(tokens(text, places), stop)
    assert (b"".join(token.bytes for token in out), found) == expected(text, stop)


@given(text=LETTERS, stop=STOPS, places=st.lists(st.integers(0, 60), max_size=12))
def test_ids_stand_for_their_bytes(text, stop, places):
    """A token keeps its id only where all its bytes are let through."""
    given_ = tokens(text, places)
    out, _ = run(given_, stop)
    whole = [token for token in out if token.id is not None]
    assert whole == given_[: len(whole)]
    assert len(out) - len(whole) <= 1


@given(text=LETTERS, stop=STOPS, places=st.lists(st.integers(0, 60), max_size=12))
def test_nothing_is_let_out_too_early(text, stop, places):
    """At every moment what is out is the beginning of what may be out in the end."""
    stops, out = StopStrings(stop), b""
    final, _ = expected(text, stop)
    for token in tokens(text, places):
        out += b"".join(one.bytes for one in stops.take(token))
        assert final.startswith(out)


def test_without_stop_strings_tokens_pass_at_once():
    """Nothing waits where nothing can stop it, not even a token without bytes."""
    token = Token("", b"", id=7)
    assert StopStrings(()).take(token) == [token]


def test_a_harmless_token_passes_at_once():
    """Only what may begin a stop string waits."""
    token = Token("hello", b"hello", id=1)
    assert StopStrings(("END",)).take(token) == [token]


def test_tokens_of_the_stop_string_are_not_let_out():
    """A token without text waits, since its text may turn out to be the stop string's."""
    stops = StopStrings(("🎉",))
    half = Token("", b"", id=1)
    assert stops.take(half) == []
    assert stops.take(Token("🎉", "🎉".encode(), id=2)) == []
    assert stops.found == "🎉"


def test_a_cut_token_says_how_many_it_stands_for():
    """What is left of a token has no id, and counts the tokens without text before it."""
    stops = StopStrings(("!",))
    assert stops.take(Token("", b"", id=1)) == []
    assert stops.take(Token("ab!c", b"ab!c", id=2)) == [Token("ab", b"ab", count=2)]


def test_the_text_of_a_cut_token_completes_a_character():
    """Bytes that went before belong to the character that the cut token completes."""
    stops = StopStrings(("!",))
    first, last = "é".encode()[:1], "é".encode()[1:]
    assert stops.take(Token("", first, id=1)) == [Token("", first, id=1)]
    assert stops.take(Token("é!", last + b"!", id=2)) == [Token("é", last)]
