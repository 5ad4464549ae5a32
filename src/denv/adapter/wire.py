"""Server-sent events of the three APIs, the one that says what went wrong among them."""

from __future__ import annotations

import json

from denv.adapter.refusals import Refusal

CHAT, RESPONSES, MESSAGES = "chat", "responses", "messages"


def frame(name: str | None, data: bytes) -> bytes:
    """Write one event; its data is JSON, and so one line."""
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + data + b"\n\n"


def broken(api: str, refusal: Refusal, *, events: int) -> bytes:
    """Write the event that ends a stream which cannot go on: no API's own last one follows.

    ``events`` is how many were sent, which is the next sequence number of Responses.
    """
    error = {"message": refusal.message, "type": refusal.kind, "param": None, "code": refusal.kind}
    if api == CHAT:
        return frame(None, _json({"error": error}))
    if api == MESSAGES:
        brief = {"type": refusal.kind, "message": refusal.message}
        return frame("error", _json({"type": "error", "error": brief}))
    told = {"type": "error", "code": refusal.kind, "message": refusal.message, "param": None}
    return frame("error", _json({**told, "sequence_number": events}))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
