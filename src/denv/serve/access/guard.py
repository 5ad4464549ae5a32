"""The one rule of who may ask what, before everything that is served."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from denv.errors import StoreError
from denv.serve.access.bodies import read_body, replay
from denv.serve.access.callers import Caller, Callers
from denv.serve.access.forgery import is_from_here, shows_secret
from denv.serve.access.places import Place, place_of
from denv.serve.access.rates import REQUESTS, STRANGERS, Rates, who_of
from denv.serve.hosts import host_of

READING = frozenset({"GET", "HEAD"})
SIGN_OUT = "/sign-out"
_BEARER = {"WWW-Authenticate": 'Bearer realm="denv"'}


@dataclass(frozen=True, slots=True)
class Rules:
    """What the guard goes by; ``hosts`` are the names that may be called, any where it is empty."""

    callers: Callers
    hosts: Collection[str]
    rates: Rates = field(default_factory=Rates)


class Guard:
    """Lets a request pass to ``app``, or has ``refuse`` answer it.

    Reading takes the role ``read``, everything else the role ``run``, wherever it leads and
    whether that is there or not. What is not known to be open is private.
    """

    def __init__(
        self, app: ASGIApp, rules: Rules, refuse: Callable[[Request, Exception], Response]
    ) -> None:
        self._app = app
        self._rules = rules
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks anything else
            await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope)
        try:
            receive = await self._admit(request, receive)
        except (HTTPException, StoreError) as error:
            await self._refuse(request, error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _admit(self, request: Request, receive: Receive) -> Receive:
        """Give what the request's body is then read from."""
        place = place_of(request.scope["path"])
        if place in {Place.OPEN, Place.GATE}:
            return receive
        self._check_host(request.headers)
        if place is Place.SIGN_IN:
            return receive
        caller = await self._caller(request)
        request.state.caller = caller
        check_wait(await self._rules.rates.count(REQUESTS, caller.token))
        if request.method in READING:
            return receive
        if caller.role != "run" and request.scope["path"] != SIGN_OUT:
            raise HTTPException(403, "this takes a token of the role run; yours may read")
        body = await read_body(request.headers, receive)
        if caller.csrf is not None:
            _check_forgery(request.headers, body, caller.csrf)
        return replay(body, receive)

    def _check_host(self, headers: Headers) -> None:
        hosts, called = self._rules.hosts, headers.get("host", "")
        name = host_of(called)
        if not name or (hosts and name not in hosts):
            raise HTTPException(
                421, f"the host {called[:80]!r} is not served here; --allow-host NAME adds a name"
            )

    async def _caller(self, request: Request) -> Caller:
        caller = await self._rules.callers.find(request.headers)
        if caller is None:
            asking = who_of(request.scope.get("client"))
            check_wait(await self._rules.rates.count(STRANGERS, asking))
            raise HTTPException(401, "show a token of denv token, or sign in", dict(_BEARER))
        return caller


def check_wait(wait_s: int | None) -> None:
    """Refuse a request that is one too many."""
    if wait_s is not None:
        raise HTTPException(429, "too many requests", {"Retry-After": str(wait_s)})


def _check_forgery(headers: Headers, body: bytes, secret: str) -> None:
    if not is_from_here(headers):
        raise HTTPException(403, "this was not sent by a page of this server")
    if not shows_secret(headers, body, secret):
        raise HTTPException(403, "the form is of another session: load its page again")
