"""Faults of real servers as data: what was sent to a case, and what is right to say of it.

Each line of ``data/*.jsonl`` is one fault, with where it was reported. Its ``tries`` are pairs
of exchanges, described by status, headers and one form of body:

``body``        JSON as the API has it
``raw``, ``hex``  a body as text, or as bytes
``frames``      events of a stream, each followed by an empty line
``chunks_hex``  the bytes of a stream, as they are read one after the other
``promised``    the Content-Length, where fewer bytes come
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import regex

from denv.records import Exchange, Fault, FaultKind

DATA = Path(__file__).parent / "data"

_NUMBER = regex.compile(r'\{"\$number": "([^"]*)"\}')
_ROW = {"id", "about", "source", "case", "tries", "note", "open", "sampled"}
_OF_SOCKETS = {"refusal", "tools_raw", "suite_numbers", "statuses", "now", "waits", "redirects"}
_RIGHT = {"outcome", "cause", "reason", "reason_not", "warnings", "oddities", "stage", "detail"}
_EXCHANGE = {"status", "headers", "body", "raw", "hex", "frames", "chunks_hex", "promised"}


@dataclass(frozen=True)
class Try:
    """One pair of exchanges, each side's first and its repeats, and what is right."""

    id: str
    line: Mapping[str, Any]
    stage: tuple[Mapping[str, Any], ...]
    reference: tuple[Mapping[str, Any], ...]
    right: Mapping[str, Any]
    sampled: tuple[str, ...]

    @property
    def streamed(self) -> bool:
        """Whether a stream is asked for."""
        return any({"frames", "chunks_hex"} & one.keys() for one in self.stage)

    @property
    def suite_line(self) -> str:
        """The case as its suite has it; numbers stay as they are spelt."""
        return _NUMBER.sub(r"\1", json.dumps(self.line))


def faults() -> dict[str, dict[str, Any]]:
    """Read every fault by its id; a field that nothing reads is an error."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(DATA.glob("*.jsonl")):
        for text in path.read_text("utf-8").split("\n")[:-1]:
            row = json.loads(text)
            assert row.keys() <= _ROW | _OF_SOCKETS, row.keys()
            assert row["id"] not in found, row["id"]
            assert row["about"].endswith(".")
            assert row["source"]
            found[row["id"]] = row
    return found


def tries() -> list[Try]:
    """Give the pairs of all faults."""
    return [_try(row, one) for row in faults().values() for one in row.get("tries", ())]


def _try(row: Mapping[str, Any], one: Mapping[str, Any]) -> Try:
    name = f"{row['id']}/{one['name']}"
    line = {
        "id": name,
        "messages": [{"role": "user", "content": f"Answer as asked: {name}"}],
        **row["case"],
        **one.get("case", {}),
    }
    for side in ("stage", "reference"):
        assert all(given.keys() <= _EXCHANGE for given in one[side]), name
    assert len(one["stage"]) == len(one["reference"]), name
    assert one["right"].keys() <= _RIGHT, name
    sampled = tuple(row.get("sampled", ()))
    return Try(name, line, tuple(one["stage"]), tuple(one["reference"]), one["right"], sampled)


# ---------------------------------------------------------------- exchanges


def pieces(given: Mapping[str, Any]) -> list[bytes]:
    """Give the bytes of a body, as they arrive."""
    if "frames" in given:
        return [f"{frame}\n\n".encode() for frame in given["frames"]]
    if "chunks_hex" in given:
        return [bytes.fromhex(chunk) for chunk in given["chunks_hex"]]
    if "hex" in given:
        return [bytes.fromhex(given["hex"])]
    text = given["raw"] if "raw" in given else json.dumps(given["body"], ensure_ascii=False)
    return [text.encode()]


def exchange(given: Mapping[str, Any], *, streamed: bool) -> Exchange:
    """Give what a client records of a description."""
    fault = None
    if "promised" in given:
        fault = Fault(FaultKind.CUT, "the connection was cut in the middle of the answer")
    return Exchange(
        given.get("status", 200),
        tuple(given.get("headers", {}).items()),
        b"".join(pieces(given)),
        streamed=streamed,
        fault=fault,
    )


# ---------------------------------------------------------------- what is right


def differences(right: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Compare a case of a report with what is right; each line names one difference."""
    stage = found["stage"] or {}
    wrong = [
        f"{name} {found[name]!r} instead of {right[name]!r}"
        for name in ("outcome", "cause")
        if found[name] != right[name]
    ]
    reason = found["reason"]
    wrong += [
        f"{part!r} is not in {reason!r}" for part in right.get("reason", ()) if part not in reason
    ]
    wrong += [
        f"{part!r} is in {reason!r}" for part in right.get("reason_not", ()) if part in reason
    ]
    if "warnings" in right:
        wrong += _warnings(right["warnings"], found["warnings"])
    codes = [odd["code"] for odd in stage.get("oddities", ())]
    if "oddities" in right and codes != right["oddities"]:
        wrong.append(f"oddities {codes} instead of {right['oddities']}")
    for name in ("stage", "detail"):
        wrong += [
            f"{name}.{key} {found[name].get(key)!r} instead of {value!r}"
            for key, value in right.get(name, {}).items()
            if found[name].get(key) != value
        ]
    return wrong


def _warnings(right: list[str], found: list[str]) -> list[str]:
    if len(right) == len(found) and all(any(r in f for f in found) for r in right):
        return []
    return [f"warnings {found} instead of {right}"]
