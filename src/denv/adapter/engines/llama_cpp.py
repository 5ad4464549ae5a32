"""llama.cpp's own server, by ``/completion``: ids in, tokens with ids out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from denv.adapter.engines import lengths, shapes
from denv.adapter.engines.course import completion
from denv.adapter.engines.http import EngineHttp
from denv.adapter.engines.protocol import (
    Alternative,
    Ended,
    EngineFault,
    EngineInfo,
    Prompt,
    Reason,
    Sampling,
    Token,
)
from denv.adapter.engines.waiting import Waiting
from denv.records import Json

RANDOM_SEED = 0xFFFF_FFFF
"""The seed that llama.cpp reads as none; all others are below it."""

_REASONS: dict[str, Reason] = {"eos": "stop", "word": "stop", "limit": "length"}


class LlamaCpp:
    """A llama.cpp server at ``http``'s address.

    ``special`` are the special tokens that it writes out: it leaves them away otherwise, unless it
    was started with ``--special``. With ``cache_prompt`` it reuses the beginning of prompts, which
    moves logprobs a little.
    """

    def __init__(
        self, http: EngineHttp, *, special: Sequence[str] = (), cache_prompt: bool = True
    ) -> None:
        self._http = http
        self._special = tuple(special)
        self._cache_prompt = cache_prompt
        self._context: int | None = None

    async def describe(self) -> EngineInfo:
        """Ask ``/props``; a server may have it closed, which is a fault that says so."""
        props = shapes.mapping(await self._http.get("/props"), "/props")
        settings = shapes.mapping(props.get("default_generation_settings"), "/props")
        build = props.get("build_info")
        self._context = shapes.count(settings.get("n_ctx"))
        return EngineInfo(
            name="llama.cpp",
            version=build if isinstance(build, str) else None,
            context_tokens=self._context,
            takes=frozenset(("text", "ids")),
            deterministic=not self._cache_prompt,
        )

    async def complete(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[Token | Ended, None]:
        """Complete a prompt; text is tokenized by the server's ``/tokenize`` first.

        So the text is the whole prompt, as it stands: ``/completion`` itself would put the model's
        beginning-of-sequence token before it.
        """
        ids = prompt.ids if prompt.ids is not None else await self._tokenize(prompt.text or "")
        body = request(ids, sampling, special=self._special, cache_prompt=self._cache_prompt)
        body |= {"n_probs": 0 if sampling.logprobs is None else max(sampling.logprobs, 1)}
        documents = self._http.stream("/completion", body)
        answer = completion(documents, Answer(sampling.logprobs), stop=sampling.stop)
        async with aclosing(answer):
            async for item in answer:
                yield item

    async def close(self) -> None:
        """Close the connections, which cancels what still runs."""
        await self._http.close()

    async def _tokenize(self, text: str) -> tuple[int, ...]:
        """Tokenize; the server takes seconds for a megabyte, and cannot be stopped."""
        context = self._context
        first = None if context is None else lengths.beginning(text, context=context)
        if context is not None and first is not None:
            tokens = len(await self._ids_of(first))
            if lengths.cannot_fit(tokens, context=context):
                raise EngineFault(lengths.too_long(context), status=400)
        return await self._ids_of(text)

    async def _ids_of(self, text: str) -> tuple[int, ...]:
        body = {"content": text, "add_special": False, "parse_special": True}
        answer = shapes.mapping(await self._http.post("/tokenize", body), "/tokenize")
        return tuple(shapes.ids(answer.get("tokens"), "tokens"))


def request(
    ids: Sequence[int], sampling: Sampling, *, special: Sequence[str], cache_prompt: bool
) -> dict[str, Json]:
    """Write a request in which nothing is left to the server's own settings.

    Temperature comes before ``top_p``, as in other engines; llama.cpp's own order is the reverse,
    and it cuts by ``top_k`` and ``min_p`` where nothing says otherwise.
    """
    seed = RANDOM_SEED if sampling.seed is None else sampling.seed % RANDOM_SEED
    return {
        "prompt": list(ids),
        "n_predict": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "samplers": ["temperature", "top_p"],
        "repeat_penalty": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "seed": seed,
        "stream": True,
        "return_tokens": True,
        "post_sampling_probs": False,
        "timings_per_token": bool(sampling.stop),  # else the last event alone has them
        "preserved_tokens": list(special),
        "cache_prompt": cache_prompt,
    }


class Answer:
    """Reads the stream of one ``/completion``.

    The server waits until a character is whole and then tells of its last token alone, with all its
    bytes; ``tokens_predicted`` gives away how many there were, and their ids and logprobs are lost.
    The end-of-sequence token comes without text, like any special token that is not written out, so
    a token without text waits until it is known what came next.
    """

    def __init__(self, logprobs: int | None) -> None:
        self._logprobs = logprobs
        self._waiting = Waiting()
        self._seen = 0
        self._prompt: int | None = None
        self._cached: int | None = None

    def take(self, document: Json) -> list[Token | Ended]:
        """Read an event."""
        event = shapes.mapping(document, "an event")
        self._prompt = shapes.count(event.get("tokens_evaluated"))
        timings = event.get("timings")
        if isinstance(timings, dict):
            self._cached = shapes.count(timings.get("cache_n"))
        if event.get("stop") is True:
            return self._end(event)
        predicted = shapes.whole(event.get("tokens_predicted"), "tokens_predicted")
        token = self._token(event, predicted - self._seen)
        self._seen = predicted
        return [*self._waiting.take([token])]

    def close(self) -> list[Token | Ended]:
        """Give nothing: an answer that ends has said so."""
        return []

    def ended(self, reason: Reason, *, stop_text: str | None = None) -> Ended:
        """Give an end with the server's counts."""
        return Ended(reason, self._prompt, self._cached, self._seen, stop_text)

    def _end(self, event: Any) -> list[Token | Ended]:
        kind = event.get("stop_type")
        if kind not in _REASONS:
            shapes.wrong("its stop_type is not one of eos, word and limit")
        self._seen = shapes.whole(event.get("tokens_predicted"), "tokens_predicted")
        waited = self._waiting.rest()
        if kind == "eos":
            waited = waited[:-1]
        return [*waited, self.ended(_REASONS[kind])]

    def _token(self, event: Any, count: int) -> Token:
        text = shapes.text(event.get("content"), "content")
        if count != 1:
            if count < 1:
                shapes.wrong("tokens_predicted does not grow")
            return Token(text, text.encode(), count=count)
        ids = shapes.ids(event.get("tokens"), "tokens")
        if len(ids) != 1:
            shapes.wrong("an event has not one token")
        if self._logprobs is None:
            return Token(text, text.encode(), id=ids[0])
        return probed(event.get("completion_probabilities"), text, top=self._logprobs)


def probed(probabilities: Json, text: str, *, top: int) -> Token:
    """Read a token with its logprob and alternatives.

    Raises
    ------
    EngineFault
        There are none, though they were asked for.
    """
    listed = shapes.listing(probabilities or [], "completion_probabilities")
    if len(listed) != 1:
        raise EngineFault("it gives no logprobs")
    entry = shapes.mapping(listed[0], "a logprob")
    given = shapes.raw_bytes(entry.get("bytes"))
    found = shapes.listing(entry.get("top_logprobs", []), "top_logprobs")
    alternatives = tuple(alternative(one) for one in found[:top])
    return Token(
        text,
        text.encode() if given is None else given,
        id=shapes.whole(entry.get("id"), "id"),
        logprob=shapes.logprob(entry.get("logprob")),
        alternatives=alternatives,
    )


def alternative(entry: Json) -> Alternative:
    """Read one of a place's tokens."""
    one = shapes.mapping(entry, "a logprob")
    return Alternative(
        token=shapes.text(one.get("token"), "token"),
        logprob=shapes.logprob(one.get("logprob")),
        bytes=shapes.raw_bytes(one.get("bytes")),
        id=shapes.whole(one.get("id"), "id"),
    )
