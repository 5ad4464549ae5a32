"""Calls folded from a stream's deltas, one rule a test."""

from __future__ import annotations

from typing import Any

import pytest

from denv.observe import oddities
from denv.observe.deltas import CallFold


def delta(
    index: int | None,
    arguments: str | None = None,
    *,
    name: str | None = None,
    call_id: str | None = None,
) -> dict[str, Any]:
    """Write one entry of a delta's calls, with the fields that it has."""
    function = {"name": name, "arguments": arguments}
    entry: dict[str, Any] = {"function": {k: v for k, v in function.items() if v is not None}}
    entry |= {} if index is None else {"index": index}
    return entry if call_id is None else {**entry, "id": call_id}


def folded(*deltas: dict[str, Any]) -> list[tuple[str | None, str | None, str]]:
    """Give id, name and argument text of each call."""
    fold = CallFold([])
    for one in deltas:
        fold.add(one)
    calls = fold.folded()
    return [
        (call.get("id"), call["function"]["name"], call["function"].get("arguments", ""))
        for call in calls
    ]


def test_a_call_is_as_a_plain_answer_has_it() -> None:
    """The folded call has the fields of one that was sent whole."""
    fold = CallFold([])
    fold.add(delta(0, "{}", name="f", call_id="a"))
    function = {"name": "f", "arguments": "{}"}
    assert fold.folded() == [{"id": "a", "type": "function", "function": function}]


@pytest.mark.parametrize("arguments", [None, ""])
@pytest.mark.parametrize("name", ["", 5, None])
def test_what_a_call_lacks_is_left_out(arguments: str | None, name: Any) -> None:
    """Without id and arguments there is neither, and a name of no text is none."""
    fold = CallFold([])
    fold.add({"index": 0, "function": {"name": name, "arguments": arguments}})
    assert fold.folded() == [{"type": "function", "function": {"name": None}}]


@pytest.mark.parametrize(
    ("pieces", "complete"),
    [
        ([], False),
        (["{}"], True),
        (["{"], False),
        (["[1]"], True),
        (['"a"'], True),
        (['{"a":{"b":1}'], False),
        (['{"a":{"b":1}', "}"], True),
        (['{"a":"}"'], False),
        (['{"a":"{"}'], True),
        # an escaped quote does not end a string, an escaped backslash escapes nothing
        ([r'{"a":"\"}'], False),
        ([r'{"a":"\"b"}'], True),
        ([r'{"a":"\\"}'], True),
        ([r'{"a":"\n"}'], True),
        # the escape and what it escapes in two pieces
        (['{"a":"\\', '"}'], False),
        (['{"a":"\\', '"}', '"}'], True),
        (['{"a":"\\', '\\"}'], True),
        (['{"a":"\\', 'n"}'], True),
        (['{"a":"\\', "n", '"}'], True),
    ],
)
def test_a_name_after_complete_arguments_opens_a_call(pieces: list[str], complete: bool) -> None:
    """Arguments are complete where every bracket and string that was opened is closed."""
    calls = folded(
        delta(0, name="f"), *(delta(0, piece) for piece in pieces), delta(0, "{}", name="g")
    )
    text = "".join(pieces)
    apart = [(None, "f", text), (None, "g", "{}")]
    assert calls == (apart if complete else [(None, "fg", text + "{}")])


def test_a_piece_is_looked_at_once() -> None:
    """Asking in the middle of the arguments changes no later answer."""
    calls = folded(
        delta(0, "{", name="f"), delta(0, name="f"), delta(0, "}"), delta(0, "{}", name="g")
    )
    assert calls == [(None, "f", "{}"), (None, "g", "{}")]


@pytest.mark.parametrize(
    ("second", "apart"),
    [
        (delta(1, "{}", name="g", call_id="a"), True),
        (delta(1, " ", call_id="a"), False),
        (delta(0, " ", name="f", call_id="a"), False),
        (delta(None, " ", name="f", call_id="a"), False),
    ],
)
def test_an_id_that_comes_again(second: dict[str, Any], apart: bool) -> None:
    """After complete arguments a known id with a name and another index is another call."""
    calls = folded(delta(0, "{}", name="f", call_id="a"), second)
    assert calls == ([("a", "f", "{}"), ("a", "g", "{}")] if apart else [("a", "f", "{} ")])


def test_an_id_that_comes_again_amid_the_arguments() -> None:
    """Before they are complete a known id goes on with its call."""
    calls = folded(delta(0, "{", name="f", call_id="a"), delta(1, "}", name="f", call_id="a"))
    assert calls == [("a", "f", "{}")]


def test_another_id_with_a_name_opens_a_call() -> None:
    """So it does at an index that is taken, which is said."""
    notes: oddities.Notes = []
    fold = CallFold(notes)
    fold.add(delta(0, "{", name="f", call_id="a"))
    fold.add(delta(0, "{}", name="g", call_id="b"))
    assert [call["id"] for call in fold.folded()] == ["a", "b"]
    assert notes == [oddities.STREAM_CALL_INDEX]


def test_another_id_without_a_name() -> None:
    """It goes on with the open call of its index, opens one after a complete call, or alone."""
    assert folded(delta(0, "{", name="f", call_id="a"), delta(0, "}", call_id="b")) == [
        ("a", "f", "{}")
    ]
    after = folded(delta(0, "{}", name="f", call_id="a"), delta(0, "{}", call_id="b"))
    assert after == [("a", "f", "{}"), ("b", None, "{}")]
    assert folded(delta(3, "{}", call_id="b")) == [("b", None, "{}")]


def test_an_id_that_comes_late_is_the_calls() -> None:
    """A call that began without an id takes the first one, and is found by it."""
    calls = folded(
        delta(0, "{", name="f"), delta(0, "1", call_id="a"), delta(None, "}", call_id="a")
    )
    assert calls == [("a", "f", "{1}")]
