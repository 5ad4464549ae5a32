"""Runs as the program keeps them, with their cases, from the documents of the reports' tests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from denv.report import Report
from denv.store import RunRecord
from denv.store.forms import result_from_document
from tests import suites
from tests.report import samples

BEGAN = 1_796_083_200.0  # 2026-12-01T00:00:00Z
STAGE = {"url": "http://127.0.0.1:8080/v1", "model": "smollm2-135m-instruct"}
REFERENCE = {"url": "https://api.example.com/v1", "model": "smollm2"}


def keep(
    store: Any,
    report: Report,
    *,
    run: str,
    started: float = BEGAN,
    took_s: float = 219.0,
    stage: Mapping[str, Any] = STAGE,
    suite_file: Path | None = None,
    sha256: str = "ab" * 32,
) -> str:
    """Keep a run that has ended, with all its cases."""
    cases = [{**case, "index": index} for index, case in enumerate(report.cases())]
    suite = {**report.head["suite"], "cases": len(cases), "sha256": sha256}
    head = {**report.head, "run": run, "suite": suite}
    identity = {
        "suite": suite, "stage": dict(stage), "reference": REFERENCE,
        "release": head["release"],
    }  # fmt: skip
    options = {} if suite_file is None else {"suite": str(suite_file)}
    settings = {"identity": identity, "options": options}
    store.create_run(RunRecord(run, started, "running", settings, {}))
    store.append(run, [], results(cases))
    store.update_run(run, state="finished", head=head, finished=started + took_s)
    return run


def several(store: Any, folder: Path) -> dict[str, str]:
    """Keep runs of every kind: give their names by what they show."""
    day = 86_400.0
    suite = suites.write(folder, suites.numbered(121))
    digest = hashlib.sha256(suite.read_bytes()).hexdigest()
    for number in range(6):
        keep(store, samples.passing(), run=f"daily-{number}", started=BEGAN - (9 - number) * day)
    found = {
        "passing": "daily-5",
        "failing": keep(store, samples.failing(), run="20261201-000000-ab12cd", started=BEGAN),
        "with_suite": keep(
            store,
            samples.failing(),
            run="with-suite-1",
            started=BEGAN - 8 * day,
            suite_file=suite,
            sha256=digest,
        ),
        "inconclusive": keep(
            store,
            samples.inconclusive(),
            run="limited-1",
            started=BEGAN - 2 * day,
            stage={"url": "https://gateway.example.com/v1", "model": "llama-3.3-70b-instruct"},
        ),
        "hostile": keep(
            store,
            samples.hostile(),
            run="hostile-1",
            started=BEGAN - day,
            stage={"url": "http://[::1]:9000/v1", "model": samples.HOSTILE[0]},
        ),
        "scheduled": keep(
            store,
            samples.passing(),
            run="nightly-29",
            started=BEGAN - day / 4,
            stage={"url": "http://127.0.0.1:8080/v1", "model": "m"},  # as the plans of rollouts
        ),
        "running": "going-1",
        "stopped": "stopped-1",
    }
    _unfinished(store, "going-1", 47, "running", BEGAN + 1500)
    _unfinished(store, "stopped-1", 12, "stopped", BEGAN + 60)
    return found


def _unfinished(store: Any, run: str, done: int, state: str, started: float) -> None:
    settings = {
        "identity": {
            "suite": {"name": "core.jsonl", "sha256": "ab" * 32, "cases": 120},
            "stage": STAGE,
            "reference": REFERENCE,
            "release": "chat-r8",
        },
        "options": {},
    }
    store.create_run(RunRecord(run, started, state, settings, {}))
    store.append(run, [], results(samples.case(index) for index in range(done)))


def results(cases: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Give cases as a run writes them."""
    return [result_from_document(dict(case)) for case in cases]
