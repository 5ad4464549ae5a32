"""The document of derivations as tables on a terminal and as one page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.console import Group, RenderableType

from denv.report.measure_page import Part, Section, Table, measure_page
from denv.report.paired import (
    DROP_COLUMNS,
    PAIR_COLUMNS,
    SIDE_COLUMNS,
    TRACE_COLUMNS,
    Document,
    drop_rows,
    listed,
    lost,
    pair_rows,
    paired_part,
    side_rows,
    table,
    trace_rows,
    verdict_lines,
)

VERDICTS = {
    "faithful": "The stage derives as much rightly as the reference, within the margin.",
    "different": "The stage is right less or more often than the reference, beyond the margin.",
    "undecided": "The derivations do not show whether the stage is right as often.",
}

STATES = {
    "right": "right",
    "wrong": "wrong",
    "unreadable": "answer in no known notation",
    "absent": "no FINAL line",
    "degenerate": "ends in a loop",
    "undecided": "equality not decided, open",
    "truncated": "cut off, open",
    "unusable": "no usable answer, open",
}

FIELD_COLUMNS = ("field", "both right", "reference alone", "stage alone", "neither", "open")


def field_rows(document: Document) -> Iterator[list[str]]:
    """Give the pairs of each field of mathematics."""
    for field, pairs in document["by_field"].items():
        cells = (pairs[key] for key in ("both", "reference_only", "stage_only", "neither", "open"))
        yield [field, *(f"{cell:,}" for cell in cells)]


def render(document: Document) -> RenderableType:
    """Give lengths, verdict, counts and pairs for a terminal."""
    if document["sides"] is None:
        return Group(*verdict_lines(document, VERDICTS), *listed("Warnings", document["warnings"]))
    return Group(
        table("What is written", TRACE_COLUMNS, list(trace_rows(document["traces"]))),
        *verdict_lines(document, VERDICTS),
        *(table(*one) for one in _tables(document)),
        *listed("No usable answer", list(lost(document))),
        *listed("Warnings", document["warnings"]),
    )


def page(document: Document) -> str:
    """Give the document as one web page that needs nothing else."""
    return measure_page(document, replace(part(document), title="measure derivations"))


def part(document: Document) -> Part:
    """Give verdict and tables for a page."""
    sections = []
    if document["sides"] is not None:
        written = Table("Both sides", TRACE_COLUMNS, list(trace_rows(document["traces"])))
        sections = [
            Section("What is written", tables=[written]),
            Section(
                "What became of it",
                tables=[Table(*one) for one in _tables(document)],
                lists=[("No usable answer", list(lost(document)))],
            ),
        ]
    return paired_part(document, "derivations", VERDICTS[document["verdict"]], sections)


def _tables(document: Document) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    return [
        ("What became of it", SIDE_COLUMNS, list(side_rows(document, STATES))),
        ("Both sides on the same items", PAIR_COLUMNS, list(pair_rows(document))),
        ("Stage beside reference", DROP_COLUMNS, list(drop_rows(document))),
        ("By field", FIELD_COLUMNS, list(field_rows(document))),
    ]
