"""One side's answer to a case, what it shows of itself, and its view in the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from denv.records import Attempt, Call, Json, Observation, ProblemKind

MAX_TEXT_BYTES = 64 * 1024
MAX_TOKENS_SHOWN = 2_000
MAX_DEPTH = 100
"""Arguments nested deeper are shown as the text they came as."""

RATE_LIMITED_STATUS = 429
REFUSED_FIELD_STATUSES = frozenset({400, 422})
"""After these the request is asked again without the refused field: that is no retry."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back to one request: the observation, the ``max_tokens`` sent, and its origin.

    ``cached`` says that it was read from the replay cache instead of being asked for.
    """

    observation: Observation
    max_tokens: int
    cached: bool = False

    @property
    def usable(self) -> bool:
        """Whether there is an answer that checks may read."""
        return self.observation.problem is None

    @property
    def prompt_tokens(self) -> int | None:
        """Length of the prompt as the server counts it."""
        usage = self.observation.usage
        return None if usage is None else usage.prompt_tokens

    @property
    def completion_tokens(self) -> int | None:
        """Length of the answer as the server counts it."""
        usage = self.observation.usage
        return None if usage is None else usage.completion_tokens

    @property
    def truncated(self) -> bool:
        """Whether a token limit ended it: it says so, or used all and broke off in a call."""
        if self.observation.finish_reason == "length":
            return True
        used = self.completion_tokens
        broken = any(call.arguments is None for call in self.observation.calls)
        return broken and used is not None and used >= self.max_tokens

    @property
    def ends_in_reasoning(self) -> bool:
        """Whether it never left its reasoning: no text and no call came after it."""
        seen = self.observation
        bare = bool(seen.reasoning) and not seen.text and not seen.calls
        return bare or seen.reasoning_open

    @property
    def reasons(self) -> bool:
        """Whether it holds any reasoning, kept apart or left in the text."""
        seen = self.observation
        return bool(seen.reasoning) or seen.reasoning_open or seen.text_after_reasoning is not None

    @property
    def retries(self) -> int:
        """How often it was asked again after a fault, rate limits and refused fields apart."""
        return sum(map(_is_retry, self.observation.attempts))

    @property
    def rate_limits(self) -> int:
        """How often the server answered that it was asked too often."""
        problem = self.observation.problem
        final = problem is not None and problem.kind is ProblemKind.RATE_LIMITED
        earlier = sum(a.status == RATE_LIMITED_STATUS for a in self.observation.attempts)
        return earlier + final

    @property
    def rate_limited_alone(self) -> bool:
        """Whether nothing but rate limits kept it from being answered."""
        problem = self.observation.problem
        final = problem is not None and problem.kind is ProblemKind.RATE_LIMITED
        return final and self.retries == 0


def _is_retry(attempt: Attempt) -> bool:
    status = attempt.status
    return status != RATE_LIMITED_STATUS and status not in REFUSED_FIELD_STATUSES


def side_view(answer: Answer, *, tokens: bool = False) -> dict[str, Json]:
    """Show an answer as strict JSON values, long texts cut with a mark that says so."""
    seen = answer.observation
    view: dict[str, Json] = {
        "text": _cut(seen.text),
        "reasoning": _cut(seen.reasoning),
        "tool_calls": [_call_view(call) for call in seen.calls],
        "finish_reason": _cut(seen.finish_reason),
        "native_finish_reason": _cut(seen.native_finish_reason),
        "usage": None if seen.usage is None else _usage_view(answer),
        "problem": None if seen.problem is None else _cut(seen.problem.message),
        "status": None,
        "system_fingerprint": _cut(seen.system_fingerprint),
        "provider": _cut(seen.provider),
        "replica": _cut(seen.replica),
        "model": _cut(seen.model),
        "retried": answer.retries,
        "rate_limited": answer.rate_limits,
        "elapsed_s": seen.elapsed_s,
        "cached": answer.cached,
        "oddities": oddities_view(seen),
    }
    if tokens:
        shown = (seen.logprobs or ())[:MAX_TOKENS_SHOWN]
        view["tokens"] = [{"token": _cut(t.token), "logprob": t.logprob} for t in shown]
    return view


def oddities_view(seen: Observation) -> list[dict[str, str]]:
    """Show what is odd about an answer's shape."""
    return [{"code": odd.code, "detail": odd.detail} for odd in seen.oddities]


def _usage_view(answer: Answer) -> dict[str, int | None]:
    return {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
    }


def _cut(text: str | None) -> str | None:
    if text is None or 4 * len(text) <= MAX_TEXT_BYTES:  # no character takes more than four
        return text
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= MAX_TEXT_BYTES:
        return text
    kept = encoded[:MAX_TEXT_BYTES].decode("utf-8", "ignore")
    return f"{kept}… [cut here, {len(encoded)} bytes in all]"


def _call_view(call: Call) -> dict[str, Json]:
    arguments: Json = _cut(call.raw)
    if call.arguments is not None and arguments == call.raw:
        try:
            arguments = plain(call.arguments)
        except RecursionError:
            arguments = call.raw
    return {"name": _cut(call.name), "arguments": arguments, "error": _cut(call.error)}


def plain(value: Any, depth: int = 0) -> Json:
    """Turn exact decimals into JSON numbers where those show the same value, else into strings.

    Raises
    ------
    RecursionError
        For values nested deeper than a report's readers can be expected to follow.
    """
    if depth > MAX_DEPTH:
        raise RecursionError("nested too deeply to be shown")
    if isinstance(value, Mapping):
        return {key: plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, Decimal):
        return _number(value)
    return value


def _number(value: Decimal) -> float | str:
    shown = float(value)
    same = value.is_finite() and Decimal(repr(shown)) == value
    return shown if same else str(value)
