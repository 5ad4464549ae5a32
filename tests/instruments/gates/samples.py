"""Answers and positions, written down for tests of single checks."""

from __future__ import annotations

from math import log
from typing import Any

from denv.instruments.gates.asking import Reply
from denv.records import (
    Cause,
    Observation,
    Problem,
    ProblemKind,
    TokenLogprob,
    TopLogprob,
    Usage,
)


def token(text: str, probability: float, **others: float) -> TokenLogprob:
    """Give a position: the chosen token first, and alternatives with their probabilities."""
    listed = {text: probability, **others}
    top = tuple(TopLogprob(one, log(p), one.encode()) for one, p in listed.items())
    return TokenLogprob(text, log(probability), text.encode(), None, top)


def reply(text: str | None = "", *tokens: TokenLogprob, **fields: Any) -> Reply:
    """Give an answer of these tokens; ``prompt`` and ``completion`` are its counts."""
    counts = Usage(fields.pop("prompt", None), fields.pop("completion", None))
    chosen: dict[str, Any] = {"finish_reason": "stop", **fields}
    return Reply(Observation(text=text, logprobs=tokens or None, usage=counts, **chosen))


def spoken(*tokens: TokenLogprob, **fields: Any) -> Reply:
    """Give the answer that the tokens spell."""
    return reply("".join(one.token for one in tokens), *tokens, **fields)


def refused(message: str = "HTTP 400: no") -> Reply:
    """Give a refusal."""
    return Reply(Observation(problem=Problem(ProblemKind.REFUSED, Cause.CONTRACT, message)))


def broken(message: str = "HTTP 503: overloaded") -> Reply:
    """Give an answer that did not come."""
    kind = ProblemKind.SERVER_ERROR
    return Reply(Observation(problem=Problem(kind, Cause.AVAILABILITY, message, retry=True)))
