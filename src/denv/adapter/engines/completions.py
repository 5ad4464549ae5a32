"""vLLM, by ``/v1/completions``: text or ids in, ids out."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from denv.adapter.engines import shapes
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

_TOKEN_ID = re.compile(r"token_id:([0-9]{1,9})")
_REASONS: dict[str, Reason] = {"stop": "stop", "length": "length", "abort": "cancelled"}


class VllmCompletions:
    """A vLLM server at ``http``'s address (without ``/v1``); ``model`` None is the one it lists."""

    def __init__(self, http: EngineHttp, *, model: str | None = None) -> None:
        self._http = http
        self._model = model

    async def describe(self) -> EngineInfo:
        """Ask ``/v1/models`` and ``/version``."""
        entry = await self._entry()
        version = shapes.mapping(await self._http.get("/version"), "/version").get("version")
        return EngineInfo(
            name="vllm",
            version=version if isinstance(version, str) else None,
            context_tokens=shapes.count(entry.get("max_model_len")),
            takes=frozenset(("text", "ids")),
        )

    async def complete(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[Token | Ended, None]:
        """Complete a prompt; text is taken as it stands, special tokens in it are read as such."""
        if self._model is None:
            self._model = shapes.text((await self._entry()).get("id"), "a model's id")
        documents = self._http.stream("/v1/completions", request(self._model, prompt, sampling))
        answer = completion(documents, Answer(sampling.logprobs), stop=sampling.stop)
        async with aclosing(answer):
            async for item in answer:
                yield item

    async def close(self) -> None:
        """Close the connections, which cancels what still runs."""
        await self._http.close()

    async def _entry(self) -> Any:
        answer = shapes.mapping(await self._http.get("/v1/models"), "/v1/models")
        entries = [
            shapes.mapping(one, "a model") for one in shapes.listing(answer.get("data"), "data")
        ]
        for entry in entries:
            if self._model in (None, entry.get("id")):
                return entry
        raise EngineFault(f"it does not serve {self._model or 'any model'}")


def request(model: str, prompt: Prompt, sampling: Sampling) -> dict[str, Json]:
    """Write a request in which nothing is left to the model's ``generation_config.json``."""
    body: dict[str, Json] = {
        "model": model,
        "prompt": list(prompt.ids) if prompt.ids is not None else prompt.text,
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "stream": True,
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        "add_special_tokens": False,
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
        "return_token_ids": True,
    }
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if sampling.logprobs is not None:
        body |= {"logprobs": sampling.logprobs, "return_tokens_as_token_ids": True}
    return body


class Answer:
    """Reads the stream of one completion.

    A chunk may hold several tokens with one text; the text then stands with the last of them. The
    counts of the last chunk come after the reason, so the end waits for them. The ids of an answer
    that ends by itself include the end-of-sequence token, whose text is not in it.
    """

    def __init__(self, logprobs: int | None) -> None:
        self._logprobs = logprobs
        self._waiting = Waiting()
        self._reason: Reason | None = None
        self._prompt: int | None = None
        self._cached: int | None = None
        self._completed: int | None = None

    def take(self, document: Json) -> list[Token | Ended]:
        """Read a chunk."""
        chunk = shapes.mapping(document, "a chunk")
        self._count(chunk.get("usage"))
        choices = shapes.listing(chunk.get("choices"), "choices")
        if self._reason is not None:
            return [] if choices else self.close()
        if not choices:
            return []
        choice = shapes.mapping(choices[0], "a choice")
        reason = choice.get("finish_reason")
        if reason is not None:
            if reason not in _REASONS:
                shapes.wrong("its finish_reason is not one of stop, length and abort")
            self._reason = _REASONS[reason]
        return [*self._tokens(choice)]

    def close(self) -> list[Token | Ended]:
        """Give the end, where its reason has come."""
        if self._reason is None:
            return []
        return [*self._waiting.rest(), self.ended(self._reason)]

    def ended(self, reason: Reason, *, stop_text: str | None = None) -> Ended:
        """Give an end with the server's counts."""
        return Ended(reason, self._prompt, self._cached, self._completed, stop_text)

    def _count(self, usage: Json) -> None:
        if not isinstance(usage, dict):
            return
        self._prompt = shapes.count(usage.get("prompt_tokens"))
        self._completed = shapes.count(usage.get("completion_tokens"))
        details = usage.get("prompt_tokens_details")
        if isinstance(details, dict):
            self._cached = shapes.count(details.get("cached_tokens"))

    def _tokens(self, choice: Any) -> list[Token]:
        text = shapes.text(choice.get("text"), "text")
        ids = shapes.ids(choice.get("token_ids"), "token_ids")
        logprobs = self._probed(choice.get("logprobs"), len(ids))
        by_token = choice.get("stop_reason") is None or isinstance(choice["stop_reason"], int)
        if ids and choice.get("finish_reason") == "stop" and by_token:
            ids = ids[:-1]
        if not ids:
            return self._late(text)
        texts = [*[""] * (len(ids) - 1), text]
        return self._waiting.take(
            Token(text, text.encode(), id=one, logprob=logprob, alternatives=alternatives)
            for one, text, (logprob, alternatives) in zip(ids, texts, logprobs, strict=False)
        )

    def _late(self, text: str) -> list[Token]:
        tokens = self._waiting.late(text) if text else []
        if tokens is None:
            shapes.wrong("a text came without token_ids")
        return tokens

    def _probed(
        self, given: Json, count: int
    ) -> list[tuple[float | None, tuple[Alternative, ...]]]:
        if self._logprobs is None or count == 0:
            return [(None, ())] * count
        if given is None:
            raise EngineFault("it gives no logprobs")
        logprobs = shapes.mapping(given, "logprobs")
        own = shapes.listing(logprobs.get("token_logprobs"), "token_logprobs")
        tops = shapes.listing(logprobs.get("top_logprobs") or [{}] * count, "top_logprobs")
        if len(own) != count or len(tops) != count:
            shapes.wrong("it has not one logprob a token")
        return [
            (shapes.logprob(one), _alternatives(top)[: self._logprobs])
            for one, top in zip(own, tops, strict=True)
        ]


def _alternatives(top: Json) -> tuple[Alternative, ...]:
    """Read a place's alternatives, the likeliest first; the chosen token may be one more."""
    found = []
    for name, value in shapes.mapping(top or {}, "a place's alternatives").items():
        match = _TOKEN_ID.fullmatch(name)
        if match is None:
            shapes.wrong("an alternative has no token id")
        found.append(Alternative(None, shapes.logprob(value), id=int(match[1])))
    return tuple(sorted(found, key=lambda one: -one.logprob))
