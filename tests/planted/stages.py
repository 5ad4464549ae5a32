"""Servers that give away whatever they are told: they quote what they are sent in their errors."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web

from tests.instruments.speed.test_live import speaking
from tests.stubs import answers

MOST_WORDS = 400
"""Of a prompt that is taken."""


def quoting(secrets: Mapping[str, str]):
    """Echo, but refuse every third case with all that was sent, and secrets of its own."""

    def handler(request, n):
        text = request.get("messages", [{}])[-1].get("content") or ""
        number = text.split()[1].rstrip(";") if text.startswith("number ") else "1"
        if not number.isdigit() or int(number) % 3:
            return answers.completion(text)
        return refusing(secrets)

    return handler


def refusing(secrets: Mapping[str, str]):
    """Refuse with all that was sent, and secrets of its own."""

    async def respond(received: web.Request, _: object) -> web.Response:
        sent = "; ".join(f"{name}: {value}" for name, value in received.headers.items())
        mine = f"http://{secrets['URL']}@db/x said: Bearer {secrets['bearer']}"
        return answers.error(400, f"refused: {sent}; {mine}")

    return respond


def streaming(secrets: Mapping[str, str]):
    """Stream a word for each token that is asked for, but refuse so deep prompts."""
    speak = speaking(pause_s=0.004)

    def handler(request, n):
        words = request.get("messages", [{}])[-1].get("content", "").split()
        return refusing(secrets) if len(words) > MOST_WORDS else speak(request, n)

    return handler


async def quoting_sink(request: web.Request) -> web.Response:
    """Refuse an alarm with all that was sent."""
    body = (await request.read()).decode("utf-8", "replace")
    sent = "; ".join(f"{name}: {value}" for name, value in request.headers.items())
    return web.Response(status=400, text=f"no: {request.rel_url} {sent} {body}")
