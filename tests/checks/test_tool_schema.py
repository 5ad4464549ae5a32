"""How calls fit the tools of a request."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from denv.checks import tool_schema
from denv.checks.tool_schema import VALIDATORS_KEPT, classify, tool_names
from denv.records import Call
from denv.strictjson import loads
from tests.checks.answers import call


@pytest.fixture(autouse=True)
def built_anew() -> None:
    """Let no test meet a validator that another one has built."""
    tool_schema._validators.clear()


def offered(parameters: Any, name: str = "f") -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": parameters}}]


def fits(parameters: Any, raw: str) -> str:
    return classify(call("f", raw), offered(parameters))


def typed(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": {"type": kind, **more}}, "required": ["v"]}


@pytest.mark.parametrize(
    ("schema", "raw", "fit"),
    [
        (typed("string"), '{"v": "a"}', "valid"),
        (typed("string"), '{"v": 1}', "schema-mismatch"),
        (typed("string"), "{}", "schema-mismatch"),
        (typed("number"), '{"v": 1.5}', "valid"),
        (typed("number"), '{"v": true}', "schema-mismatch"),
        (typed("integer"), '{"v": 1}', "valid"),
        (typed("integer"), '{"v": 1.0}', "valid"),
        (typed("integer"), '{"v": 1e400}', "valid"),
        (typed("integer"), '{"v": 1.5}', "schema-mismatch"),
        (typed("integer"), '{"v": true}', "schema-mismatch"),
        (typed("integer"), '{"v": "1"}', "schema-mismatch"),
        (typed("number", multipleOf=0.1), '{"v": 0.3}', "valid"),
        (typed("number", multipleOf=0.1), '{"v": 0.35}', "schema-mismatch"),
        (typed("number", multipleOf=0.1), '{"v": 1e40}', "valid"),
        (typed("number", multipleOf=2), '{"v": 4}', "valid"),
        (typed("number", multipleOf=2), '{"v": 5}', "schema-mismatch"),
        ({"properties": {"v": {"multipleOf": 2}}}, '{"v": "five"}', "valid"),
        (typed("number", enum=[0.1, 2]), '{"v": 0.1}', "valid"),
        (typed("number", enum=[0.1, 2]), '{"v": 2.0}', "valid"),
        (typed("number", enum=[0.1, 2]), '{"v": 0.2}', "schema-mismatch"),
        (typed("number", minimum=0.5), '{"v": 0.5}', "valid"),
        (typed("number", minimum=0.5), '{"v": 0.4}', "schema-mismatch"),
        (typed("string", pattern="^a"), '{"v": "ab"}', "valid"),
        (typed("string", pattern="^a"), '{"v": "b"}', "schema-mismatch"),
        ({"additionalProperties": False}, '{"v": 1}', "schema-mismatch"),
        (True, '{"v": 1}', "valid"),
        (False, '{"v": 1}', "schema-mismatch"),
        ({}, "{}", "valid"),
    ],
)
def test_arguments_are_held_to_the_schema(schema: Any, raw: str, fit: str) -> None:
    """Types, bounds and enumerations hold for exact numbers as they do for floats."""
    assert fits(schema, raw) == fit


def test_decimals_in_a_schema_are_exact() -> None:
    """A schema that was itself read exactly works the same."""
    schema = loads('{"properties": {"v": {"multipleOf": 0.1, "enum": [0.3, 0.1]}}}', exact=True)
    assert isinstance(schema["properties"]["v"]["multipleOf"], Decimal)
    assert fits(schema, '{"v": 0.3}') == "valid"
    assert fits(schema, '{"v": 0.2}') == "schema-mismatch"


@pytest.mark.parametrize(
    ("call_", "fit"),
    [
        (call("f", "{"), "invalid-json"),
        (call("g", "{"), "invalid-json"),
        (call("f", "[1]"), "invalid-json"),
        (call("g", "{}"), "unknown-name"),
        (call("F", "{}"), "unknown-name"),
        (call(None, "{}"), "unknown-name"),
        (call("f", "{}"), "valid"),
    ],
)
def test_classes_of_calls(call_: Call, fit: str) -> None:
    """Arguments that do not parse come first, then names that are none of the tools'."""
    assert classify(call_, offered(None)) == fit


def test_each_tool_has_its_own_schema() -> None:
    """A call is held to the schema of the tool it names, among all."""
    tools = offered(typed("string"), "f") + offered(typed("number"), "g")
    assert classify(call("g", '{"v": 1}'), tools) == "valid"
    assert classify(call("f", '{"v": 1}'), tools) == "schema-mismatch"


@pytest.mark.parametrize(
    "schema",
    [
        None,
        "object",
        [1],
        {"type": "nonsense"},
        {"properties": {"v": {"pattern": "("}}},
        {"$ref": "https://schemas.invalid/one.json"},
        {"properties": {"v": {"$ref": "https://schemas.invalid/one.json"}}},
        {"$ref": "#"},
        {"if": {"type": "object"}, "then": {"$ref": "#"}},
        {"$ref": "#/$defs/absent"},
    ],
)
def test_a_schema_that_says_nothing_takes_any_arguments(schema: Any) -> None:
    """An absent, invalid, foreign or endless schema holds nothing against a call."""
    assert fits(schema, '{"v": 1}') == "valid"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a warning of the fetch would hide it
def test_nothing_is_fetched(tmp_path: Path) -> None:
    """Another document that could be read is left unread."""
    other = tmp_path / "one.json"
    other.write_text('{"type": "string"}', encoding="utf-8")
    assert fits({"properties": {"v": {"$ref": other.as_uri()}}}, '{"v": 1}') == "valid"


def test_a_tool_without_a_schema_takes_any_arguments() -> None:
    """Parameters may be left out."""
    assert classify(call("f", '{"v": 1}'), [{"function": {"name": "f"}}]) == "valid"


def test_the_draft_is_the_one_that_the_schema_names() -> None:
    """Tuples are written with ``items`` in draft 7 and with ``prefixItems`` in 2020-12."""
    tuple_7 = {"properties": {"v": {"items": [{"type": "string"}]}}}
    draft_7 = {"$schema": "http://json-schema.org/draft-07/schema#", **tuple_7}
    assert fits(draft_7, '{"v": [1]}') == "schema-mismatch"
    assert fits(tuple_7, '{"v": [1]}') == "valid"  # no schema of 2020-12, so none at all
    prefixed = {"properties": {"v": {"prefixItems": [{"type": "string"}]}}}
    assert fits(prefixed, '{"v": [1]}') == "schema-mismatch"
    unheard = {"$schema": "https://schemas.invalid/draft", **prefixed}
    assert fits(unheard, '{"v": [1]}') == "schema-mismatch"


def test_a_reference_inside_of_the_schema_is_followed() -> None:
    """Definitions of the schema itself are used."""
    schema = {"$defs": {"s": {"type": "string"}}, "properties": {"v": {"$ref": "#/$defs/s"}}}
    assert fits(schema, '{"v": "a"}') == "valid"
    assert fits(schema, '{"v": 1}') == "schema-mismatch"


def test_arguments_nested_too_deep_do_not_crash() -> None:
    """A recursive schema meets arguments that nest beyond the interpreter's stack."""
    schema = {"$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}
    arguments: dict[str, Any] = {}
    for _ in range(5_000):
        arguments = {"n": arguments}
    assert classify(Call("f", {"n": {"n": {}}}, ""), offered(schema)) == "valid"
    assert classify(Call("f", arguments, ""), offered(schema)) == "schema-mismatch"


def test_a_schema_nested_too_deep_says_nothing() -> None:
    """A schema that cannot be walked is taken as absent."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(5_000):
        schema = {"properties": {"n": schema}}
    assert fits(schema, '{"n": 1}') == "valid"


def test_schemas_are_told_apart_by_their_content() -> None:
    """A changed schema is another one, an equal one is the same, and many do not pile up."""
    schema = typed("string")
    assert fits(schema, '{"v": 1}') == "schema-mismatch"
    schema["properties"]["v"]["type"] = "number"
    assert fits(schema, '{"v": 1}') == "valid"
    for bound in range(VALIDATORS_KEPT + 2):
        assert fits(typed("number", minimum=bound), f'{{"v": {bound}}}') == "valid"
        assert len(tool_schema._validators) <= VALIDATORS_KEPT
    assert fits(typed("number", minimum=1), '{"v": 0}') == "schema-mismatch"


def test_the_order_of_a_schemas_keys_means_nothing() -> None:
    """One validator serves both spellings."""
    assert fits(typed("number", minimum=1), '{"v": 1}') == "valid"
    turned = dict(reversed(typed("number", minimum=1).items()))
    assert fits(turned, '{"v": 1}') == "valid"
    assert len(tool_schema._validators) == 1


@pytest.mark.parametrize(
    "tool",
    [{}, {"function": None}, {"function": {}}, {"function": {"name": 5}}, {"name": "f"}],
)
def test_tools_of_odd_shape_have_no_name(tool: dict[str, Any]) -> None:
    """What has no function with a name is no tool."""
    assert tool_names([tool, *offered(None, "g")]) == {"g"}
    assert classify(call("f", "{}"), [tool]) == "unknown-name"
