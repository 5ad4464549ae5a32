"""What a case asked, from its suite's file, as long as that is the one that the run asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from denv.errors import UsageError
from denv.records import Json
from denv.report.text import clipped, visible
from denv.store import RunRecord, kept_suite
from denv.strictjson import StrictJsonError, loads
from denv.suite.lines import Lines

MOST_BYTES = 256 * 1024**2
"""A larger suite is not read through for one page."""

MOST_MESSAGES, MOST_TEXT = 200, 50_000
_SHOWN = ("messages", "expect", "id", "tags")


class NotKnownError(Exception):
    """What was asked cannot be shown; the text says why."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request: who says it, and what; what is no text stands as JSON."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A case of a suite: its messages, the request's other fields, and what it expects."""

    messages: tuple[Message, ...]
    more: int
    fields: Mapping[str, str]
    expect: str


def asked_of(record: RunRecord, index: int, folder: Path) -> Asked:
    """Read what a run's case asked; runs of rollouts and schedules have asked a kept copy.

    Raises
    ------
    NotKnownError
        The suite is not where the run had it, has changed since, or is too large.
    """
    path = (record.settings.get("options") or {}).get("suite")
    suite = (record.settings.get("identity") or {}).get("suite") or {}
    kept = kept_suite(folder, str(suite.get("sha256")))
    if kept.is_file():
        path = kept
    if not path:
        raise NotKnownError("The run does not say where its suite is.")
    raw, sha256 = _line(Path(path), index)
    if sha256 != suite.get("sha256"):
        raise NotKnownError("The suite was changed since this run: what it asked is not known.")
    try:
        case = None if raw is None else loads(raw.decode("utf-8-sig"))
    except (StrictJsonError, UnicodeDecodeError):
        case = None
    if not isinstance(case, dict):
        raise NotKnownError("The suite has no such case.")
    return _shown(case)


def _line(path: Path, index: int) -> tuple[bytes | None, str]:
    """Give one line of a suite that is not blank, and the digest of the whole file."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        raise NotKnownError("The suite is no longer where the run had it.") from None
    if size > MOST_BYTES:
        raise NotKnownError("The suite is too large to be looked through for a page.")
    lines, found = Lines(path), None
    try:
        for place, (_, raw) in enumerate(lines):
            if place == index:
                found = raw
    except (UsageError, OSError):
        raise NotKnownError("The suite cannot be read.") from None
    return found, lines.sha256


def _shown(case: Mapping[str, Json]) -> Asked:
    messages = case.get("messages") or []
    return Asked(
        messages=tuple(_messages(messages[:MOST_MESSAGES])),
        more=max(0, len(messages) - MOST_MESSAGES),
        fields={name: _json(value) for name, value in case.items() if name not in _SHOWN},
        expect=_json(case.get("expect")),
    )


def _messages(messages: list[Any]) -> Iterator[Message]:
    for each in messages:
        content = each.get("content")
        if isinstance(content, str) and not each.keys() - {"role", "content"}:
            yield Message(str(each.get("role")), _text(content))
        else:
            rest = {name: value for name, value in each.items() if name != "role"}
            yield Message(str(each.get("role")), _json(rest))


def _json(value: Json) -> str:
    return _text(json.dumps(value, ensure_ascii=False, indent=2))


def _text(text: str) -> str:
    return visible(clipped(text, MOST_TEXT))
