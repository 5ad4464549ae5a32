"""The document ``denv.parity.derivations/1``: how much was written first, then what came of it."""

from __future__ import annotations

from collections.abc import Sequence

from denv.instruments.derivations.judging import Assessment, Row
from denv.instruments.derivations.outcomes import Reading
from denv.instruments.paired.traces import trace_document
from denv.instruments.probes import Finding
from denv.records import Json

UNDECIDED = "undecided"

_FIGURES = ("sides", "pairs", "drop", "mcnemar", "equivalence", "degenerate_rise", "by_field")


def refused(reasons: Sequence[str], warnings: Sequence[str]) -> Finding:
    """Give the document of a measurement that was not made."""
    body: dict[str, Json] = {
        "traces": None,
        "verdict": UNDECIDED,
        "reasons": list(reasons),
        "warnings": list(warnings),
        "asked": 0,
        **dict.fromkeys(_FIGURES),
        "items": None,
    }
    return Finding(UNDECIDED, body)


def told(found: Assessment, warnings: Sequence[str]) -> Finding:
    """Give the document of a measurement; the traces stand first."""
    verdict = found.paired.verdict
    body: dict[str, Json] = {
        "traces": found.traces.document(),
        "verdict": verdict,
        "reasons": list(found.paired.reasons),
        "warnings": [*warnings, *found.traces.warnings()],
        "asked": len(found.rows),
        "sides": {
            "reference": found.reference.document(),
            "stage": found.stage.document(),
        },
        **found.paired.document(),
        "by_field": {field: table.document() for field, table in found.by_field.items()},
        "items": [_row(row) for row in found.rows],
    }
    return Finding(verdict, body)


def _row(row: Row) -> dict[str, Json]:
    return {
        "id": row.item.id,
        "field": row.item.field,
        "template": row.item.template,
        "form": row.item.form.kind,
        "truth": row.item.truth,
        "reference": _reading(row.reference),
        "stage": _reading(row.stage),
    }


def _reading(reading: Reading) -> dict[str, Json]:
    return {
        "state": reading.state.value,
        "final": reading.final,
        **trace_document(reading.trace),
        "reason": reading.reason or None,
    }
