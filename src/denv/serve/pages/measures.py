"""The measurements, the newest first, all or those of one instrument."""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.report.speed import COMPARABLE
from denv.serve.context import ServeContext
from denv.serve.pages.addresses import before_of, cursor_of
from denv.serve.pages.instruments import INSTRUMENTS, SPEED
from denv.serve.pages.rendering import render
from denv.serve.pages.results import WITHOUT_VERDICT, Result, result_of
from denv.store import MeasureRow

PAGE = 50


def routes(context: ServeContext) -> list[Route]:
    """Give the list."""
    return [Route("/measurements", partial(_listed, context))]


async def _listed(context: ServeContext, request: Request) -> Response:
    instrument = request.query_params.get("instrument") or None
    if instrument is not None and instrument not in INSTRUMENTS:
        raise HTTPException(400, f"The instruments are {', '.join(INSTRUMENTS)}.")
    before = before_of(request)

    def read() -> tuple[list[tuple[MeasureRow, Result]], bool]:
        browsing = context.store.browsing
        found = browsing.measures(instrument=instrument, before=before, limit=PAGE + 1)
        shown = found[:PAGE]
        asked = [row.measure for row in shown if row.instrument in WITHOUT_VERDICT]
        documents = browsing.measured(asked)
        results = [(row, result_of(row, documents.get(row.measure))) for row in shown]
        return results, len(found) > PAGE

    rows, more = await asyncio.to_thread(read)
    last = rows[-1][0] if more else None
    return render(
        request,
        "measures.html.j2",
        rows=rows,
        instruments=INSTRUMENTS,
        instrument=instrument,
        older=None if last is None else cursor_of(last.started, last.measure),
        newer=before is not None,
        comparable=COMPARABLE if instrument == SPEED else "",
    )
