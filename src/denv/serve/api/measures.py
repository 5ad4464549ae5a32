"""Measurements over the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from denv.rollout.documents import iso
from denv.serve.actions import NotThereError
from denv.serve.api.answers import plain
from denv.serve.api.models import Measure, MeasureDetail, Measures
from denv.serve.api.parameters import ByTime, Context, Name, after
from denv.store import MeasureRow, can_be_kept

router = APIRouter(tags=["measurements"])
GATES = "gates"
"""The instrument that gives no verdict, but what others may be asked."""


class MeasureFilters(ByTime):
    """Which measurements are listed."""

    instrument: str | None = Field(
        default=None,
        max_length=40,
        description="gates, tokens, answers, derivations, all, sentinel, speed",
    )


@router.get("/measures", response_model=Measures)
def list_measures(context: Context, given: Annotated[MeasureFilters, Query()]) -> Any:
    """Give a page of measurements, the newest first."""
    rows = context.store.browsing.measures(
        instrument=given.instrument, before=given.before, limit=given.limit + 1
    )
    page = rows[: given.limit]
    more = after(page[-1].started, page[-1].measure) if len(rows) > len(page) else None
    gates = [each.measure for each in page if each.instrument == GATES]
    documents = context.store.browsing.measured(gates)
    return Measures(
        measures=[_measure(each, documents.get(each.measure)) for each in page], next=more
    )


@router.get("/measures/{measure}", response_model=MeasureDetail)
def show_measure(context: Context, measure: Name) -> Any:
    """Give a measurement with its document."""
    found = context.store.get_measure(measure) if can_be_kept(measure) else None
    if found is None:
        raise NotThereError(f"there is no measurement {measure!r}")
    return MeasureDetail(
        measure=found.measure,
        instrument=found.instrument,
        started=iso(found.started) or "",
        finished=iso(found.finished),
        state=found.state,
        document=None if found.document is None else plain(found.document),
    )


def _measure(row: MeasureRow, gates: Mapping[str, Any] | None) -> Measure:
    times = {"started": iso(row.started), "finished": iso(row.finished)}
    admits = None
    if gates is not None:
        admits = [plain(name) for name, may in gates["admissible"].items() if may]
    return Measure(**{**plain(asdict(row)), **times, "admits": admits})
