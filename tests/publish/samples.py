"""Public reports of runs that were written by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from denv.publish.document import Terms, public_report
from denv.publish.hiding import Hiding
from denv.report import Report
from denv.store import LogEntry, LogPlace
from tests import suites
from tests.report import samples

PUBLISHED = datetime(2026, 11, 30, 12, tzinfo=UTC)
ENTRY = LogEntry(7, "r", 1.0, "a" * 64, "b" * 64, "fail", "c" * 64, "d" * 64, "e" * 64)
PLACE = LogPlace(position=3, runs=5, cancelled=1, last=ENTRY, entries=9)


def public(folder: Path, report: Report, *, place: LogPlace | None = PLACE, **terms) -> Report:
    """Make the public report of a sample, whose suite asks numbers."""
    suite = suites.load(folder, suites.numbered(200))
    known = {**report.head["suite"], "sha256": suite.sha256}
    found = Report({**report.head, "suite": known}, report.cases)
    terms = {"published": PUBLISHED, "hiding": Hiding(), **terms}
    return public_report(found, suite, terms=Terms(**terms), place=place)


def with_private(report: Report) -> Report:
    """Add what a private part has shown."""
    part = {"planned": 40, "counted": 38, "stage": {"pass": 36, "pass_rate": 0.947},
            "reference": {"pass": 37, "pass_rate": 0.974}}  # fmt: skip
    gaming = {
        "verdict": "not-found",
        "reason": "the stage does as well on private cases as on public ones",
        "level": 0.01,
        "p_value": 0.42,
        "difference": 0.004,
        "families": 4,
        "compared": {"public": 80, "private": 38},
        "public": part,
        "private": part,
        "catches": {"0.1": 0.31, "0.3": 0.97},
    }
    return Report({**report.head, "gaming": gaming}, report.cases)


def full(folder: Path) -> Report:
    """Give a report that has every part: failures, noise, private cases, a release."""
    report = with_private(samples.failing())
    head = {**report.head, "noise": samples.noise()}
    head["stage"] = {**head["stage"], "name": "chat, Frankfurt", "engine": "llama.cpp b11549"}
    head["reference"] = {**head["reference"], "name": "the model's official API"}
    return public(folder, Report(head, report.cases))
