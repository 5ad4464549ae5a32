"""Signing in with a token, or once with the address that a terminal shows; and signing out."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from denv.serve.access.bodies import read_body
from denv.serve.access.callers import Callers
from denv.serve.access.forgery import fields_of, is_from_here
from denv.serve.access.guard import SIGN_OUT, check_wait
from denv.serve.access.issuing import digest_of, issue
from denv.serve.access.places import local_path
from denv.serve.access.rates import SIGN_INS, Rates, who_of
from denv.store import Token
from denv.store.tokens import SESSION_S

MOST_FORM = 8 * 1024
INVITED_S = 600.0

Show = Callable[[Request, int, str | None, str], Response]
"""Makes the page of a request: its status, what is wrong if anything, and where it then leads."""


@dataclass
class Invitation:
    """A secret that lets whoever is at the terminal sign in once, as long as it is new."""

    now: Callable[[], float]
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _until: float = 0.0

    def __post_init__(self) -> None:
        self._until = self.now() + INVITED_S

    def take(self, given: str) -> bool:
        """Tell whether this is the secret; it is good for nothing from then on."""
        good = secrets.compare_digest(digest_of(given), digest_of(self.secret))
        if not good or self.now() >= self._until:
            return False
        self._until = 0.0
        return True


@dataclass(frozen=True, slots=True)
class SignIn:
    """The two addresses that need no role; ``invitation`` is None where no terminal shows one."""

    callers: Callers
    rates: Rates
    show: Show
    invitation: Invitation | None = None

    def routes(self) -> list[Route]:
        """Give the routes."""
        return [
            Route("/sign-in", self._ask, methods=["GET"]),
            Route("/sign-in", self._sign_in, methods=["POST"]),
            Route(SIGN_OUT, self._sign_out, methods=["POST"]),
        ]

    async def _ask(self, request: Request) -> Response:
        onward = local_path(request.query_params.get("next", "/"))
        once = request.query_params.get("once")
        # What looks ahead at an address, as some mail readers do, asks by HEAD.
        if once is None or request.method != "GET":
            return self.show(request, 200, None, onward)
        await self._count(request)
        if self.invitation is None or not self.invitation.take(once):
            words = "This address was used or is too old. Start denv serve again, or show a token."
            return self.show(request, 403, words, onward)
        now = self.callers.now()
        issued = issue("terminal of denv serve", "run", now=now, expires=now + SESSION_S)
        await asyncio.to_thread(self.callers.store.add, issued.token)
        return await self._let_in(request, issued.token, onward)

    async def _sign_in(self, request: Request) -> Response:
        if not is_from_here(request.headers):
            raise HTTPException(403, "this was not sent by a page of this server")
        await self._count(request)
        body = await read_body(request.headers, request.receive, most=MOST_FORM)
        fields = fields_of(request.headers, body)
        onward = local_path(fields.get("next", "/"))
        token = await self.callers.bearer(fields.get("token", "").strip())
        if token is None:
            words = "No such token lets anybody in: it may be mistyped, expired or revoked."
            return self.show(request, 403, words, onward)
        return await self._let_in(request, token, onward)

    async def _count(self, request: Request) -> None:
        check_wait(await self.rates.count(SIGN_INS, who_of(request.scope.get("client"))))

    async def _let_in(self, request: Request, token: Token, onward: str) -> Response:
        cookie = await self.callers.sign_in(token, request.headers)
        response = RedirectResponse(onward, status_code=303)
        response.set_cookie(
            self.callers.cookie,
            cookie,
            max_age=int(SESSION_S),
            secure=self.callers.secure,
            httponly=True,
            samesite="lax",  # links from alarms lead here; no GET changes anything
        )
        return response

    async def _sign_out(self, request: Request) -> Response:
        session = request.state.caller.session
        if session is not None:
            await asyncio.to_thread(self.callers.store.end_session, session)
        response = RedirectResponse("/sign-in", status_code=303)
        response.delete_cookie(
            self.callers.cookie, secure=self.callers.secure, httponly=True, samesite="lax"
        )
        return response
