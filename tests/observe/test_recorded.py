"""Answers and streams as real servers send them, each with what is to be seen in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from denv import strictjson
from denv.observe import observe
from denv.records import Exchange, Observation

DATA = Path(__file__).parent / "data"


def rows(name: str) -> Any:
    """Load a fixture file: one recorded shape a line, with the rule that it stands for."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    found = [strictjson.loads(line, exact=True) for line in lines]
    return [pytest.param(row, id=row["id"]) for row in found]


def body_of(row: Any) -> bytes:
    """Build the bytes that a row describes."""
    if "hex" in row:
        return bytes.fromhex(row["hex"])
    if "events" in row:
        return "\n\n".join([*row["events"], *([] if row.get("bare") else [""])]).encode()
    if "body" in row:
        return json.dumps(row["body"], default=float).encode()
    raw: str = row["raw"]
    if "repeat" in row:
        filler = row.get("repeat_of", raw)
        raw = raw + filler * row["repeat"] + row["then"]
    return raw.encode()


def entry(token: Any) -> Any:
    """Show a token of the logprobs as the rows write it."""
    return [
        token.token,
        token.logprob,
        None if token.bytes is None else token.bytes.hex(),
        token.id,
    ]


SHOWN: dict[str, Any] = {
    "oddities": lambda seen: [oddity.code for oddity in seen.oddities],
    "logprobs": lambda seen: None if seen.logprobs is None else list(map(entry, seen.logprobs)),
    "top": lambda seen: [list(map(entry, token.top)) for token in seen.logprobs],
    "usage": lambda seen: (
        seen.usage
        and [seen.usage.prompt_tokens, seen.usage.completion_tokens, seen.usage.reasoning_tokens]
    ),
}


def matches_calls(seen: Observation, expected: Any) -> None:
    """Compare calls field by field; an error may be given by its beginning."""
    assert len(seen.calls) == len(expected)
    for call, fields in zip(seen.calls, expected, strict=True):
        wanted = dict(fields)
        begins = wanted.pop("error_begins", None)
        assert {name: getattr(call, name) for name in wanted} == wanted
        assert begins is None or (call.error or "").startswith(begins)


def matches_problem(seen: Observation, expected: Any) -> None:
    """Compare a problem; its message may be given by a part of it."""
    if expected is None:
        assert seen.problem is None
        return
    assert seen.problem is not None
    wanted = dict(expected)
    assert wanted.pop("message_has", "") in seen.problem.message
    assert {name: getattr(seen.problem, name) for name in wanted} == wanted


def check(row: Any) -> None:
    """Observe a row and compare all that it names; a row without a problem has an answer."""
    headers = tuple(row.get("headers", {}).items())
    exchange = Exchange(
        row.get("status", 200), headers, body_of(row), streamed=row.get("streamed", False)
    )
    seen = observe(exchange)
    expected = dict(row["seen"])
    matches_problem(seen, expected.pop("problem", None))
    if "calls" in expected:
        matches_calls(seen, expected.pop("calls"))
    shown = {name: SHOWN[name](seen) if name in SHOWN else getattr(seen, name) for name in expected}
    assert shown == as_floats(expected)


def as_floats(value: Any) -> Any:
    """Give logprobs as floats: rows are read exactly, for the sake of arguments."""
    return json.loads(json.dumps(value, default=float))


@pytest.mark.parametrize("row", rows("answers.jsonl"))
def test_answer(row: Any) -> None:
    """Each recorded answer is seen as its row says."""
    check(row)


@pytest.mark.parametrize("row", rows("streams.jsonl"))
def test_stream(row: Any) -> None:
    """Each recorded stream is seen as its row says."""
    check(row)
