"""Whether a call fits the tools of its request: the name, the JSON, and the tool's schema.

A tool without a schema takes any arguments, and so does one whose schema is invalid, refers to
another document, or never ends: those say nothing of the call. Nothing is ever fetched. A slow
``pattern`` in a schema is as slow as the suite's author made it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from denv.records import Call, Json

Class = Literal["valid", "invalid-json", "unknown-name", "schema-mismatch"]

VALIDATORS_KEPT = 256
_validators: dict[str, Validator | None] = {}


def classify(call: Call, tools: Sequence[Mapping[str, Json]]) -> Class:
    """Say how a call fits the request's tools; arguments that do not parse come first."""
    if call.arguments is None:
        return "invalid-json"
    functions = [function for function in _functions(tools) if function["name"] == call.name]
    if not functions:
        return "unknown-name"
    validator = _validator(functions[0].get("parameters"))
    return "valid" if validator is None or _fits(validator, call.arguments) else "schema-mismatch"


def tool_names(tools: Sequence[Mapping[str, Json]]) -> frozenset[str]:
    """Give the names that a request's tools have."""
    return frozenset(function["name"] for function in _functions(tools))


def _functions(tools: Sequence[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    for tool in tools:
        function = tool.get("function")
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            yield function


def _fits(validator: Validator, arguments: Mapping[str, Json]) -> bool:
    try:
        return validator.is_valid(dict(arguments))
    except Unresolvable:
        return True
    except RecursionError:  # nested deeper than any schema asks for
        return False


def _validator(schema: Json) -> Validator | None:
    if not isinstance(schema, (Mapping, bool)):
        return None
    try:
        key = json.dumps(schema, sort_keys=True, default=repr)
        if key not in _validators:
            if len(_validators) >= VALIDATORS_KEPT:
                _validators.clear()
            _validators[key] = _built(schema)
        return _validators[key]
    except RecursionError:
        return None


def _built(schema: Any) -> Validator | None:
    draft = validator_for(schema, default=Draft202012Validator)
    try:
        draft.check_schema(schema)
        exact: Callable[..., Validator] = extend(  # type: ignore[no-untyped-call]  # theirs has no types
            draft,
            validators={"multipleOf": _multiple_of},
            type_checker=draft.TYPE_CHECKER.redefine("integer", _is_integer),
        )
        validator = exact(_exact(schema), registry=Registry())
        validator.is_valid({})  # a schema that refers to itself without end shows it here
    except (SchemaError, Unresolvable, RecursionError):
        return None
    return validator


def _exact(value: Any) -> Any:
    """Read floats as the decimals that they were written as, to meet exact arguments."""
    if isinstance(value, Mapping):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    return Decimal(repr(value)) if isinstance(value, float) else value


def _is_integer(_: Any, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return False
    return Fraction(value).denominator == 1


def _multiple_of(
    validator: Any, factor: Any, instance: Any, _: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "number"):
        return
    if (Fraction(instance) / Fraction(factor)).denominator != 1:
        yield ValidationError(f"{instance} is not a multiple of {factor}")
