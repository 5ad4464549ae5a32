"""Calls that stand in a text as JSON, and what only looks like one."""

from __future__ import annotations

import pytest

from denv.observe.leaks import call_form

CALL = '{"name": "f", "arguments": {"k": {}}}'


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"set {{x}} first: {CALL}",
        "{" + CALL + "}",
        f'{{"a": 1}} {CALL} {{"z": 1}}',
        f'{{"tool_calls": [{CALL}]}}',
        f'{{"tool_calls": [{{"function": {CALL}}}]}}',
        f'{{"function": {CALL}}}',
        '{"function": "f", "arguments": {}}',
        '{"name": "f", "parameters": {"k": 1}}',
    ],
)
def test_a_call_is_found_wherever_it_begins(text: str) -> None:
    """Other braces and objects around it hide no call."""
    assert call_form(text) == "json"


@pytest.mark.parametrize(
    "text",
    [
        '{"name": 5, "arguments": {}}',
        '{"tool_calls": ["arguments"]}',
        '{"tool_calls": [], "arguments": 1}',
        '{"tool_calls": {"0": 1}, "arguments": 1}',
        '{"function": "f", "note": "arguments"}',
        '{"name": "f", "parameters": {"properties": {}}}',
        '{"a": 1}' * 40 + ' "arguments"',
        '{"a": 1} "arguments"',
    ],
)
def test_what_lacks_a_name_or_arguments_is_no_call(text: str) -> None:
    """A definition, a list of words or forty other objects are no call."""
    assert call_form(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '<|channel|>analysis to=functions.f code<|message|>{"k": 1}<|call|>',
        'analysis to=functions.f code{"k": 1}',
        'commentary to=functions.f {"k": 1}',
    ],
)
def test_a_call_of_harmony_is_found_in_either_channel(text: str) -> None:
    """Models of the form write calls into their analysis too, with and without its tokens."""
    assert "to=functions." in (call_form(text) or "")
