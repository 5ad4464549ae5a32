"""The request that a replica gets, made anew: nothing of the caller's but what it asks. Pure.

From the caller come the call, and the body's fields and values. The rest is the router's own and
the same for all: the order and the values of the headers, the credential, the form of the id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from denv.router.jsonform import BodyError, read_object, write_object
from denv.router.refusals import Form, RefusedError
from denv.router.routes import Route

ACCEPT = "application/json, text/event-stream"
ANTHROPIC_VERSION = "2023-06-01"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A request as it is sent, but for what belongs to the replica that it is sent to."""

    route: Route
    below: str
    """The path behind the replica's base, or behind its host where it begins with a slash."""
    body: bytes
    request_id: str


def rebuild(
    route: Route,
    body: bytes,
    *,
    below: str,
    request_id: str,
    drop: Collection[str],
    see: Callable[[Mapping[str, Any]], None] | None = None,
) -> Rebuilt:
    """Make a request anew from the body that came; ``drop`` are fields that are left out.

    ``see`` is shown the body's fields, and keeps none of them.

    Raises
    ------
    RefusedError
        400: the body is no strict JSON object.
    """
    if route.method == "GET":
        return Rebuilt(route, below, b"", request_id)
    try:
        fields = read_object(body)
        if see is not None:
            see(fields)
        for name in drop:
            fields.pop(name, None)
        written = write_object(fields)
    except BodyError as error:
        raise RefusedError(400, "invalid_json", str(error)) from None
    return Rebuilt(route, below, written, request_id)


class Target:
    """A replica as requests to it are written: its host, the path of its base, its credential."""

    def __init__(self, url: str, *, user_agent: str, credential: str | None) -> None:
        parts = urlsplit(url)
        self.url = url
        self._host = parts.netloc
        self._base = parts.path.rstrip("/")
        self._agent = user_agent
        self._credential = credential
        self._written: dict[str, bytes] = {}

    def head(self, request: Rebuilt) -> bytes:
        """Write the head of a request."""
        start = self._written.get(request.below)
        if start is None:
            path = request.below if request.below[0] == "/" else f"{self._base}/{request.below}"
            start = self._start(request.route, path)
            if request.below == request.route.name:  # not each name of a model
                self._written[request.below] = start
        if request.route.method == "GET":
            return b"%bX-Request-Id: %b\r\n\r\n" % (start, request.request_id.encode())
        return b"%bX-Request-Id: %b\r\nContent-Length: %d\r\n\r\n" % (
            start,
            request.request_id.encode(),
            len(request.body),
        )

    def _start(self, route: Route, path: str) -> bytes:
        lines = [
            f"{route.method} {path} HTTP/1.1",
            f"Host: {self._host}",
            f"User-Agent: {self._agent}",
            f"Accept: {ACCEPT}",
        ]
        if self._credential is not None:
            lines.append(f"Authorization: Bearer {self._credential}")
        if route.form is Form.ANTHROPIC:
            lines.append(f"anthropic-version: {ANTHROPIC_VERSION}")
        if route.method == "POST":
            lines.append("Content-Type: application/json")
        return "".join(f"{line}\r\n" for line in lines).encode()
