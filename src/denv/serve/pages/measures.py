"""The measurements, the newest first, all or those of one instrument."""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.serve.context import ServeContext
from denv.serve.pages.addresses import before_of, cursor_of
from denv.serve.pages.instruments import ENDS, INSTRUMENTS
from denv.serve.pages.rendering import render
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

    def read() -> list[MeasureRow]:
        return context.store.browsing.measures(instrument=instrument, before=before, limit=PAGE + 1)

    rows = await asyncio.to_thread(read)
    last = rows[PAGE - 1] if len(rows) > PAGE else None
    return render(
        request,
        "measures.html.j2",
        rows=rows[:PAGE],
        instruments=INSTRUMENTS,
        instrument=instrument,
        older=None if last is None else cursor_of(last.started, last.measure),
        newer=before is not None,
        tones=ENDS,
    )
