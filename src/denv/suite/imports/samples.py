"""The lines of a file of samples, as the formats that are JSONL share them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from denv import strictjson
from denv.suite.imports.gathering import Gathering


def samples_of(text: str, gathering: Gathering) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each line that is a JSON object, with its place; others are left behind."""
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{gathering.source}:{number}"
        try:
            value = strictjson.loads(line)
        except strictjson.StrictJsonError as error:
            gathering.leave(where, f"not JSON as the standard has it: {error}")
            continue
        if isinstance(value, dict):
            yield where, value
        else:
            gathering.leave(where, "not a JSON object")
