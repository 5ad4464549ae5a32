"""Tools and their JSON Schemas in few words."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def text(about: str = "") -> Schema:
    """Give the schema of a string."""
    return _told({"type": "string"}, about)


def whole(about: str = "") -> Schema:
    """Give the schema of a whole number."""
    return _told({"type": "integer"}, about)


def number(about: str = "") -> Schema:
    """Give the schema of a number."""
    return _told({"type": "number"}, about)


def flag(about: str = "") -> Schema:
    """Give the schema of a truth value."""
    return _told({"type": "boolean"}, about)


def one_of(*values: str) -> Schema:
    """Give the schema of one of some strings."""
    return {"type": "string", "enum": list(values)}


def many(items: Schema, about: str = "") -> Schema:
    """Give the schema of a list."""
    return _told({"type": "array", "items": items}, about)


def thing(**fields: Schema) -> Schema:
    """Give the schema of an object whose fields must all be there."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def tool(name: str, about: str, /, **parameters: Schema) -> dict[str, Any]:
    """Give a tool whose parameters must all be given."""
    function = {"name": name, "description": about, "parameters": thing(**parameters)}
    return {"type": "function", "function": function}


def _told(schema: Schema, about: str) -> Schema:
    return {**schema, "description": about} if about else schema
