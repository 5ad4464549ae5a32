"""What browsers are told about every answer, errors too."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from denv.serve.access.places import Place, place_of

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
OTHER_POLICY = "default-src 'none'; frame-ancestors 'none'"

# Not no-referrer: browsers would then call the origin of our own forms "null".
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class SafeAnswers:
    """Adds headers that an answer does not have yet, and answers what breaks with ``on_error``."""

    def __init__(self, app: ASGIApp, on_error: Callable[[Request, Exception], Response]) -> None:
        self._app = app
        self._on_error = on_error

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        place, begun = place_of(scope["path"]), False

        async def safe(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                _complete(MutableHeaders(scope=message), place)
            await send(message)

        try:
            await self._app(scope, receive, safe)
        except Exception as error:  # whatever broke a page: its answer needs these headers too
            if begun:
                raise
            await self._on_error(Request(scope), error)(scope, receive, safe)


def _complete(headers: MutableHeaders, place: Place) -> None:
    for name, value in ALWAYS.items():
        headers.setdefault(name, value)
    kind = headers.get("content-type", "").partition(";")[0]
    policies = {"text/html": PAGE_POLICY, "image/svg+xml": PICTURE_POLICY}
    headers.setdefault("Content-Security-Policy", policies.get(kind, OTHER_POLICY))
    if place not in {Place.OPEN, Place.GATE}:
        headers["Cache-Control"] = "no-store"
