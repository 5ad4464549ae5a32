"""What a run has learned of its sides, and how what several processes learned becomes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from denv.records import Dialect, Json, Side

_PLAIN_FIELD = Dialect().max_tokens_field


def dialect_note(dialect: Dialect) -> dict[str, Json]:
    """Write a dialect as strict JSON."""
    return {
        "dropped": sorted(dialect.dropped),
        "top_logprobs": dialect.top_logprobs,
        "max_tokens_field": dialect.max_tokens_field,
    }


def dialect_from_note(note: Mapping[str, Json] | None) -> Dialect:
    """Read a dialect back; without a note it is the plain one."""
    if note is None:
        return Dialect()
    return Dialect(
        dropped=frozenset(note["dropped"]),
        top_logprobs=note["top_logprobs"],
        max_tokens_field=note["max_tokens_field"],
    )


def merged(stored: Mapping[str, Json], learned: Mapping[str, Json]) -> dict[str, Any]:
    """Join two processes' notes: what either was refused, both have been refused."""
    notes: dict[str, Any] = {**stored}
    for side in Side:
        ours, theirs = stored.get(side.value) or {}, learned.get(side.value) or {}
        joined = {**ours, **theirs}
        if ours.get("dialect") and theirs.get("dialect"):
            pair = (dialect_from_note(ours["dialect"]), dialect_from_note(theirs["dialect"]))
            joined["dialect"] = dialect_note(_narrower(*pair))
        notes[side.value] = joined
    return notes


def _narrower(one: Dialect, other: Dialect) -> Dialect:
    fields = (one.max_tokens_field, other.max_tokens_field)
    tops = (one.top_logprobs, other.top_logprobs)
    known = [top for top in tops if top is not None]
    return Dialect(
        dropped=one.dropped | other.dropped,
        top_logprobs=min(known) if len(known) == len(tops) else None,
        max_tokens_field=next((name for name in fields if name != _PLAIN_FIELD), _PLAIN_FIELD),
    )
