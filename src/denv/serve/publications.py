"""Published reports over HTTP: ``/r/<id>/``, read only, for whoever has the address."""

from __future__ import annotations

import asyncio
import hashlib
import re
from datetime import UTC, datetime

from aiohttp import web

from denv.publish.badge import draw
from denv.publish.folder import BADGE, ENVELOPE, PAGE, REPORT, SUITE
from denv.publish.history import render_history
from denv.store import Publication, PublicationStore

_ID = re.compile(r"[0-9a-f]{32}")
_TYPES = {
    PAGE: "text/html",
    REPORT: "application/json",
    ENVELOPE: "application/json",
    BADGE: "image/svg+xml",
    SUITE: "application/jsonl",
}
_HISTORY = "history"
_STORE: web.AppKey[PublicationStore] = web.AppKey("publications")

# The pages allow their own style by its hash; both policies hold, so the stricter one counts.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
MAX_AGE_S = 300
"""How long others may keep a copy: as long a report that was taken back may still be seen."""


def publication_app(store: PublicationStore) -> web.Application:
    """Serve the reports of a store."""
    app = web.Application()
    app[_STORE] = store
    app.router.add_get("/{publication}", _to_folder)
    app.router.add_get("/{publication}/{name:.*}", _file)
    return app


async def _to_folder(request: web.Request) -> web.StreamResponse:
    """Lead to the folder, whose links begin at its end."""
    publication = await _found(request)
    return web.Response(status=308, headers={"Location": f"{publication.publication}/"})


async def _file(request: web.Request) -> web.StreamResponse:
    publication = await _found(request)
    name = request.match_info["name"] or PAGE
    body = await _body(request.app[_STORE], publication, name)
    if body is None:
        raise web.HTTPNotFound
    kind = "text/html" if name == _HISTORY else _TYPES[name]
    headers = _headers(publication, body, name)
    if request.headers.get("If-None-Match") == headers["ETag"]:
        return web.Response(status=304, headers=headers)
    charset = "utf-8" if kind == "text/html" else None
    return web.Response(body=body, content_type=kind, charset=charset, headers=headers)


async def _found(request: web.Request) -> Publication:
    """Give the report of an address; what is unknown, taken back or expired looks the same."""
    publication = request.match_info["publication"]
    if _ID.fullmatch(publication):
        found = await asyncio.to_thread(request.app[_STORE].get, publication)
        if found is not None and found.is_open(datetime.now(UTC).timestamp()):
            return found
    raise web.HTTPNotFound(text="404: there is no such report", headers=dict(_ALWAYS))


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
