"""Shapes of requests: which parameters traffic sets together, and how private cases take them on.

A table of shapes counts requests and holds nothing of any one of them::

    {"schema": "denv.shapes/1", "requests": 41234, "least": 20, "folded": 310, "cells": [
      {"stream": true, "tools": false, "response_format": "unset", "max_tokens": "1024",
       "temperature": "set", "top_p": "unset", "seed": "unset", "logprobs": false,
       "messages": "4", "prompt": "4096", "count": 812}, …]}

Of these a private case takes on ``stream`` and ``max_tokens`` alone: they change how an answer
comes and where it would be cut, not what is right. Temperature, top-p, seed, tools and format
stay the case's own, since another one can make a right answer wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol

from denv import strictjson
from denv.errors import UsageError

SCHEMA = "denv.shapes/1"

UNSET, MORE = "unset", "more"

TOKENS = (16, 64, 256, 1024, 4096, 16384)
"""Upper ends of the ranges of ``max_tokens``; what is above the last is called ``MORE``."""

MOST_CELLS = 10_000


class Rng(Protocol):
    """What draws: a ``random.Random``."""

    def random(self) -> float:
        """Give a number from 0 up to 1, which is not reached."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The parameters of one case: whether it streams, and the ``max_tokens`` it should allow."""

    stream: bool
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class Shapes:
    """What is drawn from: how often each pair of the two parameters was counted."""

    pairs: Sequence[tuple[Drawn, int]]
    text: str

    @classmethod
    def from_json(cls, text: str) -> Shapes:
        """Read a table of shapes.

        Raises
        ------
        UsageError
            It is no such table.
        """
        try:
            plain = strictjson.loads(text)
        except strictjson.StrictJsonError as error:
            raise UsageError(f"no table of shapes: {error}") from None
        if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
            raise UsageError(f"no table of shapes of the form {SCHEMA}")
        cells = plain.get("cells")
        if not isinstance(cells, list) or len(cells) > MOST_CELLS:
            raise UsageError(f"cells: a list of at most {MOST_CELLS} is needed")
        pairs: dict[Drawn, int] = {}
        for number, cell in enumerate(cells):
            drawn, count = _pair(cell, number)
            pairs[drawn] = pairs.get(drawn, 0) + count
        if not pairs:
            raise UsageError("the table of shapes has no cell: too few requests were counted")
        return cls(tuple(pairs.items()), text)

    def draw(self, rng: Rng) -> Drawn:
        """Draw the parameters of one case, each as often as traffic has it."""
        ends = list(accumulate(count for _, count in self.pairs))
        at = rng.random() * ends[-1]
        return next(
            (drawn for (drawn, _), end in zip(self.pairs, ends, strict=True) if at < end),
            self.pairs[-1][0],
        )


def _pair(cell: Any, number: int) -> tuple[Drawn, int]:
    where = f"cells[{number}]"
    if not isinstance(cell, Mapping):
        raise UsageError(f"{where} is not an object")
    stream, tokens, count = cell.get("stream"), cell.get("max_tokens"), cell.get("count")
    if not isinstance(stream, bool):
        raise UsageError(f"{where}.stream is neither true nor false")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise UsageError(f"{where}.count is no number from 1 on")
    names = {UNSET: None, MORE: TOKENS[-1], **{str(end): end for end in TOKENS}}
    if not isinstance(tokens, str) or tokens not in names:
        raise UsageError(f"{where}.max_tokens is none of {', '.join(names)}")
    return Drawn(stream, names[tokens]), count
