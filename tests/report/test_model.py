"""The report document against its schema."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from denv.report import Report, validate
from denv.report.model import DocumentError
from tests.report import samples


def whole(report: Report) -> dict[str, Any]:
    return {**report.head, "cases": list(report.cases())}


@pytest.mark.parametrize("name", ["passing", "failing", "inconclusive", "hostile"])
def test_documents_of_every_verdict_are_valid(name):
    """The schema takes what the contract describes, whatever the texts hold."""
    validate(whole(getattr(samples, name)()))


FAULTS = {
    "a field that is not in the contract": lambda d: d.update(colour="red"),
    "an unknown field of a case": lambda d: d["cases"][0].update(note="x"),
    "an unknown field of a side": lambda d: d["cases"][0]["stage"].update(role="assistant"),
    "an unknown field of an endpoint": lambda d: d["stage"].update(key="sk-1"),
    "a missing verdict": lambda d: d.pop("verdict"),
    "a missing outcome": lambda d: d["cases"][0].pop("outcome"),
    "a missing count": lambda d: d["kinds"]["exact"].pop("reference-fail"),
    "a rate that is not a number": lambda d: d["kinds"]["exact"].update(pass_rate=float("nan")),
    "an infinite figure": lambda d: d["stage"].update(cost=float("inf")),
    "a rate above one": lambda d: d["kinds"]["exact"].update(pass_rate=1.2),
    "a negative count": lambda d: d["kinds"]["exact"].update(fail=-1),
    "a boolean for a count": lambda d: d["kinds"]["exact"].update(fail=True),
    "an interval of three numbers": lambda d: d["kinds"]["exact"].update(interval=[0, 0.5, 1]),
    "a kind that does not exist": lambda d: d["kinds"].update(speed=d["kinds"]["exact"]),
    "a cause that does not exist": lambda d: d["causes"].update(weather=1),
    "a verdict that does not exist": lambda d: d.update(verdict="ok"),
    "a failure without a cause": lambda d: d["cases"][0].update(outcome="fail", cause=None),
    "a time without a zone": lambda d: d.update(started="2026-11-29T22:38:11"),
    "another version": lambda d: d.update(schema="denv.parity.report/2"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_anything_else_is_refused(fault):
    """Unknown fields, missing fields and figures that are not finite numbers are errors."""
    document = copy.deepcopy(whole(samples.passing()))
    FAULTS[fault](document)
    with pytest.raises(DocumentError, match=r"^\$"):
        validate(document)


def test_a_fault_names_its_place():
    """The error names where in the document the fault is."""
    document = whole(samples.passing())
    document["cases"][3] = {**document["cases"][3], "kind": "speed"}
    with pytest.raises(DocumentError, match=r"\$\.cases\[3\]\.kind"):
        validate(document)


def test_reading_stops_after_the_last_failing_case():
    """A million passing cases behind the last failure are not read to find the failures."""
    read: list[int] = []

    def cases():
        for index in range(1000):
            read.append(index)
            yield samples.case(index, "fail" if index in {3, 7} else "pass")

    kinds = {"exact": samples.kind(1000, 998, 2)}
    report = Report(samples.head(kinds=kinds), cases)
    assert [each["index"] for each in report.failing(10)] == [3, 7]
    assert read[-1] == 7


def test_a_document_read_from_a_file_is_a_report():
    """A whole document splits into its head and a stream that can be walked twice."""
    document = whole(samples.failing())
    report = Report.of(document)
    assert "cases" not in report.head
    assert list(report.cases()) == list(report.cases()) == document["cases"]
