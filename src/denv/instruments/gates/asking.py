"""How gates ask: greedy chats, and what of an answer they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from denv.instruments.probes import CHAT, Probe, Strand, Together, json_of
from denv.observe import observe
from denv.records import Json, Observation, Side

TOP = 20
"""Alternatives asked for at each position."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """A chat's answer, as gates read it."""

    observation: Observation

    @property
    def text(self) -> str:
        """The answer's text, "" where it has none."""
        return self.observation.text or ""

    @property
    def said(self) -> str:
        """All that the model said: what it thought, then its text."""
        return (self.observation.reasoning or "") + self.text

    @property
    def trouble(self) -> str | None:
        """Why there is no usable answer, None where there is one."""
        problem = self.observation.problem
        return None if problem is None else problem.message

    @property
    def prompt_tokens(self) -> int | None:
        """How many tokens of prompt the server counted."""
        usage = self.observation.usage
        return None if usage is None else usage.prompt_tokens

    @property
    def completion_tokens(self) -> int | None:
        """How many tokens the server says that it generated."""
        usage = self.observation.usage
        return None if usage is None else usage.completion_tokens


def user(text: str) -> list[Json]:
    """Give the messages of a single question."""
    return [{"role": "user", "content": text}]


def greedy(
    messages: Sequence[Json], *, max_tokens: int, logprobs: bool = False, **fields: Json
) -> dict[str, Json]:
    """Write the body of a greedy chat; ``fields`` go over what it sets."""
    body: dict[str, Json] = {
        "messages": list(messages),
        "temperature": 0,
        "seed": 0,
        "stream": False,
        "max_tokens": max_tokens,
    }
    if logprobs:
        body |= {"logprobs": True, "top_logprobs": TOP}
    return body | fields


def chat(side: Side, body: Mapping[str, Json], *, repeat: int = 0) -> Strand[Reply]:
    """Ask one chat."""
    exchange = yield Probe(side, CHAT, body, repeat)
    return Reply(observe(exchange))


def both(strand: Callable[[Side], Strand[T]]) -> Strand[dict[Side, T]]:
    """Run a strand for each side, side by side."""
    sides = list(Side)
    results: list[T] = yield Together([strand(side) for side in sides])
    return dict(zip(sides, results, strict=True))


def in_turn(strands: Sequence[Strand[T]]) -> Strand[list[T]]:
    """Run strands one after another."""
    results: list[T] = []
    for strand in strands:
        result = yield from strand
        results.append(result)
    return results


def post(side: Side, path: str, body: Mapping[str, Json]) -> Strand[Mapping[str, Any]]:
    """Ask any other path; what is not an object with status 200 is an empty mapping."""
    exchange = yield Probe(side, path, body)
    document = json_of(exchange)
    return document if isinstance(document, dict) else {}
