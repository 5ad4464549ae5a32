"""An engine that says what a test has written down, and tells what became of its requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from denv.adapter.engines.protocol import (
    Alternative,
    Ended,
    Engine,
    EngineFault,
    EngineInfo,
    Prompt,
    Sampling,
    Token,
)

Step = Token | Ended | EngineFault | float

STOP = Ended("stop", prompt_tokens=20, cached_tokens=4, completion_tokens=5)
INFO = EngineInfo("scripted", "1", 4096, frozenset(("text",)))
IDS = EngineInfo("scripted", "1", 4096, frozenset(("text", "ids")))


@dataclass
class Scripted(Engine):
    """Plays ``steps`` for every request; a number waits so many seconds.

    ``asked`` is what came, ``ended`` how each request was left: "whole", "fault" or "cancelled".
    """

    steps: Sequence[Step] = ()
    info: EngineInfo = INFO
    fault: EngineFault | None = None
    asked: list[tuple[Prompt, Sampling]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def describe(self) -> EngineInfo:
        if self.fault is not None:
            raise self.fault
        return self.info

    async def complete(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[Token | Ended, None]:
        self.asked.append((prompt, sampling))
        how = "cancelled"
        try:
            for step in self.steps:
                if isinstance(step, EngineFault):
                    how = "fault"
                    raise step
                if isinstance(step, float):
                    await asyncio.sleep(step)
                    continue
                if isinstance(step, Ended):
                    how = "whole"
                yield step
            how = "whole"
        finally:
            self.ended.append(how)
            self.left.set()

    async def close(self) -> None:
        return


def said(pieces: Iterable[bytes | str], *, end: Ended | None = STOP) -> list[Step]:
    """Make tokens of pieces of bytes, whatever characters they cut, and an end."""
    tokens: list[Step] = [token(piece) for piece in pieces]
    return tokens if end is None else [*tokens, end]


def token(piece: bytes | str) -> Token:
    raw = piece.encode() if isinstance(piece, str) else piece
    return Token(text=raw.decode("utf-8", "ignore"), bytes=raw)


def cut(raw: bytes, *places: int) -> list[bytes]:
    """Cut bytes at places."""
    edges = [0, *sorted(places), len(raw)]
    return [raw[a:b] for a, b in pairwise(edges)]


def likely(id_: int, raw: bytes, *others: tuple[int, float], logprob: float = -0.5) -> Token:
    """Make a token with its id, its logprob and alternatives."""
    alternatives = tuple(Alternative("?", value, None, other) for other, value in others)
    return Token(raw.decode("utf-8", "ignore"), raw, id_, logprob, alternatives)
