"""Servers that give away whatever they are told: they quote what they are sent in their errors."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web

from tests.stubs import answers


def quoting(secrets: Mapping[str, str]):
    """Echo, but refuse every third case with all that was sent, and secrets of its own."""

    def handler(request, n):
        text = request.get("messages", [{}])[-1].get("content") or ""
        number = text.split()[1].rstrip(";") if text.startswith("number ") else "1"
        if not number.isdigit() or int(number) % 3:
            return answers.completion(text)

        async def respond(received: web.Request, _: object) -> web.Response:
            sent = "; ".join(f"{name}: {value}" for name, value in received.headers.items())
            mine = f"http://{secrets['URL']}@db/x said: Bearer {secrets['bearer']}"
            return answers.error(400, f"refused: {sent}; {mine}")

        return respond

    return handler


async def quoting_sink(request: web.Request) -> web.Response:
    """Refuse an alarm with all that was sent."""
    body = (await request.read()).decode("utf-8", "replace")
    sent = "; ".join(f"{name}: {value}" for name, value in request.headers.items())
    return web.Response(status=400, text=f"no: {request.rel_url} {sent} {body}")
