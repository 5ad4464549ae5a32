"""Arguments of calls: what is kept of them, and why they hold none."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from denv.observe import oddities
from denv.observe.arguments import MAX_DEPTH, Arguments, read_arguments
from denv.observe.body import lenient_loads
from denv.strictjson import MAX_NUMBER_DIGITS


@pytest.mark.parametrize(
    ("text", "error", "unwrapped"),
    [
        ('"{\\"a\\":1}"', "double-encoded", {"a": 1}),
        ('"a"', "not an object", None),
        ("[1]", "not an object", None),
        ('{"a":1} x', "trailing text at column 9", None),
        ('{"a":', "not JSON: Expecting value at column 6", None),
        ('{"a":NaN}', "NaN is not JSON", None),
        ('{"a":1,"a":2}', "duplicate key", None),
    ],
)
def test_text_that_holds_no_arguments_is_kept(text: str, error: str, unwrapped: Any) -> None:
    """The text stays as it came, beside the reason why it holds none."""
    assert read_arguments(text, []) == Arguments(text, None, error, unwrapped)


@pytest.mark.parametrize("text", ["", " \n"])
def test_blank_arguments_are_none(text: str) -> None:
    """Blank text stays as it came, absent arguments have none."""
    assert read_arguments(text, []) == Arguments(text, {})
    assert read_arguments(None, []) == Arguments("", {})


def test_json_that_is_no_object() -> None:
    """A list is kept as its text; what nests too deeply for that has none."""
    assert read_arguments([1], []) == Arguments("[1]", None, "not an object")
    deep: Any = {}
    for _ in range(MAX_DEPTH + 1):
        deep = {"a": deep}
    assert read_arguments(deep, []) == Arguments("", None, "nested too deeply")


def test_an_object_is_written_as_json() -> None:
    """The text of an object has no blanks, exact numbers and its own characters."""
    value = {"a": [1, Decimal("0.10"), "é", None], "b": {}}
    notes: oddities.Notes = []
    assert read_arguments(value, notes) == Arguments('{"a":[1,0.10,"é",null],"b":{}}', value)
    assert notes == [oddities.ARGUMENTS_OBJECT]


def test_half_a_pair_inside_of_double_encoded_arguments_is_said() -> None:
    """The inner text is read as the outer one is."""
    notes: oddities.Notes = []
    read = read_arguments(r'"{\"a\":\"\\ud83d\"}"', notes)
    assert read.unwrapped == {"a": "\ufffd"}
    assert notes == [oddities.LONE_SURROGATE]


@pytest.mark.parametrize(("opener", "closer"), [('{"a":', "}"), ("[", "]")])
def test_the_deepest_nesting(opener: str, closer: str) -> None:
    """A hundred levels are read, one more is an error; width is no depth."""
    for depth, error in ((MAX_DEPTH, None), (MAX_DEPTH + 1, "not JSON: nested too deeply")):
        inner = depth - 1
        text = '{"a":' + opener * inner + "1" + closer * inner + "}"
        assert read_arguments(text, []).error == error
    assert read_arguments('{"a":[' + "[{}]," * MAX_DEPTH + "1]}", []).error is None


def test_lenient_numbers_are_exact_or_infinite() -> None:
    """A number beyond all bounds is infinite, every other one keeps its digits."""
    read = lenient_loads('{"x": 0.10, "y": 1e99999999, "z": NaN}', exact=True)
    assert (str(read["x"]), read["y"]) == ("0.10", float("inf"))
    assert isinstance(lenient_loads("0.5", exact=False), float)


@pytest.mark.parametrize("exact", [True, False])
def test_the_longest_number(exact: bool) -> None:
    """A number of as many digits as are read at the most is read, a longer one is not."""
    assert lenient_loads("1" * MAX_NUMBER_DIGITS, exact=exact) > 0
    with pytest.raises(ValueError, match=r"\Atoo many digits\Z"):
        lenient_loads("1" * (MAX_NUMBER_DIGITS + 1), exact=exact)
    assert lenient_loads("1." + "0" * (MAX_NUMBER_DIGITS - 2), exact=exact) == 1
    if exact:
        with pytest.raises(ValueError, match=r"\Atoo many digits\Z"):
            lenient_loads("1." + "0" * (MAX_NUMBER_DIGITS - 1), exact=True)
