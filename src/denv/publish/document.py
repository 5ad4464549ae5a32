"""A run's report → the public one: a new document, filled from a list of what may be told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from denv.errors import UsageError
from denv.publish.hiding import Hiding
from denv.records import Kind
from denv.report import Report
from denv.report.model import Document
from denv.store import LogPlace
from denv.suite import Suite
from denv.suite.line import dump_case

SCHEMA = "denv.parity.public/1"
MOST_TEXT = 65_536

COUNTS = ("planned", "pass", "fail", "reference-fail", "unmeasured", "reference-error")
_ESTIMATE = (*COUNTS, "pass_rate", "interval")
_KIND = (*_ESTIMATE, "threshold", "verdict")
_KINDS = tuple(kind.value for kind in Kind)
_POWER = ("0.99", "0.97", "0.95", "0.9")
_SETTINGS = (
    "pass", "coverage", "max_retried", "confidence", "repeats", "max_tokens", "stream",
    "fail_fast", "offline", "reference_max_age_s", "temperature", "seed",
)  # fmt: skip
_SIDE = ("requests", "retried", "rate_limited", "cached", "sampled", "dropped_fields")
_AGREEMENT = ("cases", "agree", "agreement", "interval", "upper")
_TOOL_SIDE = (
    "calls", "valid", "invalid_json", "unknown_name", "schema_mismatch", "schema_accuracy",
    "interval",
)  # fmt: skip
_TOOLS = ("cases", "trigger_f1", "trigger_f1_interval", "schema_accuracy")
_TRIGGER = ("both", "stage_only", "reference_only", "neither")
_GAMING = ("verdict", "level", "p_value", "difference", "families", "catches")
_ASKED = ("messages", "tools", "tool_choice", "response_format", "expect")


@dataclass(frozen=True, slots=True)
class Terms:
    """When a report is published, how long it is fresh, and what is cut out of it.

    ``indexed`` lets search engines list it.
    """

    published: datetime
    hiding: Hiding
    stale_days: int = 30
    indexed: bool = False

    @property
    def stale_after(self) -> str:
        """The last day on which the report is fresh, in UTC."""
        return (self.published + timedelta(days=self.stale_days)).strftime("%Y-%m-%d")


def public_report(report: Report, suite: Suite, *, terms: Terms, place: LogPlace | None) -> Report:
    """Make the public report; its cases are streamed, each beside its line of the suite.

    Raises
    ------
    UsageError
        The run was interrupted, or the suite is not the one that it asked.
    """
    head = report.head
    if head["verdict"] == "cancelled":
        raise UsageError(f"run {head['run']} was interrupted: continue it, then publish it")
    if suite.sha256 != head["suite"]["sha256"]:
        raise UsageError(
            f"{suite.path} is not the suite that run {head['run']} asked: its SHA-256 is "
            f"{suite.sha256[:12]}…, that of the run's {head['suite']['sha256'][:12]}…"
        )

    def cases() -> Iterator[Document]:
        return _cases(report, suite, terms.hiding)

    return Report(_head(head, terms, place), cases)


def _head(head: Document, terms: Terms, place: LogPlace | None) -> dict[str, Any]:
    hiding = terms.hiding
    return {
        "schema": SCHEMA,
        "run": hiding.name(head["run"]),
        "verdict": head["verdict"],
        "reasons": _sentences(head["reasons"], hiding),
        "started": head["started"],
        "finished": head["finished"],
        "published": terms.published.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "stale_after": terms.stale_after,
        "indexed": terms.indexed,
        "path": head["path"],
        "denv": head["denv"]["version"],
        "log": None if place is None else _log(place),
        "suite": {**_some(head["suite"], ("sha256", "cases", "drawn")),
                  "name": hiding.name(head["suite"]["name"])},
        "stage": _side(head["stage"], hiding),
        "reference": _side(head["reference"], hiding),
        "release": hiding.name(head["release"]),
        "engine": _engine(head["engine"], hiding),
        "recipe": hiding.name(head["recipe"]),
        "settings": _settings(head["settings"]),
        "kinds": {name: _kind(kind, hiding) for name, kind in head["kinds"].items()},
        "checks": {name: _some(check, _ESTIMATE) for name, check in head["checks"].items()},
        "causes": dict(head["causes"]),
        "tools": _tools(head["tools"]),
        "hints": _sentences(head["hints"], hiding),
        "noise": _noise(head["noise"], hiding),
        "gaming": _gaming(head.get("gaming"), hiding),
        "unanswered": head["unanswered"],
        "limits": _sentences(head["limits"], hiding),
    }  # fmt: skip


def _some(document: Document, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: document[name] for name in names if name in document}


def _settings(settings: Document) -> dict[str, Any]:
    shown = _some(settings, _SETTINGS)
    return {**shown, "pass": _some(settings["pass"], _KINDS)} if "pass" in shown else shown


def _kind(kind: Document, hiding: Hiding) -> dict[str, Any]:
    power = kind["power"]
    return {
        **_some(kind, _KIND),
        "reason": hiding.sentence(kind["reason"]),
        "power": None if power is None else _some(power, _POWER),
    }


def _sentences(texts: list[str], hiding: Hiding) -> list[str]:
    return [hiding.sentence(text) for text in texts]


def _log(place: LogPlace) -> dict[str, Any]:
    return {
        "position": place.position,
        "runs": place.runs,
        "cancelled": place.cancelled,
        "number": place.last.number,
        "entries": place.entries,
        "entry": place.last.entry,
    }


def _side(side: Document, hiding: Hiding) -> dict[str, Any]:
    return {
        **{name: hiding.name(side.get(name)) for name in ("name", "model", "engine")},
        **_some(side, _SIDE),
    }


def _engine(engine: Document | None, hiding: Hiding) -> dict[str, Any] | None:
    if engine is None:
        return None
    named = {name: hiding.name(engine[name]) for name in ("name", "version")}
    return {**named, "deterministic": engine["deterministic"]}


def _tools(tools: Document | None) -> dict[str, Any] | None:
    if tools is None:
        return None
    sides = {side: _some(tools[side], _TOOL_SIDE) for side in ("stage", "reference")}
    return {**_some(tools, _TOOLS), "trigger": _some(tools["trigger"], _TRIGGER), **sides}


def _noise(noise: Document | None, hiding: Hiding) -> dict[str, Any] | None:
    if noise is None:
        return None
    told = noise["deterministic"]
    finding = None if told["finding"] is None else hiding.sentence(told["finding"])
    return {
        **_some(noise, ("cases", "tolerances")),
        **{side: _noise_side(noise[side]) for side in ("stage", "reference")},
        "deterministic": {**_some(told, ("declared", "held")), "finding": finding},
    }


def _noise_side(side: Document) -> dict[str, Any]:
    delta = side["logprob_delta"]
    return {
        "kinds": {name: _some(row, _AGREEMENT) for name, row in side["kinds"].items()},
        "identical": {
            name: _some(row, ("cases", "identical")) for name, row in side["identical"].items()
        },
        "logprob_delta": None if delta is None else _some(delta, ("median", "p99", "max")),
    }


def _gaming(gaming: Document | None, hiding: Hiding) -> dict[str, Any] | None:
    """Tell of private cases how many there were and how many passed, and nothing else."""
    if gaming is None:
        return None
    return {
        **_some(gaming, _GAMING),
        "reason": hiding.sentence(gaming["reason"]),
        "compared": _some(gaming["compared"], ("public", "private")),
        **{name: _part(gaming[name]) for name in ("public", "private")},
    }


def _part(part: Document) -> dict[str, Any]:
    sides = {side: _some(part[side], ("pass", "pass_rate")) for side in ("stage", "reference")}
    return {**_some(part, ("planned", "counted")), **sides}


# ---------------------------------------------------------------- cases


def _cases(report: Report, suite: Suite, hiding: Hiding) -> Iterator[Document]:
    """Walk over both, which are in the suite's order; a run may have asked only some cases."""
    lines = iter(suite)
    for case in report.cases():
        line = next(line for line in lines if line.index == case["index"])
        asked = json.loads(dump_case(line))
        yield {
            "id": hiding.answer(case["id"]),
            **_some(case, ("check", "kind", "outcome", "cause")),
            "reason": hiding.sentence(case["reason"]),
            "asked": _clipped(hiding.anywhere(_some(asked, _ASKED))),
            "stage": _answer(case["stage"], hiding),
            "reference": _answer(case["reference"], hiding),
        }


def _answer(side: Document | None, hiding: Hiding) -> dict[str, Any] | None:
    if side is None:
        return None
    said = _some(side, ("text", "reasoning", "finish_reason"))
    said["tool_calls"] = [
        _some(call, ("name", "arguments", "error")) for call in side["tool_calls"]
    ]
    problem = side["problem"]
    return {
        **_clipped(hiding.anywhere(said)),
        "problem": None if problem is None else hiding.sentence(problem),
    }


def _clipped(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) <= MOST_TEXT:
            return value
        return f"{value[:MOST_TEXT]}… ({len(value) - MOST_TEXT:,} more characters)"
    if isinstance(value, dict):
        return {key: _clipped(each) for key, each in value.items()}
    return [_clipped(each) for each in value] if isinstance(value, list) else value
