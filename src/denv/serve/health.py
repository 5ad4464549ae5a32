"""``GET /health``: whether all parts are well, for whoever asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


@dataclass(frozen=True, slots=True)
class Health:
    """Each part that is served, and what tells whether it is well."""

    checks: Mapping[str, Callable[[], Awaitable[bool]]]

    async def parts(self) -> dict[str, bool]:
        """Give each part and whether it is well."""
        found = await asyncio.gather(*(check() for check in self.checks.values()))
        return dict(zip(self.checks, found, strict=True))


def health_route(health: Health) -> Route:
    """Give the route."""

    async def healthy(_: Request) -> JSONResponse:
        parts = await health.parts()
        well = all(parts.values())
        body = {"status": "ok" if well else "failing", "parts": parts}
        return JSONResponse(body, status_code=200 if well else 503)

    return Route("/health", healthy)
