"""JSON values compared exactly."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.checks.values import Difference, Fault, differences, equal, excerpt, matches, type_name
from denv.strictjson import loads

scalars = st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("[3, 8]", "[3.0, 8.0]", True),
        ("12", "1.2e1", True),
        ("true", "1", False),
        ("0", "false", False),
        ("false", "0.0", False),
        ("9007199254740993", "9007199254740992", False),
        ("9007199254740993", "9007199254740993.0", True),
        ("9007199254740993", "9007199254740992.0", False),
        ("0.1", "0.10", True),
        ("0.1", "0.1000000000000000055511151231257827", False),
        ('"5"', "5", False),
        ("null", "false", False),
        ("null", "null", True),
        ('""', "null", False),
        ("[]", "{}", False),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', True),
        ('{"a": {"k": 1}}', '{"a": {"k": 1, "extra": 2}}', False),
        ('[{"k": 1}]', '[{"k": 1, "extra": 2}]', False),
        ("[1, 2]", "[2, 1]", False),
        ("[1, 2]", "[1, 2, 3]", False),
        ("[1, 2, 3]", "[1, 2]", False),
        ('"é"', '"e\\u0301"', False),
        ("-0.0", "0", True),
        ("1e400", "1e401", False),
    ],
)
def test_values_compare_exactly(expected: str, got: str, same: bool) -> None:
    """Numbers by value, booleans never numbers, key order ignored, nested extras different."""
    assert equal(loads(expected, exact=True), loads(got, exact=True)) is same


@given(values)
def test_a_value_equals_itself(value: Any) -> None:
    """Every value is the same as itself."""
    assert equal(value, value)


@given(values, values)
def test_equality_is_symmetric(left: Any, right: Any) -> None:
    """Which of two values was expected does not change whether they are the same."""
    assert equal(left, right) == equal(right, left)


def test_extra_keys_are_allowed_at_the_top_alone() -> None:
    """An extra argument passes, an extra key inside of one does not."""
    assert matches({"a": {"k": 1}}, {"a": {"k": 1}, "z": 0}) is None
    found = matches({"a": {"k": 1}}, {"a": {"k": 1, "more": 2}, "z": 0})
    assert found == Difference("$.a.more", Fault.EXTRA, None, 2)
    assert matches({"a": 1}, {"z": 0}) == Difference("$.a", Fault.MISSING, 1)
    assert matches({"a": {"k": 1}}, {"a": {}}) == Difference("$.a.k", Fault.MISSING, 1)


def test_each_difference_says_its_path() -> None:
    """Differences come in the expected order, each with a JSON path and its kind."""
    expected = {"gone": 1, "n": [1, {"odd key": 2}], "s": "a", "t": "5", "l": [1]}
    got = {"n": [1, {"odd key": 3}], "s": "b", "t": 5, "l": [2, 3]}
    assert [(d.path, d.fault) for d in differences(expected, got)] == [
        ("$.gone", Fault.MISSING),
        ('$.n[1]["odd key"]', Fault.VALUE),
        ("$.s", Fault.VALUE),
        ("$.t", Fault.TYPE),
        ("$.l", Fault.LENGTH),
        ("$.l[0]", Fault.VALUE),
    ]


def test_nested_keys_and_items_are_walked_in_order() -> None:
    """Missing keys of an object come before its extra keys, and both before its values."""
    expected = {"o": {"x": 1, "y": 2, "z": 3}}
    got = {"o": {"y": 0, "z": 0, "new": 1}}
    assert [str(d) for d in differences(expected, got)] == [
        "$.o.x is missing",
        "$.o.new is not expected",
        "$.o.y is 0 instead of 2",
        "$.o.z is 0 instead of 3",
    ]
    pairs = [d.path for d in differences({"l": [1, 2]}, {"l": [3, 4]})]
    assert pairs == ["$.l[0]", "$.l[1]"]


@pytest.mark.parametrize(
    ("expected", "got", "sentence"),
    [
        ("5", 5, '$.v is the number 5 instead of the string "5"'),
        (True, 1, "$.v is the number 1 instead of the boolean true"),
        ([1], {}, "$.v is the object {} instead of the array [1]"),
        ([1], [1, 2], "$.v has 2 items instead of 1"),
        (Decimal("0.50"), None, "$.v is the null null instead of the number 0.50"),
    ],
)
def test_a_difference_reads_as_a_sentence(expected: Any, got: Any, sentence: str) -> None:
    """A difference names both values and, where they differ in type, both types."""
    assert str(matches({"v": expected}, {"v": got})) == sentence


def test_no_nesting_is_too_deep() -> None:
    """Values nested a hundred thousand deep compare without an error."""
    left: Any = 1
    right: Any = 2
    for _ in range(100_000):
        left, right = [left], [right]
    assert equal(left, left)
    assert not equal(left, right)
    objects: Any = {"k": 1}
    for _ in range(2_000):
        objects = {"k": objects}
    assert equal(objects, objects)
    assert len(excerpt(left)) < 20


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\x1b[2J\n", '"a\\u001b[2J\\n"'),
        ("x" * 200, '"' + "x" * 59 + "…"),
        ("x" * 58, '"' + "x" * 58 + '"'),
        ("x" * 59, '"' + "x" * 59 + "…"),
        ([1, 2, 3, 4], "[1, 2, 3, 4]"),
        ([1, 2, 3, 4, 5], "[1, 2, 3, 4, …]"),
        ({"a": None, "b": False}, '{"a": null, "b": false}'),
        (dict.fromkeys("abcde", 0), '{"a": 0, "b": 0, "c": 0, "d": 0, …}'),
        ([[[[1]]]], "[[[…]]]"),
        ({"a": {"b": {"c": {}}}}, '{"a": {"b": {"c": …}}}'),
        (1 << 255, str(1 << 255)[:60] + "…"),
        (1 << 256, "an integer of 257 bits"),
        (1.5, "1.5"),
    ],
)
def test_values_are_shown_in_one_short_line(value: Any, shown: str) -> None:
    """Long values are cut, control characters escaped."""
    assert excerpt(value) == shown


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"), (True, "boolean"), (1, "number"), (1.5, "number"), (Decimal(1), "number"),
        ("", "string"), ({}, "object"), ([], "array"), ((), "array"),
    ],
)  # fmt: skip
def test_types_are_jsons(value: Any, name: str) -> None:
    """Types are named as JSON names them."""
    assert type_name(value) == name


def test_as_many_items_as_are_shown() -> None:
    """Four items are shown whole, of five it is said that there are more."""
    four = {str(n): n for n in range(4)}
    assert excerpt(four) == '{"0": 0, "1": 1, "2": 2, "3": 3}'
    assert excerpt({**four, "4": 4}) == '{"0": 0, "1": 1, "2": 2, "3": 3, …}'
    assert excerpt([0, 1, 2, 3]) == "[0, 1, 2, 3]"
    assert excerpt([0, 1, 2, 3, 4]) == "[0, 1, 2, 3, …]"
