"""Two runs side by side: which cases changed, and whether that is more than chance explains."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.errors import UsageError
from denv.publish.comparing import compare
from denv.records import Json
from denv.report.model import Document
from denv.runner.ledger import stored_report
from denv.serve.actions import ActionError, ended_run
from denv.serve.context import ServeContext
from denv.serve.pages.rendering import render
from denv.store import RunRow, can_be_kept

CHOICES = 200
"""How many runs can be chosen from; older ones are named in the address."""

MOST_CHANGED = 200
_OF_A_CASE = ("id", "check", "kind", "outcome", "cause", "reason", "index")


@dataclass(frozen=True, slots=True)
class Shown:
    """What was found, or why nothing was; ``index`` gives the place of each case in run B."""

    rows: Mapping[str, RunRow | None]
    found: Mapping[str, Json] | None = None
    index: Mapping[str, int] | None = None
    fault: str = ""
    other_suites: bool = False


def routes(context: ServeContext) -> list[Route]:
    """Give the page."""
    return [Route("/compare", partial(_page, context))]


async def _page(context: ServeContext, request: Request) -> Response:
    a, b = chosen_of(request)
    common = bool(request.query_params.get("common"))
    choices = await asyncio.to_thread(_choices, context, a, b)
    shown = None
    if a and b:
        shown = await context.large.make(partial(_compare, context, a, b, common=common))
    return render(
        request,
        "compare.html.j2",
        a=a,
        b=b,
        common=common,
        choices=choices,
        shown=shown,
        most=MOST_CHANGED,
    )


def chosen_of(request: Request) -> tuple[str | None, str | None]:
    """Read which runs are asked for: as ``a`` and ``b``, or two chosen from the list of runs.

    Raises
    ------
    HTTPException
        Another number of runs was chosen, or nothing can have such a name.
    """
    given = request.query_params
    chosen = given.getlist("run")
    if "run" in given and len(chosen) != 2:
        raise HTTPException(400, "Choose two runs of the list, no fewer and no more.")
    # the list has the newest first: what is older is A
    a, b = reversed(chosen) if chosen else (given.get("a") or None, given.get("b") or None)
    if not all(name is None or can_be_kept(name) for name in (a, b)):
        raise HTTPException(404, "There is no such run.")
    return a, b


def _choices(context: ServeContext, *chosen: str | None) -> Sequence[tuple[str, str]]:
    """Give the runs that can be chosen, with those that are chosen now."""
    browsing = context.store.browsing
    rows = browsing.runs(state="finished", limit=CHOICES)
    listed = {row.run for row in rows}
    rows += [
        row
        for name in chosen
        if name and name not in listed and (row := browsing.run(name)) is not None
    ]
    return [(row.run, _words(row)) for row in rows if row.verdict is not None]


def _words(row: RunRow) -> str:
    of = row.release or row.stage_model or "a stage"
    return f"{row.run}: {row.verdict}, {of[:40]}, {row.suite_name[:40]}"


def _compare(context: ServeContext, a: str, b: str, *, common: bool) -> Shown:
    rows = {name: context.store.browsing.run(run) for name, run in (("a", a), ("b", b))}
    try:
        one, other = _document(context, a), _document(context, b)
    except ActionError as error:
        raise HTTPException(error.status, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    try:
        found = compare(one, other, common=common)
    except UsageError as error:
        differ = one["suite"]["sha256"] != other["suite"]["sha256"]
        return Shown(rows, fault=str(error), other_suites=differ and not common)
    return Shown(rows, found, {case["id"]: case["index"] for case in other["cases"]})


def _document(context: ServeContext, run: str) -> Document:
    """Give a run's report with what is compared of each case."""
    record = ended_run(context, run)
    report = stored_report(context.store, record.run, record.head or {})
    cases: list[dict[str, Any]] = [
        {name: case[name] for name in _OF_A_CASE} for case in report.cases()
    ]
    return {**report.head, "cases": cases}
