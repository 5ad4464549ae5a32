"""The JSON Schemas (draft 2020-12) of the project's files and documents, as they are shipped."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def schema_names() -> tuple[str, ...]:
    """Give the names that :func:`schema` takes, such as ``suite-1``."""
    found = (item.name for item in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in found if name.endswith(".json")))


def schema(name: str) -> dict[str, Any]:
    """Read one packaged schema; an unknown name is a ``LookupError``."""
    if name not in schema_names():
        raise LookupError(f"no schema {name!r}; there are {', '.join(schema_names())}")
    parsed: dict[str, Any] = json.loads((files(__name__) / f"{name}.json").read_text("utf-8"))
    return parsed
