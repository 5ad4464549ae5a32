"""Published reports over HTTP: ``/r/<id>/``, read only, for whoever has the address."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from datetime import UTC, datetime

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from denv.errors import StoreError
from denv.publish.badge import draw
from denv.publish.folder import BADGE, ENVELOPE, PAGE, REPORT, SUITE
from denv.publish.history import render_history
from denv.store import Publication, PublicationStore

_log = logging.getLogger("denv.serve")
_ID = re.compile(r"[0-9a-f]{32}")
_TYPES = {
    PAGE: "text/html; charset=utf-8",
    REPORT: "application/json",
    ENVELOPE: "application/json",
    BADGE: "image/svg+xml",
    SUITE: "application/jsonl",
}
_HISTORY = "history"

# The pages allow their own style by its hash; both policies hold, so the stricter one counts.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
MAX_AGE_S = 300
"""How long others may keep a copy: as long a report that was taken back may still be seen."""


def publication_app(store: PublicationStore) -> Starlette:
    """Serve the reports of a store; a mounted application answers its own errors."""

    async def to_folder(request: Request) -> Response:
        """Lead to the folder, whose links begin at its end."""
        publication = await _found(store, request)
        if publication is None:
            return _missing()
        return Response(status_code=308, headers={"Location": f"{publication.publication}/"})

    async def file(request: Request) -> Response:
        publication = await _found(store, request)
        name = request.path_params["name"] or PAGE
        body = None if publication is None else await _body(store, publication, name)
        if publication is None or body is None:
            return _missing()
        return _answer(request, _headers(publication, body, name), body, name)

    app = Starlette(
        routes=[Route("/{publication}", to_folder), Route("/{publication}/{name:path}", file)],
        exception_handlers={StoreError: _unread},
    )
    app.router.redirect_slashes = False  # it would lead to whatever host a request names
    return app


def _answer(request: Request, headers: dict[str, str], body: bytes, name: str) -> Response:
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    kind = "text/html; charset=utf-8" if name == _HISTORY else _TYPES[name]
    return Response(body, headers={**headers, "Content-Type": kind})


def _missing() -> Response:
    """Say the same of what is unknown, taken back or expired."""
    return PlainTextResponse("404: there is no such report", 404, headers=dict(_ALWAYS))


async def _unread(_request: Request, error: Exception) -> Response:
    """Say that it may come back, and no more: whoever asks may be anybody."""
    _log.error("a published report cannot be read: %s", error)
    text = "503: the report cannot be read at the moment; try again later"
    return PlainTextResponse(text, 503, headers={**_ALWAYS, "Cache-Control": "no-store"})


async def _found(store: PublicationStore, request: Request) -> Publication | None:
    """Give the report of an address, as long as it is open."""
    publication = request.path_params["publication"]
    if not _ID.fullmatch(publication):
        return None
    found = await asyncio.to_thread(store.get, publication)
    return found if found is not None and found.is_open(datetime.now(UTC).timestamp()) else None


async def _body(store: PublicationStore, publication: Publication, name: str) -> bytes | None:
    if name == _HISTORY:
        published = await asyncio.to_thread(_of_stage, store, publication)
        return render_history(publication, published).encode()
    if name == BADGE:
        return draw(publication.head, today=datetime.now(UTC).date()).encode()
    if name not in _TYPES:
        return None
    return await asyncio.to_thread(store.file, publication.publication, name)


def _of_stage(store: PublicationStore, publication: Publication) -> list[Publication]:
    """Give the reports of the stage; a run from before the log names no stage."""
    return list(store.all(publication.stage)) if publication.stage else [publication]


_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": POLICY,
    "X-Robots-Tag": "noindex",
}


def _headers(publication: Publication, body: bytes, name: str) -> dict[str, str]:
    headers = {
        **_ALWAYS,
        "Cache-Control": f"public, max-age={MAX_AGE_S}",
        "ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        # A badge stands on other people's pages.
        "Cross-Origin-Resource-Policy": "cross-origin" if name == BADGE else "same-origin",
    }
    if publication.indexed and name != _HISTORY:
        del headers["X-Robots-Tag"]
    return headers
