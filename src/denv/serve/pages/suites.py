"""The suites that were run, the one with the newest run first."""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from denv.serve.context import ServeContext
from denv.serve.pages.rendering import render


def routes(context: ServeContext) -> list[Route]:
    """Give the list."""
    return [Route("/suites", partial(_listed, context))]


async def _listed(context: ServeContext, request: Request) -> Response:
    rows = await asyncio.to_thread(context.store.browsing.suites)
    return render(request, "suites.html.j2", rows=rows)
