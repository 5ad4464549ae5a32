"""Style sheets and scripts, which anybody may load: they hold nothing of the data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_YEAR = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent; ``digest`` changes with its content."""

    body: bytes
    kind: str
    digest: str


@cache
def _assets() -> Mapping[str, Asset]:
    own = files("denv.serve.pages").joinpath("static")
    found = {each.name: each.read_bytes() for each in own.iterdir() if each.is_file()}
    # the reports' own style, of which there is one copy
    found["report.css"] = files("denv.report").joinpath("templates", "report.css").read_bytes()
    return {
        name: Asset(body, _TYPES[end], hashlib.sha256(body).hexdigest()[:16])
        for name, body in sorted(found.items())
        if (end := name[name.rfind(".") :]) in _TYPES
    }


def asset(name: str) -> str:
    """Give the address of a file, another one for each content, so that it can be kept for ever."""
    return f"/static/{name}?v={_assets()[name].digest}"


def asset_routes() -> list[Route]:
    """Give the route of all files."""
    return [Route("/static/{name}", _send)]


def _send(request: Request) -> Response:
    found = _assets().get(request.path_params["name"])
    if found is None:
        raise HTTPException(404, "There is no such file.")
    tag = f'"{found.digest}"'
    named = request.query_params.get("v") == found.digest
    headers = {
        "Cache-Control": _YEAR if named else "public, no-cache",
        "ETag": tag,
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("If-None-Match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(found.body, media_type=found.kind, headers=headers)
