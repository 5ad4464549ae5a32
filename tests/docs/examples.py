"""The worked examples of the pages, carried out: what they must say stands below each of them."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from denv.checks.regex import search_within
from denv.encode import DEFAULT_MAX_TOKENS
from denv.observe import observe
from denv.outcome import Answer, decide
from denv.records import Case, Estimate, Exchange, Kind, Outcome, Thresholds, ToolCall
from denv.release import parse_share, parse_thresholds
from denv.suite.line import parse_line
from denv.verdict import judge

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]


def outcome_of(example: dict[str, Any]) -> str:
    """Decide a case from the exchanges of an example, and say its outcome in a line."""
    case = _case(example["expect"])
    result = decide(
        case,
        stage=_answers(example["stage"]),
        reference=_answers(example["reference"]),
        search=partial(search_within, timeout_s=1.0),
    )
    name = result.outcome.value + (f" ({result.cause})" if result.cause else "")
    shown = f"{name}: {result.reason}" if result.reason else name
    return "\n".join([shown, *(f"warning: {warning}" for warning in result.warnings)])


def _case(expect: dict[str, Any]) -> Case:
    line = {"id": "example", "messages": [{"role": "user", "content": "What is 17 * 23?"}]}
    if ToolCall.name in expect:
        line["tools"] = TOOLS
    raw = json.dumps({**line, "expect": expect}).encode()
    case = parse_line(raw, line=1, index=0)[1]
    assert isinstance(case, Case), case
    return case


def _answers(sides: Any) -> list[Answer]:
    given = sides if isinstance(sides, list) else [sides] if sides else []
    return [
        Answer(
            observe(Exchange(status=one["status"], body=json.dumps(one["body"]).encode())),
            one.get("max_tokens", DEFAULT_MAX_TOKENS),
        )
        for one in given
    ]


def verdict_of(example: dict[str, Any]) -> str:
    """Judge the counts of an example, and say the verdict with its reasons."""
    estimates = {
        Kind(name): Estimate(
            planned=counts["planned"],
            counts={outcome: counts.get(outcome.value, 0) for outcome in Outcome},
            pass_rate=None,
            interval=None,
        )
        for name, counts in example["kinds"].items()
    }
    confidence = example.get("confidence")
    found = judge(
        estimates,
        thresholds=Thresholds(
            rates=parse_thresholds(example["pass"]) if "pass" in example else {},
            confidence=parse_share(confidence) if confidence else None,
        ),
        stage_requests=example.get("requests", 0),
        stage_retried=example.get("retried", 0),
        replicas={name: tuple(row) for name, row in example.get("replicas", {}).items()},
        errors=example.get("errors", ()),
    )
    return "\n".join([found.verdict.value, *found.reasons])
