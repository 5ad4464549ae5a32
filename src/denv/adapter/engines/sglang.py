"""SGLang, by its own ``/generate``: text or ids in, ids out."""

from __future__ import annotations

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

_REASONS: dict[str, Reason] = {"stop": "stop", "length": "length"}


class Sglang:
    """An SGLang server at ``http``'s address, which serves one model.

    Its OpenAI-compatible completions give no token ids, its own endpoint does. Text goes through
    its tokenizer, which may put a beginning-of-sequence token before it: ids are exact.
    """

    def __init__(self, http: EngineHttp) -> None:
        self._http = http

    async def describe(self) -> EngineInfo:
        """Ask ``/server_info``, by its older name where it has none, and ``/v1/models``."""
        info = shapes.mapping(await self._info(), "/server_info")
        models = shapes.mapping(await self._http.get("/v1/models"), "/v1/models")
        served = shapes.listing(models.get("data"), "data")
        model = shapes.mapping(served[0] if served else None, "a model")
        version = info.get("version")
        return EngineInfo(
            name="sglang",
            version=version if isinstance(version, str) else None,
            context_tokens=shapes.count(model.get("max_model_len")),
            takes=frozenset(("text", "ids")),
            deterministic=info.get("enable_deterministic_inference") is True,
        )

    async def complete(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[Token | Ended, None]:
        """Complete a prompt."""
        documents = self._http.stream("/generate", request(prompt, sampling))
        answer = completion(documents, Answer(sampling.logprobs), stop=sampling.stop)
        async with aclosing(answer):
            async for item in answer:
                yield item

    async def close(self) -> None:
        """Close the connections, which cancels what still runs."""
        await self._http.close()

    async def _info(self) -> Json:
        try:
            return await self._http.get("/server_info")
        except EngineFault as fault:
            if fault.status != 404:
                raise
            return await self._http.get("/get_server_info")


def request(prompt: Prompt, sampling: Sampling) -> dict[str, Json]:
    """Write a request in which nothing is left to the model's own sampling defaults."""
    chosen: dict[str, Json] = {
        "max_new_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": -1,
        "min_p": 0.0,
        "frequency_penalty": 0.0,
        "presence_penalty": 0.0,
        "repetition_penalty": 1.0,
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
    }
    if sampling.seed is not None:
        chosen["sampling_seed"] = sampling.seed
    body: dict[str, Json] = {"sampling_params": chosen, "stream": True}
    body |= {"text": prompt.text} if prompt.ids is None else {"input_ids": list(prompt.ids)}
    if sampling.logprobs is not None:
        body |= {
            "return_logprob": True,
            "top_logprobs_num": sampling.logprobs,
            "logprob_start_len": -1,
            "return_text_in_logprobs": True,
        }
    return body


class Answer:
    """Reads the stream of one ``/generate``: each event holds all that has come so far.

    The text may lag behind the ids, where a character is not whole yet.
    """

    def __init__(self, logprobs: int | None) -> None:
        self._logprobs = logprobs
        self._waiting = Waiting()
        self._text = ""
        self._ids = 0
        self._prompt: int | None = None
        self._cached: int | None = None
        self._completed: int | None = None

    def take(self, document: Json) -> list[Token | Ended]:
        """Read an event."""
        event = shapes.mapping(document, "an event")
        meta = shapes.mapping(event.get("meta_info"), "meta_info")
        self._prompt = shapes.count(meta.get("prompt_tokens"))
        self._cached = shapes.count(meta.get("cached_tokens"))
        self._completed = shapes.count(meta.get("completion_tokens"))
        reason = meta.get("finish_reason")
        if reason is None:
            return [*self._tokens(event, meta, None)]
        reason = shapes.mapping(reason, "finish_reason")
        if reason.get("type") == "abort":
            raise _aborted(reason)
        if reason.get("type") not in _REASONS:
            shapes.wrong("its finish_reason is not one of stop, length and abort")
        tokens = self._tokens(event, meta, reason.get("matched"))
        return [*tokens, *self._waiting.rest(), self.ended(_REASONS[reason["type"]])]

    def close(self) -> list[Token | Ended]:
        """Give nothing: an answer that ends has said so."""
        return []

    def ended(self, reason: Reason, *, stop_text: str | None = None) -> Ended:
        """Give an end with the server's counts."""
        return Ended(reason, self._prompt, self._cached, self._completed, stop_text)

    def _tokens(self, event: Any, meta: Any, matched: Json) -> list[Token]:
        ids = shapes.ids(event.get("output_ids"), "output_ids")
        whole = event.get("text")
        # Newer servers leave out what has not changed, and send the whole with the last event.
        text = self._text if whole is None else shapes.text(whole, "text")
        if not text.startswith(self._text) or len(ids) < self._ids:
            raise EngineFault(
                "its events do not hold all that came before: start it without --stream-output"
                " and --incremental-streaming-output"
            )
        new, self._text = text[len(self._text) :], text
        first, self._ids = self._ids, len(ids)
        if type(matched) is int and ids[-1:] == [matched]:
            ids.pop()
        places = range(first, len(ids))
        if not places:
            return self._late(new)
        return self._waiting.take(
            self._token(meta, ids[place], place, text=new if place == places[-1] else "")
            for place in places
        )

    def _late(self, text: str) -> list[Token]:
        tokens = self._waiting.late(text) if text else []
        if tokens is None:
            shapes.wrong("a text came without output_ids")
        return tokens

    def _token(self, meta: Any, one: int, place: int, *, text: str) -> Token:
        if self._logprobs is None:
            return Token(text, text.encode(), id=one)
        own = meta.get("output_token_logprobs")
        if not own:
            raise EngineFault("it gives no logprobs")
        chosen = _entry(shapes.listing(own, "output_token_logprobs"), place)
        if chosen.id != one:
            shapes.wrong("its logprobs are not those of its ids")
        tops: list[Any] = []
        if self._logprobs:
            listed = shapes.listing(meta.get("output_top_logprobs"), "output_top_logprobs")
            if place >= len(listed):
                raise EngineFault("it gives no alternatives")
            tops = shapes.listing(listed[place] or [], "a place's alternatives")
        return Token(
            text,
            text.encode(),
            id=one,
            logprob=chosen.logprob,
            alternatives=tuple(_entry(tops, place) for place in range(len(tops))),
        )


def _entry(entries: list[Any], place: int) -> Alternative:
    """Read ``[logprob, id, text]``."""
    entry = shapes.listing(entries[place] if place < len(entries) else None, "a logprob")
    if len(entry) < 2:
        shapes.wrong("a logprob is not of the form [logprob, id, text]")
    text = entry[2] if len(entry) > 2 else None
    return Alternative(
        None if text is None else shapes.text(text, "token"),
        shapes.logprob(entry[0]),
        id=shapes.whole(entry[1], "id"),
    )


def _aborted(reason: Any) -> EngineFault:
    status = reason.get("status_code")
    if isinstance(status, int) and 400 <= status <= 599:
        return shapes.of_error(reason, status=status)
    return EngineFault("it gave the request up", retry=True)
