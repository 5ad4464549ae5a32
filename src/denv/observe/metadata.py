"""What a completion says beside its message: usage, and who answered."""

from __future__ import annotations

from denv.observe import oddities
from denv.observe.oddities import Notes
from denv.records import Json, Usage

_MAX_COUNT = 2**53
"""Counts beyond this are not kept exactly by everything that reads reports."""


def read_usage(completion: dict[str, Json], notes: Notes) -> Usage | None:
    """Read the token counts, None where there are none."""
    usage = completion.get("usage")
    if not usage or not isinstance(usage, dict):
        return None
    details = usage.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else None
    if reasoning is None:  # SGLang counts them one level up
        reasoning = usage.get("reasoning_tokens")
    return Usage(
        _count(usage.get("prompt_tokens"), notes),
        _count(usage.get("completion_tokens"), notes),
        _count(reasoning, notes),
    )


def _count(value: Json, notes: Notes) -> int | None:
    if value is None:
        return None
    if type(value) is int and 0 <= value < _MAX_COUNT:
        return value
    notes.append(oddities.USAGE_NOT_INTEGER)
    return None


def word(completion: dict[str, Json], name: str) -> str | None:
    """Give a field that is a non-empty string, else None."""
    value = completion.get(name)
    return value if isinstance(value, str) and value else None
