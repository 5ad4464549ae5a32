"""Logprobs as servers write them, one bound or shape a test."""

from __future__ import annotations

from typing import Any

import pytest

from denv.observe import oddities
from denv.observe.logprobs import Logprobs, read_logprobs
from denv.records import TokenLogprob, TopLogprob


def read(notes: oddities.Notes, **entry: Any) -> TokenLogprob:
    """Read one entry of chat's form."""
    choice = {"logprobs": {"content": [{"token": "a", "logprob": -0.5, **entry}]}}
    (found,) = read_logprobs(choice, literal=False, notes=notes).entries or ()
    return found


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (0, 0),
        (2**31 - 1, 2**31 - 1),
        (2**31, None),
        (-1, None),
        (True, None),
        ("5", None),
        (5.0, None),
    ],
)
def test_ids_are_whole_numbers_in_bounds(given: Any, kept: int | None) -> None:
    """An id is an integer from 0 to 2^31 - 1."""
    assert read([], id=given).id == kept
    assert read([], token_id=given).id == kept


@pytest.mark.parametrize(
    ("given", "kept", "codes"),
    [
        (-999.0, -999.0, []),
        (-1000.0, None, ["logprob-sentinel"]),
        (-1000, None, ["logprob-sentinel"]),
        (10**300, None, ["logprob-sentinel"]),
        (10**400, None, ["logprob-sentinel"]),
        (-(10**400), None, ["logprob-sentinel"]),
        (float("nan"), None, ["logprob-sentinel"]),
        (1e-6, 1e-6, []),
        (0.1, 0.1, ["logprob-positive"]),
        (True, None, ["logprob-not-number"]),
        ("-1", None, ["logprob-not-number"]),
        (None, None, []),
    ],
)
def test_values_that_are_no_logprobs_are_none(given: Any, kept: Any, codes: list[str]) -> None:
    """At -1000 and below, beyond a float and beside the numbers there is no value."""
    notes: oddities.Notes = []
    assert read(notes, logprob=given).logprob == kept
    assert [note.code for note in notes] == codes


@pytest.mark.parametrize(
    ("entry", "raw", "token_id", "noted"),
    [
        ({"bytes": [98]}, b"b", None, False),
        ({"bytes": []}, b"a", None, False),
        ({"token": "", "bytes": []}, b"", None, False),
        ({"token": ""}, None, None, False),
        ({"bytes": 5}, b"a", None, True),
        ({"bytes": [300]}, b"a", None, True),
        ({"bytes": ["x"]}, b"a", None, True),
        ({"token": "token_id:1234567890"}, None, 1234567890, False),
        ({"token": "token_id:12345678901"}, b"token_id:12345678901", None, False),
        ({"token": "token_id:abc"}, b"token_id:abc", None, False),
        ({"token": "<0x0A>"}, b"\n", None, False),
        ({"token": "<0x0A> "}, b"<0x0A> ", None, False),
    ],
)
def test_bytes_and_ids_of_a_token(
    entry: dict[str, Any], raw: bytes | None, token_id: int | None, noted: bool
) -> None:
    """Listed bytes come first, then what the token's own text says."""
    notes: oddities.Notes = []
    found = read(notes, **entry)
    assert (found.bytes, found.id) == (raw, token_id)
    assert notes == ([oddities.LOGPROB_BYTES] if noted else [])


def test_alternatives_that_are_no_tokens_are_left_out() -> None:
    """The others stay, and it is said."""
    notes: oddities.Notes = []
    top = [5, {"token": "b", "logprob": -1.0}, {"token": 5}, {"token": "c", "logprob": -2.0}]
    found = read(notes, top_logprobs=top)
    assert found.top == (TopLogprob("b", -1.0, b"b"), TopLogprob("c", -2.0, b"c"))
    assert notes == [oddities.LOGPROB_ENTRY] * 2


@pytest.mark.parametrize("top", [None, [], {"b": -1.0}, 5])
def test_alternatives_that_are_no_list_are_none(top: Any) -> None:
    """Nothing is read from another shape, and nothing is said of it."""
    notes: oddities.Notes = []
    assert read(notes, top_logprobs=top).top == ()
    assert notes == []


@pytest.mark.parametrize(
    ("given", "values", "tops"),
    [
        ({}, [None, None], [0, 0]),
        ({"token_logprobs": None, "top_logprobs": "?"}, [None, None], [0, 0]),
        ({"token_logprobs": [-1.0], "top_logprobs": [{"x": -1.0}]}, [-1.0, None], [1, 0]),
        ({"token_logprobs": [-1.0, -2.0, -3.0]}, [-1.0, -2.0], [0, 0]),
    ],
)
def test_lists_of_completions_may_be_short(
    given: dict[str, Any], values: list[float | None], tops: list[int]
) -> None:
    """What a parallel list lacks has no value, and what it has too much is left out."""
    notes: oddities.Notes = []
    choice = {"logprobs": {"tokens": ["a", "b"], **given}}
    entries = read_logprobs(choice, literal=False, notes=notes).entries or ()
    assert [entry.logprob for entry in entries] == values
    assert [len(entry.top) for entry in entries] == tops
    assert notes == [oddities.LOGPROBS_LEGACY]


@pytest.mark.parametrize(
    ("choice", "absent"),
    [
        ({}, "no logprobs field"),
        ({"logprobs": None}, "logprobs is null"),
        ({"logprobs": []}, "logprobs is not an object"),
        ({"logprobs": {}}, "logprobs is empty"),
        ({"logprobs": {"content": None}}, "logprobs.content is null"),
        ({"logprobs": {"refusal": None}}, "no logprobs.content field"),
        ({"logprobs": {"content": "x"}}, "logprobs.content is not a list"),
        ({"logprobs": {"content": []}}, "logprobs.content is empty"),
        ({"logprobs": {"content": [5]}}, "an entry of logprobs is not a token"),
        ({"logprobs": {"tokens": "ab"}}, "logprobs.content is not a list"),
    ],
)
def test_how_logprobs_are_absent_is_said(choice: dict[str, Any], absent: str) -> None:
    """Each way of not giving any has its own words."""
    assert read_logprobs(choice, literal=False, notes=[]) == Logprobs(None, absent)


def test_tokens_of_reasoning_are_counted_whatever_else_is_absent() -> None:
    """A list of its own for reasoning is set aside and counted."""
    choice: dict[str, Any] = {"logprobs": {"reasoning_content": [{}, {}], "content": None}}
    assert read_logprobs(choice, literal=False, notes=[]).reasoning == 2


def test_entries_of_chat_come_before_lists_of_completions() -> None:
    """Where a server gives both, the entries are read."""
    given = {"content": [{"token": "a", "logprob": -1}], "tokens": ["b"]}
    (entry,) = read_logprobs({"logprobs": given}, literal=False, notes=[]).entries or ()
    assert entry.token == "a"


@pytest.mark.parametrize(
    ("entries", "absent", "noted"),
    [
        ([{"token": "a"}] * 2, None, []),
        ([{"token": "a"}] * 3, "more than 2 entries", [oddities.LOGPROBS_TOO_MANY]),
        ([{"token": "a"}, 5], "an entry of logprobs is not a token", [oddities.LOGPROB_ENTRY]),
    ],
)
def test_entries_that_are_set_aside_as_a_whole(
    entries: list[Any], absent: str | None, noted: oddities.Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too many or a broken one: it is said, and the tokens of reasoning stay counted."""
    monkeypatch.setattr("denv.observe.logprobs.MAX_ENTRIES", 2)
    notes: oddities.Notes = []
    choice = {"logprobs": {"content": entries, "reasoning_content": [{}]}}
    read = read_logprobs(choice, literal=False, notes=notes)
    assert (read.absent, read.reasoning, notes) == (absent, 1, noted)
