"""The same questions to both sides, through the endpoint that customers use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from denv.instruments.probes import CHAT, Cost, Probe, SideFacts, Strand, Together
from denv.observe import observe
from denv.records import Json, Observation, Side

BYTES_PER_TOKEN = 2.5
"""Of a prompt, for the estimate of its cost; a template's own tokens come on top."""

TEMPLATE_TOKENS = 64

T = TypeVar("T")


def chat_body(
    messages: Sequence[Json], *, max_tokens: int, top_logprobs: int | None = None
) -> dict[str, Json]:
    """Write the body of a greedy chat; both sides are sent the same."""
    body: dict[str, Json] = {
        "messages": list(messages),
        "temperature": 0,
        "seed": 0,
        "stream": False,
        "max_tokens": max_tokens,
    }
    if top_logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": top_logprobs}
    return body


def ask_both(
    bodies: Sequence[Mapping[str, Json]],
    read: Callable[[int, Observation], T],
    *,
    facts: Mapping[Side, SideFacts],
) -> Strand[dict[Side, list[T]]]:
    """Ask each side everything, and read each answer as it comes.

    ``read`` is given a body's place and what came for it, and what it gives is all that is kept
    of an answer. The sides do not wait for each other.
    """
    sides = list(Side)
    strands = [_ask_side(side, bodies, read, most=facts[side].concurrency) for side in sides]
    found: list[list[T]] = yield Together(strands)
    return dict(zip(sides, found, strict=True))


def _ask_side(
    side: Side,
    bodies: Sequence[Mapping[str, Json]],
    read: Callable[[int, Observation], T],
    *,
    most: int,
) -> Strand[list[T]]:
    def one(place: int, body: Mapping[str, Json]) -> Strand[T]:
        exchange = yield Probe(side, CHAT, body)
        return read(place, observe(exchange))

    strands = [one(place, body) for place, body in enumerate(bodies)]
    found: list[T] = yield Together(strands, most)
    return found


def cost_of(prompts: Sequence[str], *, max_tokens: int) -> dict[Side, Cost]:
    """Estimate what asking both sides costs, at the most."""
    tokens = sum(
        int(len(prompt.encode()) / BYTES_PER_TOKEN) + TEMPLATE_TOKENS for prompt in prompts
    )
    return dict.fromkeys(Side, Cost(len(prompts), tokens, len(prompts) * max_tokens))


def sampling_warnings(facts: Mapping[Side, SideFacts]) -> list[str]:
    """Say of each side that samples that its answers are one draw each."""
    return [
        f"the {side} samples in spite of temperature 0: each of its answers is one draw of many"
        for side in Side
        if facts[side].sampled
    ]
