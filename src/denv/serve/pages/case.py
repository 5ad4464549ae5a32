"""One case of a run: what was asked, both answers whole, and the failing cases beside it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.report.caseview import CaseView, view
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import name_of
from denv.serve.pages.asked import Asked, NotKnownError, asked_of
from denv.serve.pages.naming import stage_words
from denv.serve.pages.rendering import render
from denv.store import RunRow

MISSING = "This run has no such case."
TEXT = 100_000
"""Characters of each answer; what is longer is cut, and whole in the JSON of the case."""


@dataclass(frozen=True, slots=True)
class Shown:
    """All that is read for the page; ``before`` and ``after`` are failing cases."""

    row: RunRow
    case: CaseView
    asked: Asked | None
    missing: str
    before: int | None
    after: int | None


def routes(context: ServeContext) -> list[Route]:
    """Give the page."""
    return [Route("/runs/{run}/cases/{index}", partial(_page, context))]


async def _page(context: ServeContext, request: Request) -> Response:
    run, index = name_of(request, "run", missing=MISSING), request.path_params["index"]
    if not index.isascii() or not index.isdecimal() or len(index) > 9:
        raise HTTPException(404, MISSING)
    shown = await asyncio.to_thread(_read, context, run, int(index))
    row = shown.row
    return render(
        request,
        "case.html.j2",
        shown=shown,
        row=row,
        index=int(index),
        case=shown.case,
        stage=stage_words(row.stage_url, row.stage_model),
    )


def _read(context: ServeContext, run: str, index: int) -> Shown:
    browsing = context.store.browsing
    row, document = browsing.run(run), browsing.case(run, index)
    record = context.store.get_run(run)
    if row is None or record is None or document is None:
        raise HTTPException(404, MISSING)
    before, after = browsing.beside(run, index, outcome="fail")
    asked, missing = None, ""
    try:
        asked = asked_of(record, index, context.folder)
    except NotKnownError as why:
        missing = str(why)
    return Shown(row, view(document, limit=TEXT), asked, missing, before, after)
