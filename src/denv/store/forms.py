"""Records ⇄ the text and bytes that the tables hold."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

from denv.records import Attempt, CaseResult, Cause, Exchange, Fault, FaultKind, Kind, Outcome

_SURROGATES = re.compile("[\ud800-\udfff]+")


def dump(value: Any) -> str:
    """Write strict compact JSON; lone surrogates, which no encoding has, stay escaped."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # lone surrogates and integers beyond 64 bits
        pass
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if text.isascii():
        return text
    return _SURROGATES.sub(lambda found: json.dumps(found[0])[1:-1], text)


def exchange_to_text(exchange: Exchange) -> str:
    """Write all of an exchange but its body."""
    fault = exchange.fault
    return dump(
        {
            "status": exchange.status,
            "headers": exchange.headers,
            "streamed": exchange.streamed,
            "fault": [fault.kind, fault.message] if fault else None,
            "attempts": [[a.status, a.problem, a.waited_s] for a in exchange.attempts],
            "first_byte_s": exchange.first_byte_s,
            "elapsed_s": exchange.elapsed_s,
            "replica": exchange.replica,
        }
    )


def exchange_from_text(text: str, body: bytes) -> Exchange:
    """Read an exchange back."""
    data = json.loads(text)
    fault = data["fault"]
    return Exchange(
        status=data["status"],
        headers=tuple((name, value) for name, value in data["headers"]),
        body=body,
        streamed=data["streamed"],
        fault=Fault(FaultKind(fault[0]), fault[1]) if fault else None,
        attempts=tuple(Attempt(*attempt) for attempt in data["attempts"]),
        first_byte_s=data["first_byte_s"],
        elapsed_s=data["elapsed_s"],
        replica=data["replica"],
    )


def result_to_document(result: CaseResult) -> dict[str, Any]:
    """Write a result as the report shows it."""
    return {
        "id": result.id,
        "index": result.index,
        "check": result.check,
        "kind": result.kind,
        "outcome": result.outcome,
        "cause": result.cause,
        "reason": result.reason,
        "warnings": list(result.warnings),
        "tags": list(result.tags),
        "detail": result.detail,
        "stage": result.stage,
        "reference": result.reference,
    }


def result_from_document(data: dict[str, Any]) -> CaseResult:
    """Read a result back."""
    return CaseResult(
        id=data["id"],
        index=data["index"],
        check=data["check"],
        kind=Kind(data["kind"]),
        outcome=Outcome(data["outcome"]),
        cause=Cause(data["cause"]) if data["cause"] else None,
        reason=data["reason"],
        warnings=tuple(data["warnings"]),
        tags=tuple(data["tags"]),
        detail=data["detail"],
        stage=data["stage"],
        reference=data["reference"],
    )
