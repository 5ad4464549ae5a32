"""Streams whose arrival times are written down, and a server of known speeds without a socket."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from denv.instruments.speed import Ask, Mark, Streamed
from denv.records import Exchange


def streamed(
    times: Sequence[float],
    *,
    usage: dict[str, Any] | None = None,
    timings: dict[str, Any] | None = None,
    finish_s: float | None = None,
    finish: str = "length",
    sent_s: float = 0.0,
    reasoning: bool = False,
) -> Streamed:
    """Write a stream with one piece of text at each of these times."""
    name = "reasoning_content" if reasoning else "content"
    events = [(times[0] if times else 0.0, chunk({"role": "assistant", "content": None}))]
    events += [(at_s, chunk({name: "word "})) for at_s in times]
    end_s = finish_s if finish_s is not None else (times[-1] if times else 0.0)
    events.append((end_s, chunk({}, finish)))
    last: dict[str, Any] = {"choices": [], "object": "chat.completion.chunk"}
    if usage is not None:
        last["usage"] = usage
    if timings is not None:
        last["timings"] = timings
    texts = [(at_s, json.dumps(event)) for at_s, event in [*events, (end_s, last)]]
    texts.append((end_s, "[DONE]"))
    body = "".join(f"data: {text}\n\n" for _, text in texts).encode()
    marks = tuple(Mark(at_s, text) for at_s, text in texts)
    return Streamed(Exchange(status=200, body=body, streamed=True), marks, sent_s)


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """Write one chunk of a stream."""
    return {
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def refused(message: str, status: int = 400) -> Streamed:
    """Write an error."""
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
    return Streamed(Exchange(status=status, body=body, streamed=True))


@dataclass
class Machine:
    """A server of known speeds, which makes a token of each word.

    It prefills ``prefill`` tokens a second, and one evaluation takes ``evaluation_s``. It drafts
    ``draft`` tokens a time, all of which are accepted, and takes the request's length where it
    ``obeys``. Beside ``slots`` streams it is slower in proportion. ``template`` words are added
    to each prompt; ``context`` is the longest one. It remembers the last prompt.
    """

    prefill: float = 1000.0
    evaluation_s: float = 0.02
    template: int = 10
    context: int = 10**9
    slots: int = 1
    draft: int = 0
    obeys: bool = True
    tells: bool = True
    caches: bool = True
    cached: str = ""
    asked: list[Ask] = field(default_factory=list)
    now: float = 0.0

    def answer(self, asks: Sequence[Ask]) -> list[Streamed]:
        answers = [self._one(ask, slower=max(1.0, len(asks) / self.slots)) for ask in asks]
        self.now += 100.0
        return answers

    def _one(self, ask: Ask, slower: float) -> Streamed:
        self.asked.append(ask)
        words = len(ask.text.split()) + self.template
        if words > self.context:
            return refused(f"request ({words} tokens) exceeds the available context size")
        kept = 0
        if self.caches:
            pairs = zip(self.cached.split(), ask.text.split(), strict=False)
            kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            self.cached = ask.text
        first_s = (words - kept) / self.prefill + self.evaluation_s * slower
        return self._stream(ask, words, kept, first_s=first_s, slower=slower)

    def _stream(
        self, ask: Ask, words: int, kept: int, *, first_s: float, slower: float
    ) -> Streamed:
        length = ask.draft if ask.draft is not None and self.obeys else self.draft
        times, drafted = [first_s], 0
        while len(times) < ask.max_tokens:
            at_s = times[-1] + self.evaluation_s * slower
            taken = min(length, ask.max_tokens - len(times) - 1)
            drafted += taken
            times += [at_s] * (1 + taken)
        n = len(times)
        usage: dict[str, Any] = {"prompt_tokens": words, "completion_tokens": n}
        timings = None
        if self.tells:
            usage["prompt_tokens_details"] = {"cached_tokens": kept}
            rate = (n - 1) / (times[-1] - first_s) if n > 1 else 0.0
            timings = {
                "cache_n": kept,
                "prompt_n": words - kept,
                "prompt_per_second": self.prefill,
                "predicted_n": n,
                "predicted_per_second": rate,
            }
            if drafted:
                timings |= {"draft_n": drafted, "draft_n_accepted": drafted}
        return streamed(times, usage=usage, timings=timings, sent_s=self.now)
