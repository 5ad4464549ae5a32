"""The API as one application, with the OpenAPI document that describes all of it."""

from __future__ import annotations

import copy
from typing import Any

from fastapi import Depends, FastAPI
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from denv.report.model import schema
from denv.serve.api import measures, publications, reports, rollouts, runs, schedules
from denv.serve.api.answers import PROBLEMS, StrictResponse, add_handlers
from denv.serve.api.heads import AnswersHead
from denv.serve.api.parameters import refuse_repeats
from denv.serve.context import ServeContext

MOST_BODY = 64 * 1024
PREFIX = "/api/v1"
SESSION_COOKIE = "denv-00000000"
"""What the document names where it is of no server: the digits are those of its data."""

_ABOUT = (
    "Runs, measurements, rollouts, schedules, alarms and public reports of a denv data folder. "
    "Reading needs a token of role `read`, every POST one of role `run`. Every error is "
    '`{"reason": "..."}`. Each GET is answered to HEAD too, without the body.'
)
_REFERENCES = {"#/$defs/": "#/components/schemas/report."}


def api_app(context: ServeContext, *, cookie: str = SESSION_COOKIE) -> FastAPI:
    """Make the API of a data folder; who may ask is decided before a request comes here.

    ``cookie`` is the name of a session's cookie, which the document tells.
    """
    app = FastAPI(
        title="denv parity",
        version="1",
        description=_ABOUT,
        openapi_url="/openapi.json",
        docs_url=None,  # the pages that it would show are scripts from elsewhere
        redoc_url=None,
        default_response_class=StrictResponse,
        responses=PROBLEMS,
        dependencies=[Depends(refuse_repeats)],
        servers=[{"url": PREFIX}],
        root_path_in_servers=False,
        redirect_slashes=False,  # it would lead to whatever host a request names
        separate_input_output_schemas=False,
    )
    app.state.context = context
    for part in (runs, reports, measures, rollouts, schedules, publications):
        app.include_router(part.router)
    add_handlers(app)
    app.add_middleware(BoundedBody)
    described = app.openapi
    app.add_middleware(AnswersHead)
    app.openapi = lambda: _completed(described(), cookie)  # type: ignore[method-assign]
    return app


def openapi_document() -> dict[str, Any]:
    """Give the OpenAPI document, for which no data are needed."""
    app = api_app(context=None)  # type: ignore[arg-type]  # no request comes
    return app.openapi()


class BoundedBody:
    """Refuses bodies that are larger than any that the API takes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count what it sends."""
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MOST_BODY:
                raise HTTPException(413, f"the body is larger than {MOST_BODY} bytes")
            return message

        await self._app(scope, counted, send)


def _completed(document: dict[str, Any], cookie: str) -> dict[str, Any]:
    """Add the forms of reports, and how a caller is known."""
    components = document.setdefault("components", {})
    if "securitySchemes" in components:
        return document
    components["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "description": "A token of `denv token`."},
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": cookie,
            "description": "A signed-in session; the name ends in eight digits that belong to the "
            "data, and begins with `__Host-` behind TLS. A POST needs its CSRF token as "
            "X-CSRF-Token too.",
        },
    }
    document["security"] = [{"bearer": []}, {"session": []}]
    components["schemas"] |= _report_forms()
    return document


def _report_forms() -> dict[str, Any]:
    """Give the schema of reports, its parts under the names that this document refers to."""
    whole = copy.deepcopy(dict(schema()))
    parts = whole.pop("$defs")
    for name in ("$schema", "$id"):
        del whole[name]
    head = {**whole, "title": "denv.parity.report/1 without cases"}
    head["required"] = [name for name in whole["required"] if name != "cases"]
    head["properties"] = {n: v for n, v in whole["properties"].items() if n != "cases"}
    named = {"report": whole, "report.head": head}
    named |= {f"report.{name}": part for name, part in parts.items()}
    return {name: _led(part) for name, part in named.items()}


def _led(part: Any) -> Any:
    """Lead references to where the parts are in this document."""
    if isinstance(part, dict):
        return {name: _led(each) for name, each in part.items()}
    if isinstance(part, list):
        return [_led(each) for each in part]
    if isinstance(part, str):
        for old, new in _REFERENCES.items():
            if part.startswith(old):
                return new + part.removeprefix(old)
    return part
