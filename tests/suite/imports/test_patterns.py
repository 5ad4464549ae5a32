"""Comparisons as patterns say what the comparisons say."""

import json
from contextlib import suppress

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from denv.suite.imports.patterns import (
    JSON_VALUE,
    all_of,
    any_of,
    begins,
    ends,
    literal,
    none_of,
    whole,
)

TEXT = st.text(alphabet="aB.*(\n é", max_size=6)
SOME = TEXT.filter(bool)


def found(pattern, text):
    return regex.search(pattern, text) is not None


@given(part=SOME, text=TEXT)
def test_each_pattern_is_its_comparison(part, text):
    """Contains, begins, ends, equals and their opposites, for any text and part."""
    assert found(literal(part), text) is (part in text)
    assert found(begins(literal(part)), text) is text.startswith(part)
    assert found(ends(literal(part)), text) is text.endswith(part)
    assert found(whole(literal(part)), text) is (part == text)
    assert found(none_of(literal(part)), text) is (part not in text)


@given(parts=st.lists(SOME, min_size=1, max_size=3), text=TEXT)
def test_joined_patterns_hold_for_all_or_any(parts, text):
    """All of several, any of several, and none of either, in any order."""
    patterns = [literal(part) for part in parts]
    every = all(part in text for part in parts)
    some = any(part in text for part in parts)
    assert found(all_of(patterns), text) is every
    assert found(any_of(patterns), text) is some
    assert found(none_of(all_of(patterns)), text) is not every
    assert found(none_of(any_of(patterns)), text) is not some


def test_case_is_folded_in_full():
    """``ß`` and ``SS`` are the same in any case, as case folding has it."""
    assert found(literal("STRASSE", ignore_case=True), "straße")
    assert not found(literal("STRASSE"), "strasse")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
    )
)
def test_written_json_is_json(value):
    """What the standard library writes is one JSON value, indented or not."""
    assert found(JSON_VALUE, json.dumps(value))
    assert found(JSON_VALUE, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


@given(st.text(alphabet='{}[]",:0-1.eE+ntrue\\', max_size=8))
def test_only_json_is_json(text):
    """The pattern and the standard library's strict reading agree."""
    valid = False
    with suppress(ValueError):
        json.loads(text, parse_constant=int)
        valid = True
    assert found(JSON_VALUE, text) is valid


@pytest.mark.parametrize("text", ["", "{'a': 1}", '```json\n{"a": 1}\n```', '{"a": 1} {"b": 2}'])
def test_what_models_write_instead_is_no_json(text):
    """Nothing, Python, a fenced block and two values are not one JSON value."""
    assert not found(JSON_VALUE, text)
