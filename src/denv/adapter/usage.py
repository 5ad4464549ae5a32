"""Counts of the prompt's tokens, put right in what the recipe has written.

The recipe takes them before the first token; engines tell them after the last. What nobody has
counted is left out: a 0 would be a measurement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PromptCount:
    """Tokens of the prompt, and how many of them a cache held; None where that is not known."""

    tokens: int | None = None
    cached: int | None = None


def put_right(document: dict[str, Any], count: PromptCount, *, reasoning: bool) -> bool:
    """Correct the usage within an answer or event; tell whether there was any.

    ``reasoning`` says that the recipe has counted the tokens of reasoning.
    """
    inner = document.get("response") or document.get("message")
    holder = inner if isinstance(inner, dict) else document
    usage = holder.get("usage")
    if not isinstance(usage, dict):
        return False
    if "prompt_tokens" in usage:
        holder["usage"] = _chat(usage, count)
    elif "total_tokens" in usage:
        holder["usage"] = _responses(usage, count, reasoning=reasoning)
    else:
        holder["usage"] = _messages(usage, count)
    return True


def _chat(usage: dict[str, Any], count: PromptCount) -> dict[str, Any] | None:
    if count.tokens is None:
        return None
    right = usage | {
        "prompt_tokens": count.tokens,
        "total_tokens": count.tokens + usage["completion_tokens"],
    }
    if count.cached is None:
        names = ("prompt_tokens_details", "prompt_cache_hit_tokens", "prompt_cache_miss_tokens")
        return _without(right, *names)
    return right | {
        "prompt_tokens_details": {"cached_tokens": count.cached},
        "prompt_cache_hit_tokens": count.cached,
        "prompt_cache_miss_tokens": count.tokens - count.cached,
    }


def _responses(
    usage: dict[str, Any], count: PromptCount, *, reasoning: bool
) -> dict[str, Any] | None:
    if count.tokens is None:
        return None
    right = usage | {
        "input_tokens": count.tokens,
        "total_tokens": count.tokens + usage["output_tokens"],
        "input_tokens_details": {"cached_tokens": count.cached},
    }
    unknown = [] if reasoning else ["output_tokens_details"]
    return _without(right, *unknown, *(["input_tokens_details"] if count.cached is None else []))


def _messages(usage: dict[str, Any], count: PromptCount) -> dict[str, Any]:
    if count.tokens is None:
        return _without(usage, "input_tokens", "cache_read_input_tokens")
    if count.cached is None:
        return _without(usage | {"input_tokens": count.tokens}, "cache_read_input_tokens")
    return usage | {
        "input_tokens": count.tokens - count.cached,
        "cache_read_input_tokens": count.cached,
    }


def _without(usage: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in usage.items() if name not in names}
