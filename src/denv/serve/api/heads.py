"""HEAD, which is answered as GET is, without the body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class AnswersHead:
    """Has an application answer HEAD as it answers GET, and leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, without_body)


def with_head(allowed: str) -> str:
    """Name HEAD among the methods of an ``Allow`` that names GET."""
    methods = [method.strip() for method in allowed.split(",")]
    return ", ".join([*methods, "HEAD"] if "GET" in methods else methods)
