"""Answers as strict JSON, and every error as ``{"reason": ...}`` with its status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from denv.errors import StoreError
from denv.report.text import escaped, line, without_surrogates
from denv.serve.actions import ActionError
from denv.serve.api.heads import with_head
from denv.serve.api.models import Problem

MOST_FAULTS = 3

PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"description": "A cursor, a reason or a body cannot be read."},
    401: {"description": "Nobody that is known asks: a token or a session is missing."},
    403: {"description": "Who asks may not: the role is another one, or the form is forged."},
    404: {"description": "It is not there."},
    413: {"description": "The body is too large."},
    422: {"description": "A parameter or a field of the body is wrong."},
    429: {"description": "Too many requests; Retry-After says how long to wait."},
    503: {"description": "The data or the engine do not answer, or there is no engine."},
}
"""What any operation may answer, for the OpenAPI document."""

for _each in PROBLEMS.values():
    _each["model"] = Problem

CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"description": "The state of what it is about forbids it.", "model": Problem}
}


class StrictResponse(JSONResponse):
    """JSON without NaN, without lone surrogates, and without what a terminal would obey."""

    def render(self, content: Any) -> bytes:
        """Write the document."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return escaped(without_surrogates(text)).encode()


def plain(value: Any) -> Any:
    """Give a document whose texts can be written: lone surrogates become U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else without_surrogates(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def problem(status: int, reason: str, headers: Mapping[str, str] | None = None) -> StrictResponse:
    """Answer why not."""
    return StrictResponse(
        {"reason": line(reason, 1000)}, status, None if headers is None else dict(headers)
    )


def add_handlers(app: Starlette) -> None:
    """Have every error told in the one form."""

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - it is called for these
        faults = [_fault(each) for each in error.errors()]
        more = len(faults) - MOST_FAULTS
        said = faults[:MOST_FAULTS] + ([f"and {more} more"] if more > 0 else [])
        return problem(422, "; ".join(said))

    async def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101
        headers = dict(error.headers or {})
        if "Allow" in headers:
            headers["Allow"] = with_head(headers["Allow"])
        return problem(error.status_code, str(error.detail), headers)

    async def action(_: Request, error: Exception) -> Response:
        assert isinstance(error, ActionError)  # noqa: S101
        return problem(error.status, str(error))

    async def store(_: Request, error: Exception) -> Response:
        return problem(503, str(error))

    async def broken(_: Request, __: Exception) -> Response:
        return problem(500, "something broke on our side: the server's log says what")

    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(Exception, broken)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(ActionError, action)
    app.add_exception_handler(StoreError, store)


def _fault(error: Mapping[str, Any]) -> str:
    """Name the place and what is wrong there, without what was given."""
    place = ".".join(line(part, 60) for part in error["loc"])
    return f"{place}: {error['msg']}"
