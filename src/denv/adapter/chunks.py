"""What an engine gives → what the recipe's processor takes."""

from __future__ import annotations

import asyncio
import codecs
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from deepseek_recipe import InferenceChunk, InferenceFinishReason

from denv.adapter.engines.protocol import Ended, Engine, EngineFault, Token
from denv.adapter.refusals import TIMEOUT, RefusedError, refusal
from denv.adapter.requests import Asked
from denv.adapter.settings import Limits
from denv.adapter.vocabulary import Vocabulary, is_text

LEAST_LOGPROB = -9999.0
"""What the API writes for a token that cannot come; JSON has no infinity."""

_REASONS = {"stop": InferenceFinishReason.Stop, "length": InferenceFinishReason.Length}


async def completion(
    engine: Engine, asked: Asked, limits: Limits
) -> AsyncGenerator[Token | Ended, None]:
    """Give what the engine gives, each within its time, and the end for certain.

    Closing this closes the engine's request.

    Raises
    ------
    EngineFault
        The engine's own, or it ended without saying so.
    RefusedError
        504: a token or the whole took too long.
    """
    deadline = time.monotonic() + limits.total
    wait_s, what = limits.first_token, "first"
    async with aclosing(engine.complete(asked.prompt, asked.sampling)) as given:
        while True:
            item = await _next(given, min(wait_s, deadline - time.monotonic()), what)
            if isinstance(item, Ended) and item.reason == "cancelled":
                raise EngineFault("it gave the request up", retry=True)
            yield item
            if isinstance(item, Ended):
                return
            wait_s, what = limits.next_token, "next"


async def _next(given: AsyncIterator[Token | Ended], wait_s: float, what: str) -> Token | Ended:
    try:
        async with asyncio.timeout(max(wait_s, 0.0)):
            return await anext(given)
    except StopAsyncIteration:
        raise EngineFault("its answer broke off") from None
    except TimeoutError:
        text = f"the engine's {what} token did not come in time"
        raise RefusedError(refusal(504, text, kind=TIMEOUT)) from None


class Chunks:
    """Turns one completion's tokens into the recipe's chunks.

    With a ``vocabulary`` the recipe decodes token ids itself, which is held to the engine's own
    bytes; tokens without ids, and all of them without a vocabulary, are given as text, whose split
    characters wait here for their other bytes. Only ids can carry logprobs.
    """

    def __init__(self, vocabulary: Vocabulary | None, *, logprobs: int | None) -> None:
        self._vocabulary = vocabulary
        self._logprobs = logprobs
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._counted = 0
        self._awaited = b""

    def token(self, token: Token) -> list[InferenceChunk]:
        """Give a token's chunks, none while a character of it is not whole.

        Raises
        ------
        EngineFault
            Logprobs were asked for and are missing, or the ids are of another vocabulary.
        """
        if self._vocabulary is None or token.id is None:
            if self._logprobs is not None and token.count == 1:
                raise EngineFault("it gives no token ids, which logprobs need")
            return self._text(self._decoder.decode(token.bytes), tokens=token.count)
        self._check(self._vocabulary, token.id, token.bytes)
        before = self._text(self._decoder.decode(b"", final=True), tokens=0)
        logprobs = None if self._logprobs is None else [self._logprob(token, self._logprobs)]
        return [*before, InferenceChunk.tokens([token.id], logprobs)]

    def end(self, ended: Ended) -> list[InferenceChunk]:
        """Give the chunks that close a completion."""
        rest = self._text(self._decoder.decode(b"", final=True), tokens=0)
        if self._counted:
            rest.append(InferenceChunk.text("", self._counted))
        return [*rest, InferenceChunk.finish(_REASONS[ended.reason])]

    def _text(self, text: str, *, tokens: int) -> list[InferenceChunk]:
        self._counted += tokens
        if not text:
            return []
        counted, self._counted = self._counted, 0
        return [InferenceChunk.text(text, counted)]

    def _check(self, vocabulary: Vocabulary, id_: int, raw: bytes) -> None:
        """Refuse an id that stands for other bytes than the engine gives.

        A text may be that of several ids, the last of which brings it: of a split character, of
        tokens that came at once, and of a mark whose own text the engine keeps to itself.
        """
        known = vocabulary.get(id_)
        if known is None:
            raise EngineFault("its tokens are not of the tokenizer that was given")
        self._awaited += known
        if raw:
            awaited, self._awaited = self._awaited, b""
            if is_text(awaited) and not awaited.endswith(raw):
                raise EngineFault("its tokens are not of the tokenizer that was given")

    def _logprob(self, token: Token, most: int) -> tuple[float, list[tuple[int, float]]]:
        known = [(one.id, _finite(one.logprob)) for one in token.alternatives]
        alternatives = [(id_, logprob) for id_, logprob in known if id_ is not None]
        if token.logprob is None or len(alternatives) < len(known):
            raise EngineFault("it gives no logprobs with token ids")
        return _finite(token.logprob), alternatives[:most]


def _finite(logprob: float) -> float:
    return logprob if math.isfinite(logprob) else LEAST_LOGPROB
