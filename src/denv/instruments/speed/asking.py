"""What a speed run asks, and the streamed answers that it is fed."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from denv.records import Exchange, Json

T = TypeVar("T")

DRAFT_FIELD = "speculative.n_max"
"""llama.cpp's request field for the longest draft; many builds take it and ignore it."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One streamed chat request to one server, with the draft length where one is asked for."""

    server: str
    text: str
    max_tokens: int
    draft: int | None = None

    def body(self) -> Mapping[str, Json]:
        """Give the request's fields, the model apart."""
        fields: dict[str, Json] = {
            "messages": [{"role": "user", "content": self.text}],
            "temperature": 0,
            "seed": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": self.max_tokens,
        }
        if self.draft is not None:
            fields[DRAFT_FIELD] = self.draft
        return fields


@dataclass(frozen=True, slots=True)
class Mark:
    """The data of one server-sent event, and when it was read, in seconds after the request."""

    at_s: float
    data: str


@dataclass(frozen=True, slots=True)
class Streamed:
    """An answer with its arrival times; ``sent_s`` is on one clock for all answers of a run."""

    exchange: Exchange
    marks: tuple[Mark, ...] = ()
    sent_s: float = 0.0


Strand = Generator[Sequence[Ask], list[Streamed], T]
"""Yields requests that are sent at once, and is sent their answers in the same order."""
