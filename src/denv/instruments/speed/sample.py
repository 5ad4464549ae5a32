"""One streamed answer → what it says of speed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.speed.asking import Mark, Streamed
from denv.observe import observe
from denv.records import Json, Usage
from denv.strictjson import StrictJsonError, loads

LEAST_TOKENS = 8
"""Fewer tokens than this give no rate."""

LEAST_ARRIVALS = 3
"""A stream that comes in fewer pieces was held back on its way, and shows no rate."""

LEAST_PREFILLED = 32
"""Below so many new prompt tokens the time to the first one is all overhead."""

MOST_TOKENS = 10**9
"""More tokens than this, or more of them a second, no server has: such a number is not told."""

_TEXTS = ("content", "reasoning_content", "reasoning", "thinking", "refusal")


@dataclass(frozen=True, slots=True)
class ServerTimings:
    """Rates that the server itself tells (llama.cpp's ``timings``), in tokens per second."""

    prefill_tokens_per_s: float | None
    tokens_per_s: float | None


@dataclass(frozen=True, slots=True)
class Sample:
    """What one answer shows. Times are seconds after the request; None is what is not known.

    ``answered_s`` is when the first token, or the end without a visible one, arrived.
    ``first_s`` is the first arrival of text, ``last_s`` that of the end, which the end token has
    cost an evaluation too; ``arrivals`` counts the distinct times of text. ``drafted`` and
    ``accepted`` are draft tokens, 0 where the server tells its timings and no drafts. ``hidden``
    says that thoughts were counted but not streamed.
    """

    problem: str | None = None
    status: int | None = None
    retried: int = 0
    sent_s: float = 0.0
    answered_s: float | None = None
    first_s: float | None = None
    last_s: float | None = None
    arrivals: int = 0
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    tokens: int | None = None
    counted_by: str = "usage"
    drafted: int | None = None
    accepted: int | None = None
    hidden: bool = False
    server: ServerTimings | None = None

    @property
    def why_no_rate(self) -> str | None:
        """Say why there is no decode rate, None where there is one."""
        if self.problem is not None:
            return self.problem
        if self.tokens is None or self.tokens < LEAST_TOKENS:
            return f"it stopped after {self.tokens or 0} tokens; a rate needs {LEAST_TOKENS}"
        if self.arrivals < LEAST_ARRIVALS:
            return f"the stream came in {self.arrivals} pieces: something holds it back"
        return None

    @property
    def decode_s(self) -> float | None:
        """Give the seconds from the first token to the last, where they make a rate."""
        if self.why_no_rate is not None or self.first_s is None or self.last_s is None:
            return None
        return self.last_s - self.first_s

    @property
    def tokens_per_s(self) -> float | None:
        """Give the decode rate: the tokens after the first, over the time that they took."""
        if self.decode_s is None or self.tokens is None:
            return None
        return (self.tokens - 1) / self.decode_s

    @property
    def evaluations(self) -> int | None:
        """Give the model's evaluations after the first token; each accepted draft saves one."""
        if self.tokens is None or self.accepted is None:
            return None
        return max(1, self.tokens - 1 - self.accepted)

    @property
    def ms_per_evaluation(self) -> float | None:
        """Give the time of one evaluation, which drafts do not change."""
        if self.decode_s is None or self.evaluations is None:
            return None
        return 1000 * self.decode_s / self.evaluations

    @property
    def prefilled(self) -> int | None:
        """Give how many prompt tokens were not cached."""
        if self.prompt_tokens is None or self.cached_tokens is None:
            return None
        return max(0, self.prompt_tokens - self.cached_tokens)

    @property
    def prefill_tokens_per_s(self) -> float | None:
        """Give new prompt tokens over the time to the first token."""
        if not self.answered_s or self.prefilled is None or self.prefilled < LEAST_PREFILLED:
            return None
        return self.prefilled / self.answered_s


def read_sample(streamed: Streamed) -> Sample:
    """Read an answer with its arrival times."""
    exchange = streamed.exchange
    observation = observe(exchange)
    status, retried = exchange.status, len(exchange.attempts)
    problem = observation.problem.message if observation.problem is not None else None
    if problem is None and not streamed.marks:
        problem = "the answer is no event stream"
    if problem is not None:
        return Sample(problem=problem, status=status, retried=retried)
    chunks = [(mark.at_s, chunk) for mark in streamed.marks for chunk in _chunks(mark)]
    times = [at_s for at_s, chunk in chunks if _has_text(chunk)]
    ended = [at_s for at_s, chunk in chunks if _has_finish(chunk)]
    told = _told([chunk for _, chunk in chunks])
    tokens, counted_by, hidden = _tokens(observation.usage, told, times, observation.reasoning)
    return Sample(
        status=status,
        retried=retried,
        sent_s=streamed.sent_s,
        answered_s=min([*times, *ended], default=None),
        first_s=times[0] if times else None,
        last_s=max([*times, *ended[:1]]) if times else None,
        arrivals=len(set(times)),
        prompt_tokens=_prompt_tokens(observation.usage, told),
        cached_tokens=told.cached,
        tokens=tokens,
        counted_by=counted_by,
        drafted=told.drafted,
        accepted=told.accepted,
        hidden=hidden,
        server=told.server,
    )


# ---------------------------------------------------------------- chunks


def _chunks(mark: Mark) -> Iterator[Mapping[str, Json]]:
    """Give an event's JSON objects; several stand in one where the empty lines were left out."""
    for line in mark.data.split("\n"):
        try:
            chunk = loads(line)
        except StrictJsonError:  # [DONE]; what is broken the observation has judged
            continue
        if isinstance(chunk, dict):
            yield chunk


def _choices(chunk: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    choices = chunk.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict):
            yield choice


def _has_text(chunk: Mapping[str, Json]) -> bool:
    for choice in _choices(chunk):
        delta = choice.get("delta")
        if isinstance(delta, dict) and (
            any(delta.get(name) for name in _TEXTS) or delta.get("tool_calls")
        ):
            return True
    return False


def _has_finish(chunk: Mapping[str, Json]) -> bool:
    return any(choice.get("finish_reason") for choice in _choices(chunk))


# ---------------------------------------------------------------- what the server tells


@dataclass(frozen=True, slots=True)
class _Told:
    prompt: int | None = None
    predicted: int | None = None
    cached: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    server: ServerTimings | None = None


def _told(chunks: Sequence[Mapping[str, Json]]) -> _Told:
    """Read the last timings and the cached tokens of the last usage."""
    timings = _last(chunks, "timings")
    usage = _last(chunks, "usage") or {}
    details = usage.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    if timings is None:
        return _Told(cached=cached)
    new, kept = _count(timings.get("prompt_n")), _count(timings.get("cache_n"))
    return _Told(
        prompt=None if new is None else new + (kept or 0),
        predicted=_count(timings.get("predicted_n")),
        cached=kept if cached is None else cached,
        drafted=_count(timings.get("draft_n", 0)),
        accepted=_count(timings.get("draft_n_accepted", 0)),
        server=ServerTimings(
            _rate(timings.get("prompt_per_second")), _rate(timings.get("predicted_per_second"))
        ),
    )


def _last(chunks: Sequence[Mapping[str, Json]], name: str) -> Mapping[str, Json] | None:
    found = [chunk[name] for chunk in chunks if isinstance(chunk.get(name), dict)]
    return found[-1] if found else None


def _count(value: Json) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def _rate(value: Json) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 < value <= MOST_TOKENS else None


def _prompt_tokens(usage: Usage | None, told: _Told) -> int | None:
    counted = None if usage is None else _count(usage.prompt_tokens)
    return told.prompt if counted is None else counted


def _tokens(
    usage: Usage | None, told: _Told, times: Sequence[float], reasoning: str | None
) -> tuple[int | None, str, bool]:
    """Count the streamed tokens: by the usage, by the timings, else an event for a token."""
    counted = None if usage is None else _count(usage.completion_tokens)
    if usage is not None and counted is not None:
        hidden = usage.reasoning_tokens or 0
        if hidden and not reasoning:
            # They took their time before the first visible token, and are no part of the rate.
            return max(0, counted - hidden), "usage", True
        return counted, "usage", False
    if told.predicted is not None:
        return told.predicted, "timings", False
    return len(times), "events", False
