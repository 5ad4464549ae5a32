"""The pairs of exchanges, served by stub servers over real sockets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from denv.records import Side
from tests.faults.rows import Try, pieces
from tests.stubs import answers

PREFLIGHT = "Hello"


def by_messages(tried: Sequence[Try], side: Side):
    """Answer each case's messages with what its try describes, repeats in their order."""
    given = {_key(one.line["messages"]): getattr(one, side.value) for one in tried}
    assert len(given) == len(tried)
    asked: Counter[str] = Counter()

    def handler(request: Any, n: int) -> Any:
        key = _key(request["messages"])
        if key not in given:
            assert request["messages"][-1]["content"] == PREFLIGHT
            return answers.completion("Hello")
        asked[key] += 1
        return served(given[key][asked[key] - 1])(request, n)

    return handler


def served(given: Mapping[str, Any]):
    """Give a stub's behaviour for one description of an exchange."""
    sent = pieces(given)
    if "promised" in given:
        return answers.cut(b"".join(sent), length=given["promised"])
    if {"frames", "chunks_hex"} & given.keys():
        return answers.sse(sent, pause_s=0.005 if "chunks_hex" in given else 0.0)
    headers = {"content-type": "application/json", **given.get("headers", {})}
    return lambda request, n: web.Response(
        body=b"".join(sent), status=given.get("status", 200), headers=headers
    )


def _key(messages: Any) -> str:
    return json.dumps(messages)


def chats(stub: Any) -> list[Any]:
    """Give the chat requests that a stub has seen, without the preflight's."""
    seen = [one for one in stub.seen if one.method == "POST"]
    return [one for one in seen if one.json["messages"][-1]["content"] != PREFLIGHT]
