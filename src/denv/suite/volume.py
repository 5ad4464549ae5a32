"""How much a run of a suite asks, estimated before anything is sent."""

from __future__ import annotations

import json
from dataclasses import dataclass

from denv.suite.loading import Suite

BYTES_PER_TOKEN = 4
"""Common tokenizers need about so many bytes of prose and JSON; other scripts take more tokens."""


@dataclass(frozen=True, slots=True)
class Volume:
    """What each side is asked.

    ``prompt_tokens`` is a rough estimate from the length of messages and tools;
    ``most_completion_tokens`` is what would come if every answer used all of ``max_tokens``.
    """

    requests: int
    prompt_tokens: int
    most_completion_tokens: int


def volume_of(suite: Suite, *, max_tokens: int, repeats: int = 1, twins: bool = False) -> Volume:
    """Estimate what each side is asked by a run; ``twins`` asks tool cases once more."""
    requests = prompt = completion = 0
    for case in suite:
        asked = repeats + (twins and case.check.name == "tool-call")
        shown = [case.fields["messages"], case.fields.get("tools") or []]
        length = len(json.dumps(shown, ensure_ascii=False, default=str).encode("utf-8", "replace"))
        requests += asked
        prompt += asked * -(-length // BYTES_PER_TOKEN)
        completion += asked * int(case.fields.get("max_tokens") or max_tokens)
    return Volume(requests, prompt, completion)
