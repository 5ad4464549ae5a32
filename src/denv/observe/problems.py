"""Why an exchange holds no usable answer: statuses, faults and error bodies as Problems."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from denv.records import Cause, Exchange, FaultKind, Json, Problem, ProblemKind

QUOTED = 200
"""Characters of a body that a message quotes."""

_SEARCHED = 4000
"""Characters of an error that are searched for its cause."""

_KEY_LIKE = re.compile(r"(?i:bearer\s+|\bsk-)[\w.\-]{8,}")

_LIMIT_WORDS = (
    "context length", "context_length", "context size", "context_size", "context window",
    "maximum context", "max_model_len", "max_position_embeddings", "prompt is too long",
    "prompt too long", "input is too long", "too many tokens", "token limit", "input length",
    "reduce the length", "max_new_tokens` must be", "must be at least 1, got -",
    "maximum allowed number of input tokens", "exceeds the maximum number of tokens",
)  # fmt: skip
_CAPPED_FIELD = ("max_tokens", "max_completion_tokens")
_TOO_LARGE_WORDS = ("too large", "at most", "exceed", "less than or equal", "maximum value")
_TEMPLATE_WORDS = (
    "template", "jinja", "must alternate", "system message", "does not support tools",
    "tools are not supported", "not a mapping",
)  # fmt: skip
_ROLE = re.compile(r"\broles?\b")


class UnusableError(Exception):
    """Raised inside this package alone, where an exchange turns out to hold no answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def quote(text: str) -> str:
    """Cut a text to what a message may quote, with what looks like a key masked."""
    shown = _KEY_LIKE.sub("***", text[: 2 * QUOTED].strip())
    if not shown.isascii():  # a message must be writable as UTF-8
        shown = shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return shown if len(shown) <= QUOTED else shown[:QUOTED] + "…"


def broken_shape(what: str, body: str = "") -> NoReturn:
    """End the reading of a body that breaks the API's shape."""
    message = f"{what}: {quote(body)}" if body else what
    raise UnusableError(Problem(ProblemKind.CONTRACT, Cause.CONTRACT, message))


def incomplete(what: str, body: str = "") -> NoReturn:
    """End the reading of a body or stream that was cut short."""
    message = f"{what}: {quote(body)}" if body else what
    raise UnusableError(Problem(ProblemKind.INCOMPLETE, Cause.AVAILABILITY, message, retry=True))


def server_gave_up(what: str) -> NoReturn:
    """End the reading of an answer that the server itself calls failed."""
    raise UnusableError(Problem(ProblemKind.SERVER_ERROR, Cause.AVAILABILITY, what, retry=True))


def fault_problem(exchange: Exchange) -> Problem | None:
    """Say what the transport's fault means, None where there was none."""
    fault = exchange.fault
    if fault is None:
        if exchange.status is not None:
            return None
        return Problem(ProblemKind.TRANSPORT, Cause.AVAILABILITY, "no response", retry=True)
    message = f"{fault.kind}: {fault.message}"
    if fault.kind is FaultKind.TOO_LARGE:
        return Problem(ProblemKind.CONTRACT, Cause.CONTRACT, message)
    retry = fault.kind is not FaultKind.REDIRECT
    return Problem(ProblemKind.TRANSPORT, Cause.AVAILABILITY, message, retry=retry)


def status_problem(status: int, error: ErrorText, *, shown: str) -> Problem:
    """Classify a status that is not 2xx, or the one that an error inside a 200 stands for.

    ``shown`` is the message as it is reported.
    """
    if status < 400:
        return Problem(ProblemKind.TRANSPORT, Cause.AVAILABILITY, shown)
    if status == 429:
        return Problem(ProblemKind.RATE_LIMITED, Cause.AVAILABILITY, shown, retry=True)
    if status >= 500 or status in {408, 425}:
        cause = error.cause(default=Cause.AVAILABILITY)
        return Problem(ProblemKind.SERVER_ERROR, cause, shown, retry=True)
    if status in {401, 402, 403}:
        return Problem(ProblemKind.REFUSED, Cause.AVAILABILITY, shown)
    cause = error.cause(default=Cause.CONTRACT)
    return Problem(ProblemKind.REFUSED, cause, shown)


class ErrorText:
    """What an error body says, whatever shape it has.

    Known shapes: ``{"error": {"message", "type", "code"}}``, ``{"error": "…"}``,
    ``{"object": "error", "message", …}``, ``{"message": "…"}``, ``{"detail": "…" or [{"loc",
    "msg"}]}``.
    """

    __slots__ = ("code", "message", "type")

    def __init__(self, body: Json) -> None:
        inner = body.get("error") or body if isinstance(body, Mapping) else body
        if not isinstance(inner, Mapping):
            inner = {"message": inner}
        message = inner.get("message") or inner.get("msg") or inner.get("detail")
        self.message = _said(message)
        self.type = _word(inner.get("type") or inner.get("error_type"))
        self.code = inner.get("code", inner.get("status"))

    def status(self) -> int:
        """Give the status that an error inside a 200 stands for; 500 where it names none."""
        code = self.code
        if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3:
            code = int(code)
        if isinstance(code, int) and 400 <= code <= 599:
            return code
        kind = f"{self.type} {_word(code)}".lower()
        if "rate_limit" in kind or "ratelimit" in kind:
            return 429
        refused = ("invalid_request", "badrequest", "bad_request", "exceed_context", "context_le")
        return 400 if any(word in kind for word in refused) else 500

    def cause(self, *, default: Cause) -> Cause:
        """Read the cause from the error's own words, never from what else the body echoes."""
        words = f"{self.message[:_SEARCHED]} {self.type} {_word(self.code)}".lower()
        if any(word in words for word in _LIMIT_WORDS):
            return Cause.LIMIT
        if any(name in words for name in _CAPPED_FIELD) and any(
            word in words for word in _TOO_LARGE_WORDS
        ):
            return Cause.LIMIT
        if any(word in words for word in _TEMPLATE_WORDS) or _ROLE.search(words):
            return Cause.TEMPLATE
        return default


def _said(message: Json) -> str:
    if isinstance(message, str):
        return message
    if isinstance(message, list):
        return "; ".join(_said(item) for item in message[:5] if not isinstance(item, list))
    if isinstance(message, Mapping):
        where = message.get("loc")
        path = ".".join(map(_word, where[:10])) if isinstance(where, list) else ""
        what = _word(message.get("msg") or message.get("message"))
        return f"{path}: {what}" if path else what
    return _word(message)


def _word(value: Json) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""
