"""Known cases' answers → the exchanges that a client would have recorded."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from denv.encode import DEFAULT_MAX_TOKENS
from denv.errors import HarnessError
from denv.observe import observe
from denv.outcome import Answer
from denv.records import Attempt, Case, Exchange, Fault, FaultKind, Json

_BODIES = ("body", "raw", "base64", "sse")
_FIELDS = frozenset((*_BODIES, "status", "headers", "streamed", "fault", "attempts", "max_tokens"))


def exchange_of(given: Mapping[str, Json]) -> Exchange:
    """Build an exchange from its description: status, headers, one form of body, what failed."""
    if given.keys() - _FIELDS or sum(form in given for form in _BODIES) > 1:
        raise HarnessError(f"not an answer's description: {', '.join(sorted(given))}")
    fault = given.get("fault")
    return Exchange(
        given.get("status", None if fault else 200),
        tuple(given.get("headers", {}).items()),
        _body(given),
        streamed=given.get("streamed", "sse" in given),
        fault=None if fault is None else Fault(FaultKind(fault["kind"]), fault["message"]),
        attempts=tuple(
            Attempt(one["status"], one["problem"], 0.0) for one in given.get("attempts", ())
        ),
    )


def answer_of(given: Mapping[str, Json], case: Case) -> Answer:
    """Observe an answer as a run would; ``max_tokens`` is the case's, as it would be sent."""
    sent = case.fields.get("max_tokens", DEFAULT_MAX_TOKENS)
    return Answer(observe(exchange_of(given)), given.get("max_tokens", sent))


def as_json(value: Json) -> str:
    """Write JSON; a Decimal is written as the float that it was read from."""
    return json.dumps(value, ensure_ascii=False, default=float)


def _body(given: Mapping[str, Json]) -> bytes:
    if "base64" in given:
        return base64.b64decode(given["base64"], validate=True)
    if "raw" in given:
        return str(given["raw"]).encode()
    if "sse" in given:
        return "".join(f"data: {_event(one)}\n\n" for one in given["sse"]).encode()
    return as_json(given["body"]).encode() if "body" in given else b""


def _event(chunk: Json) -> str:
    return chunk if isinstance(chunk, str) else as_json(chunk)
