"""Small suites for tests: written to a file, loaded, and asked of stub servers."""

from __future__ import annotations

import json
from pathlib import Path

from denv.suite import load_suite

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def line(case_id: str, content: str, expect: dict, **fields) -> dict:
    """Give one case that asks ``content``."""
    messages = [{"role": "user", "content": content}]
    return {"id": case_id, "messages": messages, **fields, "expect": expect}


def numbered(count: int) -> list[dict]:
    """Give cases whose echoed answer contains their number."""
    return [line(f"c{n}", f"number {n};", {"contains": f"number {n};"}) for n in range(count)]


def write(folder: Path, lines: list[dict], name: str = "suite.jsonl") -> Path:
    """Write a suite's file."""
    path = folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), "utf-8")
    return path


def load(folder: Path, lines: list[dict], name: str = "suite.jsonl"):
    """Write and load a suite."""
    return load_suite(write(folder, lines, name))
