"""The built-in bank of prompts."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import pytest

from denv.encode import dump
from denv.instruments.bank import CATEGORIES, prompts
from denv.instruments.bank.long_context import CHARACTERS_PER_TOKEN, DEPTHS, PLACES
from denv.suite.request import check_request, tool_names

BANK = prompts()


def of(category: str):
    return [one for one in BANK if one.category == category]


def test_size():
    """There are at least 120, in these numbers, and no id stands twice."""
    assert len(BANK) >= 120
    assert Counter(one.category for one in BANK) == {
        "prose": 24,
        "code": 24,
        "mathematics": 20,
        "languages": 24,
        "structured": 15,
        "tools": 15,
        "long-context": 15,
    }
    assert len({one.id for one in BANK}) == len(BANK)
    assert len({dump(one.fields()) for one in BANK}) == len(BANK)


def test_ids_name_the_category():
    """An id begins with its category and can stand in a file's name."""
    for one in BANK:
        assert one.id.startswith(f"{one.category}-")
        assert one.id.replace("-", "").isalnum()
        assert one.id.isascii()


@pytest.mark.parametrize("prompt", BANK, ids=lambda one: one.id)
def test_valid_requests(prompt):
    """Each prompt passes the rules that a suite's line is held to, and is JSON."""
    faults: list[tuple[str, str]] = []
    fields = prompt.fields()
    check_request(fields, faults)
    assert faults == []
    assert json.loads(dump(fields)) == fields
    assert 16 <= prompt.max_tokens <= 256
    assert fields["messages"][-1]["role"] in {"user", "tool"}
    assert all(one.get("content") != "" for one in fields["messages"])


def test_languages():
    """At least eight human languages and six of programming are there."""
    assert len({one.id.split("-")[1] for one in of("languages")}) == 12
    assert len({one.id.split("-")[1] for one in of("code")}) >= 12


def test_scripts():
    """The languages come in their own scripts."""
    texts = "".join(one.messages[0]["content"] for one in of("languages"))
    for letter in ("ж", "ش", "न", "的", "の", "주", "ż", "ç", "ü", "ñ"):
        assert letter in texts


def test_conversations():
    """System messages, several turns, tool calls and tool results are among the messages."""
    roles = [tuple(message["role"] for message in one.messages) for one in BANK]
    assert any(one[0] == "system" for one in roles)
    assert any(one == ("user", "assistant", "user") for one in roles)
    assert sum("tool" in one for one in roles) >= 3


def test_tools():
    """Prompts of tool use have tools, and what was called in them is one of these."""
    assert all(bool(one.tools) == (one.category == "tools") for one in BANK)
    for one in of("tools"):
        named = tool_names(one.fields())
        calls = [call for message in one.messages for call in message.get("tool_calls", ())]
        assert {call["function"]["name"] for call in calls} <= set(named)
        assert all(json.loads(call["function"]["arguments"]) for call in calls)


def test_long_contexts():
    """At three depths and five places a record that stands there once is asked for."""
    long = of("long-context")
    assert Counter(one.depth_tokens for one in long) == dict.fromkeys((512, 2048, 6144), 5)
    for one in long:
        records = [x for x in one.messages[0]["content"].split("\n") if x.startswith("Record ")]
        number = one.messages[0]["content"].split("with the number ")[1].split()[0]
        at = [index for index, record in enumerate(records) if f"Record {number}:" in record]
        assert len(at) == 1
        place = int(one.id.rsplit("-", 1)[1])
        assert at[0] / len(records) == pytest.approx(place / 100, abs=0.1)
    assert all(one.depth_tokens is None for one in BANK if one.category != "long-context")
    assert (DEPTHS, len(PLACES)) == ((512, 2048, 6144), 5)


def test_depths():
    """The texts are about as long as their depth says."""
    for one in of("long-context"):
        assert one.depth_tokens is not None
        length = len(one.messages[0]["content"])
        assert length / CHARACTERS_PER_TOKEN == pytest.approx(one.depth_tokens, rel=0.03)


RECORDED = "11786959a08178fb6356d34ea08270e0f6c2c775c3e039c4c371072da550f5ac"


def test_same_each_time():
    """The drawn texts are the same at each call, and their digest is the recorded one."""
    assert prompts() == BANK
    texts = dump([one.fields() for one in of("long-context")])
    assert hashlib.sha256(texts).hexdigest() == RECORDED


def test_limit_is_spread_evenly():
    """A limit takes one of each category in turn, and is the first part of the whole."""
    seven = prompts(limit=7)
    assert tuple(one.category for one in seven) == CATEGORIES
    assert prompts(limit=50) == BANK[:50]
    counts = Counter(one.category for one in prompts(limit=70))
    assert set(counts.values()) == {10}
    assert {one.depth_tokens for one in prompts(limit=21)} == {None, *DEPTHS}
    assert prompts(limit=10_000) == BANK


def test_categories():
    """Named categories alone are given, in the bank's order."""
    some = prompts(["tools", "prose"])
    assert {one.category for one in some} == {"prose", "tools"}
    assert len(some) == 39
    assert [one.category for one in some[:4]] == ["prose", "tools", "prose", "tools"]


def test_impossible_requests():
    """An unknown category, none, and a limit below 1 are errors that name what is wrong."""
    with pytest.raises(ValueError, match="no category 'poetry'; there are prose, code"):
        prompts(["poetry"])
    with pytest.raises(ValueError, match="categories: no category; there are"):
        prompts([])
    with pytest.raises(ValueError, match="limit: 0 prompts"):
        prompts(limit=0)
