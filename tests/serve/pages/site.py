"""The pages as a site of their own: a caller of some role, and the policy that browsers hold to."""

from __future__ import annotations

import dataclasses
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from denv.errors import DenvError
from denv.serve.pages import (
    alarms,
    asset_routes,
    error_page,
    measure,
    measures,
    published,
    rollout,
    rollouts,
    schedule,
    schedules,
    suite,
    suites,
)  # fmt: skip

MINE = (
    measures, measure, rollouts, rollout, alarms, schedules, schedule, suites, suite, published,
)  # fmt: skip
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@dataclasses.dataclass
class Someone:
    """A caller whom the access rules have let in."""

    role: str = "run"
    name: str = "ann"
    csrf: str | None = "the-token-of-the-form"


def site_of(context: Any, caller: Someone) -> Any:
    """Give the pages as they are mounted, for one caller."""
    app = Starlette(
        routes=[route for module in MINE for route in module.routes(context)] + asset_routes(),
        exception_handlers={HTTPException: error_page, DenvError: error_page},
    )

    async def let_in(scope, receive, send):
        async def guarded(message):
            if message["type"] == "http.response.start":
                message["headers"].append((b"content-security-policy", POLICY.encode()))
            await send(message)

        if scope["type"] == "http":
            scope.setdefault("state", {})["caller"] = caller
        await app(scope, receive, guarded)

    return let_in
