"""A run's report → the short document that a deployer reads, ``denv.gate/1``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from denv.records import Json
from denv.report.model import Report

SCHEMA = "denv.gate/1"
RUNNING, ENDED = "running", "ended"

_COUNTS = ("planned", "pass", "fail", "reference-fail", "unmeasured", "reference-error")
_OF_KIND = (*_COUNTS, "pass_rate", "threshold", "verdict")
_OF_CASE = ("id", "kind", "cause", "reason")
MOST_FAILING = 10


def opened(gate: str, *, release: Mapping[str, Json] | None, started: str) -> dict[str, Any]:
    """Give the document of a gate whose run is under way: nothing is known yet."""
    return {
        "schema": SCHEMA,
        "gate": gate,
        "state": RUNNING,
        "verdict": None,
        "exit_code": None,
        "reasons": [],
        "release": None if release is None else dict(release),
        "run": None,
        "suite": None,
        "started": started,
        "finished": None,
        "counts": dict.fromkeys(_COUNTS, 0),
        "kinds": {},
        "causes": {},
        "failing": [],
        "denv": version("denv-parity"),
    }


def ended(
    document: Mapping[str, Any], report: Report, *, exit_code: int, finished: str
) -> dict[str, Any]:
    """Give the document with what the run found."""
    head = report.head
    kinds = {
        kind: {name: found[name] for name in _OF_KIND} for kind, found in head["kinds"].items()
    }
    return {
        **document,
        "state": ENDED,
        "verdict": head["verdict"],
        "exit_code": exit_code,
        "reasons": list(head["reasons"]),
        "run": head["run"],
        "suite": {name: head["suite"][name] for name in ("name", "sha256", "cases")},
        "finished": finished,
        "counts": {name: sum(kind[name] for kind in kinds.values()) for name in _COUNTS},
        "kinds": kinds,
        "causes": dict(head["causes"]),
        "failing": [
            {name: case[name] for name in _OF_CASE} for case in report.failing(MOST_FAILING)
        ],
    }


def broken(
    document: Mapping[str, Any], reason: str, *, exit_code: int, finished: str
) -> dict[str, Any]:
    """Give the document of a gate that could not be decided: verdict ``error``."""
    return {
        **document,
        "state": ENDED,
        "verdict": "error",
        "exit_code": exit_code,
        "reasons": [reason],
        "finished": finished,
    }
