"""Stages, runs, cases, reports and suites over the API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from denv.records import Cause, Outcome, Verdict
from denv.rollout.documents import iso
from denv.serve.actions import NotThereError
from denv.serve.api.answers import plain
from denv.serve.api.models import (
    CaseDocument,
    Cases,
    Count,
    Run,
    RunDetail,
    Runs,
    Stage,
    Stages,
    Suite,
    Suites,
)
from denv.serve.api.parameters import ByIndex, ByTime, Context, Name, after
from denv.serve.context import ServeContext
from denv.store import RunRow

router = APIRouter(tags=["runs"])


class RunFilters(ByTime):
    """Which runs are listed."""

    stage: str | None = Field(default=None, max_length=64, description="A stage's digest.")
    suite: str | None = Field(default=None, max_length=64, description="A suite's sha256.")
    verdict: Verdict | None = None
    state: str | None = Field(default=None, max_length=16, description="running, stopped, finished")


class CaseFilters(ByIndex):
    """Which cases are listed."""

    outcome: Outcome | None = None
    cause: Cause | None = None
    check: str | None = Field(default=None, max_length=64, description="The name of a check.")


@router.get("/stages", response_model=Stages)
def list_stages(context: Context) -> Any:
    """Give the stages that runs have asked, the one with the newest run first."""
    found = context.store.browsing.stages()
    return {
        "stages": [
            Stage(
                stage=each.stage,
                url=plain(each.url),
                model=plain(each.model),
                runs=each.runs,
                latest=_run(each.latest),
                standing=None if each.standing is None else _run(each.standing),
            )
            for each in found
        ]
    }


@router.get("/suites", response_model=Suites)
def list_suites(context: Context) -> Any:
    """Give the suites that were run, the one with the newest run first."""
    return {"suites": [Suite(**plain(asdict(each))) for each in context.store.browsing.suites()]}


@router.get("/runs", response_model=Runs)
def list_runs(context: Context, given: Annotated[RunFilters, Query()]) -> Any:
    """Give a page of runs, the newest first."""
    rows = context.store.browsing.runs(
        stage=given.stage,
        suite=given.suite,
        verdict=given.verdict,
        state=given.state,
        before=given.before,
        limit=given.limit + 1,
    )
    page = rows[: given.limit]
    more = after(page[-1].started, page[-1].run) if len(rows) > len(page) else None
    return Runs(runs=[_run(each) for each in page], next=more)


@router.get("/runs/{run}", response_model=RunDetail)
def show_run(context: Context, run: Name) -> Any:
    """Give a run with its counts, and the report without its cases once it has ended."""
    row = _known(context, run)
    record = context.store.get_run(run)
    counts = context.store.browsing.counts(run)
    return RunDetail(
        **_run(row).model_dump(),
        counts=[
            Count(outcome=outcome, cause=cause, cases=n) for (outcome, cause), n in counts.items()
        ],
        report=None if record is None or record.head is None else plain(record.head),
    )


@router.get("/runs/{run}/cases", response_model=Cases)
def list_cases(context: Context, run: Name, given: Annotated[CaseFilters, Query()]) -> Any:
    """Give a page of a run's cases, in the suite's order."""
    _known(context, run)
    rows = context.store.browsing.cases(
        run,
        outcome=given.outcome,
        cause=given.cause,
        check=given.check,
        after=given.after,
        limit=given.limit + 1,
    )
    page = rows[: given.limit]
    more = str(page[-1][0]) if len(rows) > len(page) else None
    return Cases(cases=[plain(document) for _, document in page], next=more)


@router.get("/runs/{run}/cases/{index}", response_model=CaseDocument)
def show_case(context: Context, run: Name, index: int) -> Any:
    """Give one case by its place in the suite, from 0."""
    _known(context, run)
    found = context.store.browsing.case(run, index)
    if found is None:
        raise NotThereError(f"run {run} has no case {index}")
    return plain(found)


def _known(context: ServeContext, run: str) -> RunRow:
    found = context.store.browsing.run(run)
    if found is None:
        raise NotThereError(f"there is no run {run!r}")
    return found


def _run(row: RunRow) -> Run:
    times = {"started": iso(row.started), "finished": iso(row.finished)}
    return Run(**{**plain(asdict(row)), **times, "purpose": row.purpose.value})
