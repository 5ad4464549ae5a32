"""The decoder of server-sent events, one rule of the wire a test."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from denv.observe.sse import SseDecoder, SseEvent


def decode(*chunks: bytes) -> list[SseEvent]:
    """Feed chunks and close."""
    decoder = SseDecoder()
    found = [event for chunk in chunks for event in decoder.feed(chunk)]
    return found + decoder.close()


def test_line_ends() -> None:
    """Lines end at LF, CRLF and CR alone, mixed as they may be."""
    assert decode(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n") == [
        SseEvent("", "a"),
        SseEvent("", "b"),
        SseEvent("", "c"),
    ]


def test_crlf_between_chunks() -> None:
    """A CRLF that two chunks share is one line end, not an empty line."""
    assert decode(b"data: a\r", b"\ndata: b\n\n") == [SseEvent("", "a\nb")]


def test_other_line_separators_are_text() -> None:
    """U+2028, U+0085, VT and FF end no line, as models write them."""
    text = "a\u2028b\u0085c\x0bd\x0ce\x1cf"
    assert decode(f"data: {text}\n\n".encode()) == [SseEvent("", text)]


def test_one_blank_after_the_colon() -> None:
    """Only one blank after the colon is not part of the value, and the colon may be alone."""
    assert decode(b"data:  a\ndata:b\ndata\n\n") == [SseEvent("", " a\nb\n")]


def test_event_without_data() -> None:
    """An event without data is none, and its type does not pass on to the next."""
    assert decode(b"event: error\n\ndata: a\n\n") == [SseEvent("", "a")]


def test_event_type() -> None:
    """An event has the type that its lines name."""
    assert decode(b"event: error\ndata: a\n\n") == [SseEvent("error", "a")]


def test_byte_order_mark() -> None:
    """A byte order mark before the first line is dropped, even split between chunks."""
    assert decode(b"\xef", b"\xbb\xbfdata: a\n\n") == [SseEvent("", "a")]


def test_a_mark_behind_the_first_line_is_text() -> None:
    """Only what begins the stream is a byte order mark: a later line is of another name."""
    assert decode(b"\n\xef\xbb\xbfdata: a\n\n") == []


def test_blanks_at_the_end_of_a_line_are_text() -> None:
    """Nothing but the line end is cut from a line."""
    assert decode(b"data: a \t\n\n") == [SseEvent("", "a \t")]


def test_a_line_of_its_own_for_errors() -> None:
    """A line named error is an event of that type."""
    assert decode(b"error: a\n\n") == [SseEvent("error", "a")]


def test_open_event_at_the_end() -> None:
    """What stands open at the end counts as an event."""
    assert decode(b"data: a\n\ndata: b") == [SseEvent("", "a"), SseEvent("", "b")]


def test_invalid_utf8_is_said() -> None:
    """Bytes that are no UTF-8 become U+FFFD, and the decoder says so."""
    decoder = SseDecoder()
    assert decoder.feed(b"data: \xff\n\n") == [SseEvent("", "\ufffd")]
    assert decoder.invalid_utf8


WIRE = st.lists(
    st.sampled_from([
        b"data:", b"data: ", b"event: error", b":", b"\n", b"\r", b"\r\n", b"\n\n", b"[DONE]",
        "你😊\u2028".encode(), b"\xff", b"\xef\xbb\xbf", b"x", b" ",
    ])
).map(b"".join)  # fmt: skip


@given(WIRE, st.data())
@settings(deadline=None)
def test_chunk_borders_change_nothing(wire: Any, data: Any) -> None:
    """However the bytes are split, the events are the same."""
    cuts = data.draw(st.lists(st.integers(0, len(wire)), max_size=8).map(sorted))
    borders = [0, *cuts, len(wire)]
    chunks = [wire[a:b] for a, b in pairwise(borders)]
    assert decode(*chunks) == decode(wire)


@given(WIRE)
@settings(deadline=None)
def test_single_bytes_change_nothing(wire: Any) -> None:
    """Byte by byte the events are the same as at once."""
    assert decode(*(bytes([value]) for value in wire)) == decode(wire)
