"""What went wrong, as a page with one sentence and a way on."""

from __future__ import annotations

import logging
from http import HTTPStatus
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from denv.errors import StoreError
from denv.serve.access.places import MOST_NEXT
from denv.serve.pages.rendering import render

_log = logging.getLogger("denv.serve")

TITLES = {
    400: "This cannot be asked",
    403: "Your token may not do this",
    404: "This page does not exist",
    405: "This address does not take that",
    409: "This cannot be done now",
    413: "That is too much at once",
    429: "Too many requests",
    500: "Something broke on our side",
    503: "The server cannot answer now",
}
SAYS = {
    400: "The address holds something that has no meaning here.",
    403: "Ask whoever runs this server for a token of the role that it takes.",
    404: "Nothing is at this address, or it was taken away.",
    405: "Go back, and use the links and buttons of the page.",
    409: "Its state has changed meanwhile.",
    413: "What was sent is larger than any form of these pages.",
    429: "Wait a little, and try again.",
    500: "The server's log says what happened.",
    503: "Try again in a moment.",
}


def error_page(request: Request, error: Exception) -> Response:
    """Answer an exception: whoever is not signed in is led to where that is done."""
    if isinstance(error, HTTPException):
        if error.status_code == 401:
            return RedirectResponse(sign_in_address(request), status_code=303)
        return _page(request, error.status_code, error.detail, headers=error.headers)
    if isinstance(error, StoreError):
        _log.error("a page could not read the store", exc_info=error)
        return _page(request, 503, f"The data cannot be read: {error}")
    _log.error("a page broke", exc_info=error)
    return _page(request, 500, "")


def sign_in_address(request: Request) -> str:
    """Give where to sign in, and then to go on; only a page that is read can be gone on with."""
    if request.method not in {"GET", "HEAD"} or request.url.path == "/":
        return "/sign-in"
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    # what is longer would not be followed, and proxies refuse heads of such a length
    return f"/sign-in?next={quote(asked, safe='/')}" if len(asked) <= MOST_NEXT else "/sign-in"


def _page(request: Request, status: int, detail: str, *, headers: object = None) -> Response:
    known = status in TITLES
    phrase = HTTPStatus(status).phrase
    says = SAYS.get(status, "") if detail in {"", phrase} else detail
    return render(
        request,
        "error.html.j2",
        status=status,
        headers=dict(headers) if isinstance(headers, dict) else None,
        code=status,
        title=TITLES[status] if known else phrase,
        says=_sentence(says),
    )


def _sentence(words: str) -> str:
    """Write what may be the reason of an exception as a sentence."""
    ended = words if words.endswith((".", "!", "?")) or not words else f"{words}."
    return f"{ended[:1].upper()}{ended[1:]}"
