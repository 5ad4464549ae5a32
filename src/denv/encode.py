"""Case + endpoint → request bytes, and what changes in them after a server refuses a field.

Both sides get the same bytes but for ``model`` and what the endpoint's own extra fields add.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace

from denv.errors import UsageError
from denv.records import Case, Dialect, Endpoint, Json, LogprobsClose, Request

DEFAULT_MAX_TOKENS = 4096

CACHE_TAG = b"denv.answer/1\0"
"""Hashed first, so that a changed form of the key is a miss and never a wrong hit."""

OWN_FIELDS = frozenset(
    {
        "model", "messages", "tools", "tool_choice", "response_format", "stop", "stream",
        "max_tokens", "max_completion_tokens", "temperature", "seed", "logprobs", "top_logprobs",
        "n",
    }
)  # fmt: skip
"""Fields that the run sets, so that an endpoint's extra fields cannot make the sides differ."""

# Made once: json.dumps makes an encoder for each call that is not plain.
_write = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode

_ERROR_TEXT_LIMIT = 16_384
_NOT_TAKEN = re.compile(
    r"unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed"
    r"|extra|forbidden|invalid|not implemented|cannot|can't|must be|only"
)
_UNKNOWN_FIELD = re.compile(r"unsupported|not supported|unrecogni[sz]ed|unexpected|extra|unknown")
_TOO_LARGE = re.compile(r"too (large|many|high|long)|exceed|at most|less than|maximum")


def check_extra(extra: Mapping[str, Json], *, what: str) -> None:
    """Refuse extra body fields that the run itself sets.

    Raises
    ------
    UsageError
        Names the field and the side (``what``).
    """
    for name in extra:
        if name in OWN_FIELDS:
            raise UsageError(f"{what}: the extra field {name!r} is set by the run itself")


def encode(
    case: Case,
    endpoint: Endpoint,
    *,
    model: str,
    max_tokens: int = DEFAULT_MAX_TOKENS,
    dialect: Dialect | None = None,
    stream: bool = False,
) -> Request:
    """Write one case as this endpoint is asked it: compact ASCII JSON in the suite's key order.

    ``max_tokens`` is used where the case names none. Fields that the server has refused are
    left out as ``dialect`` says.
    """
    dialect = dialect or Dialect()
    logprobs = isinstance(case.check, LogprobsClose) and "logprobs" not in dialect.dropped
    fields: dict[str, Json] = {"model": model}
    fields.update(_case_fields(case, dialect))
    _fill(fields, dialect, max_tokens=max_tokens, stream=stream)
    if logprobs:
        fields["logprobs"] = True
        if dialect.top_logprobs is not None and "top_logprobs" not in dialect.dropped:
            fields["top_logprobs"] = dialect.top_logprobs
    fields.update(endpoint.extra)
    return Request(
        body=dump(fields),
        max_tokens=int(fields[dialect.max_tokens_field]),
        stream=stream,
        logprobs=logprobs,
    )


def dump(value: Json) -> bytes:
    """Write compact ASCII JSON; the order of keys is the value's own."""
    return _write(value).encode()


def _case_fields(case: Case, dialect: Dialect) -> dict[str, Json]:
    fields = dict(case.fields)
    if not fields.get("tools", True):
        # An empty list is refused by some servers and switches on tool mode in others.
        del fields["tools"]
        fields.pop("tool_choice", None)
    if dialect.max_tokens_field != "max_tokens" and "max_tokens" in fields:
        return {
            dialect.max_tokens_field if key == "max_tokens" else key: value
            for key, value in fields.items()
        }
    return fields


def _fill(fields: dict[str, Json], dialect: Dialect, *, max_tokens: int, stream: bool) -> None:
    if "temperature" not in dialect.dropped:
        fields["temperature"] = 0
    if "seed" not in dialect.dropped:
        fields["seed"] = 0
    fields["stream"] = stream
    fields.setdefault(dialect.max_tokens_field, max_tokens)


def answer_key(scope: bytes, request: Request, repeat: int) -> bytes:
    """Hash what decides an answer; changing any byte of it gives another key.

    ``scope`` is what :func:`answer_scope` gives for the side. ``request`` must be written in
    the default dialect, so that what a server refuses today does not change the key.
    """
    return hashlib.sha256(b"%b%d\0%b" % (scope, repeat, request.body)).digest()


def answer_scope(endpoint: Endpoint, *, model: str) -> bytes:
    """Hash what decides the answers of a side: URLs, model, extra fields and headers."""
    digest = hashlib.sha256(CACHE_TAG)
    parts = [
        endpoint.url.encode(),
        model.encode(),
        dump(dict(endpoint.extra)),
        dump(sorted(endpoint.headers.items())),
    ]
    if endpoint.replicas:
        parts.append(dump([[replica.name, replica.url] for replica in endpoint.replicas]))
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def adapt(dialect: Dialect, *, status: int, body: bytes) -> Dialect | None:
    """Give the dialect that avoids the field which a 400 or 422 names, or None.

    Only ``seed``, ``logprobs``, ``top_logprobs`` (20, then 5, then none) and ``temperature`` (which
    marks the side as sampled) are dropped; ``max_tokens`` becomes ``max_completion_tokens``.
    """
    if status not in {400, 422}:
        return None
    text = body[:_ERROR_TEXT_LIMIT].decode("utf-8", "replace").lower()
    if "logprobs" in text:
        return _fewer_logprobs(dialect)
    if not _NOT_TAKEN.search(text):
        return None
    if "max_tokens" in text and _takes_completion_tokens(text):
        return _rename_max_tokens(dialect)
    for name in ("seed", "temperature"):
        if re.search(rf"\b{name}\b", text) and name not in dialect.dropped:
            return replace(dialect, dropped=dialect.dropped | {name})
    return None


def _fewer_logprobs(dialect: Dialect) -> Dialect | None:
    if "logprobs" in dialect.dropped:
        return None
    if dialect.top_logprobs is None:
        return replace(dialect, dropped=dialect.dropped | {"logprobs"})
    return replace(dialect, top_logprobs=5 if dialect.top_logprobs > 5 else None)


def _takes_completion_tokens(text: str) -> bool:
    """Tell a refused field name from a number that is too large for it."""
    if _TOO_LARGE.search(text):
        return False
    return "max_completion_tokens" in text or _UNKNOWN_FIELD.search(text) is not None


def _rename_max_tokens(dialect: Dialect) -> Dialect | None:
    if dialect.max_tokens_field != "max_tokens":
        return None
    return replace(dialect, max_tokens_field="max_completion_tokens")
