"""All that is served over HTTP, as one application with one guard before it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount

from denv.errors import StoreError
from denv.records import Secret
from denv.serve.access.callers import Callers
from denv.serve.access.guard import Guard, Rules
from denv.serve.access.headers import SafeAnswers
from denv.serve.access.places import Place, place_of
from denv.serve.access.rates import Rates
from denv.serve.access.signin import Invitation, SignIn
from denv.serve.api import api_app
from denv.serve.context import ServeContext
from denv.serve.gatehook import gate_app
from denv.serve.health import Health, health_route
from denv.serve.hosts import allowed_hosts, is_loopback
from denv.serve.metrics import metrics_routes
from denv.serve.pages import asset_routes, error_page, page_routes
from denv.serve.pages.rendering import render
from denv.serve.publications import publication_app

_log = logging.getLogger("denv.serve")


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Where the pages listen, and what they may start: gates of ``releases``, with ``token``.

    ``allow_hosts`` are names beside the address that callers may use; ``behind_tls`` says that
    something before this server encrypts, so that cookies are sent over TLS alone.
    """

    host: str
    port: int
    releases: Path | None = None
    token: Secret | None = None
    allow_hosts: tuple[str, ...] = ()
    behind_tls: bool = False


def build_app(
    context: ServeContext,
    settings: PageSettings,
    health: Health,
    *,
    invitation: Invitation | None = None,
) -> Starlette:
    """Build the application; ``invitation`` lets whoever has it sign in once."""
    callers = Callers(
        context.store.tokens,
        lambda: context.now().timestamp(),
        data=context.store.meta.identity(),
        secure=settings.behind_tls,
    )
    rates = Rates()
    # Elsewhere than on loopback the name is the proxy's or the network's, which nobody told us;
    # a page that was led here has neither the cookie of that name nor a token.
    free = not is_loopback(settings.host)
    hosts = allowed_hosts(settings.host, settings.allow_hosts, open_to_all=free)
    gate = None if settings.releases is None else _gate(context, settings, callers)
    app = Starlette(
        routes=[
            health_route(health),
            *asset_routes(),
            *SignIn(callers, rates, _sign_in_page, invitation).routes(),
            *metrics_routes(context),
            Mount("/r", publication_app(context.store.publications)),
            *([] if gate is None else [Mount("/gate", gate)]),
            Mount("/api/v1", api_app(context, cookie=callers.cookie)),
            *page_routes(context),
        ],
        middleware=[
            Middleware(SafeAnswers, on_error=answer_error),
            Middleware(Guard, rules=Rules(callers, hosts, rates), refuse=answer_error),
        ],
        exception_handlers={HTTPException: _answered, StoreError: _answered},
        lifespan=lambda _: _ending(gate),
    )
    app.router.redirect_slashes = False  # it would lead to whatever host a request names
    return app


def answer_error(request: Request, error: Exception) -> Response:
    """Answer what went wrong: browsers by a page, programs by a reason."""
    if place_of(request.scope["path"]) in {Place.PAGES, Place.SIGN_IN}:
        return error_page(request, error)
    if isinstance(error, HTTPException):
        reason, headers = error.detail, dict(error.headers or {})
        return JSONResponse({"reason": reason}, error.status_code, headers=headers)
    if isinstance(error, StoreError):
        return JSONResponse({"reason": str(error)}, HTTPStatus.SERVICE_UNAVAILABLE)
    _log.error("a request broke", exc_info=error)
    return JSONResponse({"reason": "something broke on our side: the server's log says what"}, 500)


async def _answered(request: Request, error: Exception) -> Response:
    return answer_error(request, error)


def _sign_in_page(request: Request, status: int, error: str | None, onward: str) -> Response:
    return render(request, "signin.html.j2", status=status, error=error, next=onward)


def _gate(context: ServeContext, settings: PageSettings, callers: Callers) -> Starlette:
    assert settings.releases is not None  # noqa: S101 - asked by the caller
    token = settings.token

    async def known(shown: str) -> bool:
        found = await callers.bearer(shown)
        return found is not None and found.role == "run"

    hosts = allowed_hosts(settings.host, settings.allow_hosts, open_to_all=token is not None)
    return gate_app(
        releases=settings.releases, data=context.folder, token=token, hosts=hosts, known=known
    )


@asynccontextmanager
async def _ending(gate: Starlette | None) -> AsyncIterator[None]:
    """End the gates that run when this ends: what is mounted has no life of its own."""
    async with AsyncExitStack() as stack:
        if gate is not None:
            await stack.enter_async_context(gate.router.lifespan_context(gate))
        yield
