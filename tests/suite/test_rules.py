"""What a line may hold: the loader's rules, and the shipped schema that says the same."""

import json
from decimal import Decimal

import pytest
from jsonschema import Draft202012Validator

from denv.records import Case, ToolCall
from denv.schemas import schema
from denv.suite.line import parse_line
from tests.suite.rules import BEYOND_THE_SCHEMA, INVALID, TOOL, VALID, line


def parsed(value):
    raw = value if isinstance(value, str) else json.dumps(value)
    return parse_line(raw.encode(), line=1, index=0)[1]


@pytest.mark.parametrize("value", VALID)
def test_valid_lines(value):
    """A line within the rules becomes a case with its fields untouched and in their order."""
    case = parsed(value)
    assert isinstance(case, Case)
    request = {key: item for key, item in value.items() if key not in {"id", "tags", "expect"}}
    assert list(case.fields.items()) == list(request.items())


@pytest.mark.parametrize(("value", "what"), [*INVALID, *BEYOND_THE_SCHEMA])
def test_invalid_lines(value, what):
    """A line outside the rules names the field and what is wrong with it."""
    faults = parsed(value)
    assert isinstance(faults, list)
    assert any(what in f"{where}: {why}" for where, why in faults), faults
    assert all(f"{where}{why}".isprintable() for where, why in faults)


def test_several_faults_of_a_line():
    """All faults of a line are told at once."""
    faults = parsed({"id": "", "messages": [{"role": "x", "content": 1}], "expect": {"equals": 1}})
    assert [where for where, _ in faults] == [
        "id",
        "messages[0].role",
        "messages[0].content",
        "expect.equals",
    ]


def test_schema_is_a_schema():
    """The shipped schema is valid draft 2020-12."""
    Draft202012Validator.check_schema(schema("suite-1"))


@pytest.mark.parametrize("value", VALID)
def test_schema_accepts_what_the_loader_accepts(value):
    """Whatever the loader takes, the schema takes."""
    Draft202012Validator(schema("suite-1")).validate(value)


@pytest.mark.parametrize("value", [value for value, _ in INVALID])
def test_schema_refuses_what_the_loader_refuses(value):
    """Whatever the loader refuses and a schema can express, the schema refuses."""
    assert not Draft202012Validator(schema("suite-1")).is_valid(value)


def test_expected_numbers_are_exact():
    """Expected arguments keep every digit; whole numbers stay whole, and booleans stay booleans."""
    arguments = '{"a": 0.1000000000000000055511151231257827, "b": 12, "c": 12.0, "d": [1e2, true]}'
    value = json.dumps(line(tools=[TOOL], expect={"tool-call": {"name": "get_weather"}}))
    case = parsed(value.replace('weather"}}', f'weather", "arguments": {arguments}}}}}'))
    assert isinstance(case, Case)
    assert isinstance(case.check, ToolCall)
    found = case.check.arguments
    assert found["a"] == Decimal("0.1000000000000000055511151231257827")
    assert found == {"a": found["a"], "b": 12, "c": 12, "d": [100, True]}
    assert [type(item) for item in (found["b"], found["c"], *found["d"])] == [
        int,
        Decimal,
        Decimal,
        bool,
    ]


def test_big_whole_numbers_are_exact():
    """A whole number beyond 2^53 is not rounded."""
    value = line(
        tools=[TOOL], expect={"tool-call": {"name": "get_weather", "arguments": {"n": 2**70 + 1}}}
    )
    assert parsed(value).check.arguments == {"n": 1180591620717411303425}
