"""Probes as an endpoint is asked them: raw paths beside chat, with the same pace and retries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from denv.encode import dump
from denv.records import Dialect, Endpoint, Json, Request


def write_probe(
    body: Mapping[str, Json], endpoint: Endpoint, *, model: str, dialect: Dialect
) -> Request:
    """Write a probe's body with the model first, without what the server has refused."""
    fields: dict[str, Any] = {"model": model}
    for name, value in body.items():
        if name in dialect.dropped:
            continue
        if name == "max_tokens":
            fields[dialect.max_tokens_field] = value
        elif name != "top_logprobs":
            fields[name] = value
        elif dialect.top_logprobs is not None and "logprobs" not in dialect.dropped:
            fields[name] = min(value, dialect.top_logprobs)
    fields.update(endpoint.extra)
    return Request(
        body=dump(fields),
        max_tokens=int(body.get("max_tokens") or 0),
        stream=body.get("stream") is True,
        logprobs=bool(fields.get("logprobs")),
    )
