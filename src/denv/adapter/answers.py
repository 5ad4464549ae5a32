"""An engine's completion → one API's answer, whole or event by event."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

import orjson
from deepseek_recipe import InferenceChunk, PromptUsage, StreamProcessor, Tokenizer

from denv.adapter.chunks import Chunks, completion
from denv.adapter.engines.protocol import Ended, Engine, EngineFault, Token
from denv.adapter.formats import Event, Response
from denv.adapter.requests import Asked
from denv.adapter.settings import Limits
from denv.adapter.usage import PromptCount, put_right
from denv.adapter.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Writer:
    """Asks one engine and writes its answers.

    ``tokenizer`` decodes the engine's token ids, and ``vocabulary`` tells whether they are its own.
    """

    engine: Engine
    limits: Limits
    tokenizer: Tokenizer | None
    vocabulary: Vocabulary | None
    fingerprint: str

    async def events(self, asked: Asked) -> AsyncGenerator[tuple[str | None, bytes], None]:
        """Give an answer's events as they come: a name where the API has one, and JSON.

        The first comes once the engine has given something, so that what it refuses can still be
        refused. Closing this cancels the engine's request.

        Raises
        ------
        EngineFault, RefusedError
            At any point.
        """
        kind, answer = asked.format.response, self._begin(asked)
        async with aclosing(self._written(asked, answer)) as written:
            async for event in written:
                yield kind.sse_event_name(cast(Any, event)), answer.put_right(event.to_json())
        done = kind.sse_done_data()
        if done is not None:
            yield None, done.encode()

    async def whole(self, asked: Asked) -> bytes:
        """Give an answer in one piece.

        Raises
        ------
        EngineFault, RefusedError
            Nothing of the answer is given then.
        """
        model, answer = asked.converted.model, self._begin(asked)
        response: Response = asked.format.response(asked.id, model, asked.created, 0, 0)
        async with aclosing(self._written(asked, answer)) as written:
            async for event in written:
                response.accumulate(cast(Any, event))
        return answer.put_right(response.to_json())

    def _begin(self, asked: Asked) -> _Answer:
        return _Answer(asked, self)

    async def _written(self, asked: Asked, answer: _Answer) -> AsyncGenerator[Event, None]:
        async with aclosing(completion(self.engine, asked, self.limits)) as given:
            async for item in given:
                for event in answer.take(item):
                    yield event
                if answer.finished:
                    return


class _Answer:
    """One answer that is being written."""

    def __init__(self, asked: Asked, writer: Writer) -> None:
        conversation = asked.converted.conversation
        self._fingerprint = writer.fingerprint
        self._chunks = Chunks(writer.vocabulary, logprobs=asked.sampling.logprobs)
        self._processor = StreamProcessor(
            asked.converted.generator, conversation.parsing_options, writer.tokenizer
        )
        # Without a tokenizer the recipe counts no tokens of reasoning, and says 0.
        self._reasoning = writer.tokenizer is not None or not asked.thinking
        self._count = PromptCount(asked.prompt_tokens)
        self._begun = False

    @property
    def finished(self) -> bool:
        """Whether nothing more is wanted of the engine."""
        return self._processor.finished

    def take(self, item: Token | Ended) -> list[Event]:
        """Give the events that one thing of the engine's makes."""
        chunks = [] if self._begun else [self._ready()]
        self._begun = True
        if isinstance(item, Token):
            chunks += self._chunks.token(item)
        else:
            told = self._count.tokens if item.prompt_tokens is None else item.prompt_tokens
            self._count = PromptCount(told, item.cached_tokens)
            chunks += self._chunks.end(item)
        return [event for chunk in chunks for event in self._push(chunk)]

    def _ready(self) -> InferenceChunk:
        usage = PromptUsage(prompt_tokens=self._count.tokens or 0)
        return InferenceChunk.ready(prompt_usage=usage, system_fingerprint=self._fingerprint)

    def put_right(self, written: str) -> bytes:
        """Correct what the recipe could not know; most events hold no counts and stay as is."""
        if '"usage":{' not in written:
            return written.encode()
        document = orjson.loads(written)
        put_right(document, self._count, reasoning=self._reasoning)
        return orjson.dumps(document)

    def _push(self, chunk: InferenceChunk) -> list[Event]:
        if self._processor.finished:
            return []
        try:
            return self._processor.push(chunk)
        except RuntimeError:
            raise EngineFault("its tokens are not of the tokenizer that was given") from None
