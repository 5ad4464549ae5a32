"""A proxy that stands before a real server and spoils its answers in known ways.

The server behind it is faithful, so a check that misses a fault, or sees one that was not
injected, is wrong.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import aiohttp
from aiohttp import web

from denv.errors import HarnessError, UsageError
from denv.records import Json


@dataclass(frozen=True, slots=True)
class Faults:
    """What is done to requests and answers; the default does nothing.

    ``logprob_scale`` multiplies every logprob. ``finish_reason`` replaces the server's.
    ``reasoning_in_content`` is put before the text as ``<think>…</think>``. ``drop_tools``
    takes the tools out of the request. ``error_every`` answers each n-th chat request, counted
    from the first, with ``error_status`` instead of asking. ``set_fields`` go over whatever a
    chat request sends, ``default_fields`` stand where it sends nothing, ``drop_fields`` are taken
    out. ``keep_characters`` cuts the head off longer messages, and says nothing of it.
    """

    logprob_scale: float | None = None
    finish_reason: str | None = None
    reasoning_in_content: str | None = None
    drop_tools: bool = False
    error_every: int | None = None
    error_status: int = 500
    set_fields: Mapping[str, Json] = field(default_factory=dict)
    default_fields: Mapping[str, Json] = field(default_factory=dict)
    drop_fields: frozenset[str] = frozenset()
    keep_characters: int | None = None


CONTROL = "/lab/faults"
"""Where a running proxy is told what to spoil from now on."""

TAKES: Mapping[str, tuple[type, ...]] = {
    "logprob_scale": (int, float),
    "finish_reason": (str,),
    "reasoning_in_content": (str,),
    "drop_tools": (bool,),
    "error_every": (int,),
    "error_status": (int,),
    "keep_characters": (int,),
}
"""What a running proxy takes; the rest of the faults are for tests alone."""


@asynccontextmanager
async def faulty(
    upstream: str, faults: Faults, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[str]:
    """Run the proxy for the length of the block and give its base, which ends in ``/v1``.

    What it spoils can be changed while it runs: see :func:`change_faults`.
    """
    async with aiohttp.ClientSession() as session:
        proxy = _Proxy(session, upstream, faults)
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", proxy.chat)
        app.router.add_put(CONTROL, proxy.change)
        app.router.add_route("*", "/{path:.*}", proxy.forward)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host, port)
            try:
                await site.start()
            except OSError as error:
                raise HarnessError(f"port {port} cannot be listened on: {error.strerror}") from None
            yield f"http://{host}:{runner.addresses[0][1]}/v1"
        finally:
            await runner.cleanup()


async def change_faults(base: str, wanted: Mapping[str, Json]) -> None:
    """Tell a running proxy what to spoil from now on; an empty mapping ends all faults.

    Raises
    ------
    UsageError
        The proxy does not take it, or there is none.
    """
    url = base.removesuffix("/v1") + CONTROL
    try:
        async with aiohttp.ClientSession() as session, session.put(url, json=wanted) as response:
            if response.status != HTTPStatus.NO_CONTENT:
                said = (await response.text())[:200]
                raise UsageError(f"{base}: not taken (status {response.status}): {said}")
    except aiohttp.ClientError as error:
        raise UsageError(f"{base}: no proxy of the lab answers: {error}") from None


def faults_of(wanted: Json) -> Faults:
    """Read faults from JSON.

    Raises
    ------
    UsageError
        Names what is unknown or of another type.
    """
    if not isinstance(wanted, dict):
        raise UsageError("faults are a JSON object")
    for name, value in wanted.items():
        takes = TAKES.get(name)
        if takes is None:
            raise UsageError(f"unknown fault {name[:40]!r}; known are {', '.join(TAKES)}")
        if not isinstance(value, takes) or (isinstance(value, bool) and bool not in takes):
            raise UsageError(f"{name} takes {' or '.join(each.__name__ for each in takes)}")
    read: dict[str, Any] = dict(wanted)
    return Faults(**read)


class _Proxy:
    """The handlers, with the count of chat requests so far."""

    def __init__(self, session: aiohttp.ClientSession, upstream: str, faults: Faults) -> None:
        if not upstream.endswith("/v1"):
            raise HarnessError(f"{upstream}: the base of a server ends in /v1")
        self._session = session
        self._root = upstream.removesuffix("/v1")
        self._faults = faults
        self._asked = 0

    async def chat(self, request: web.Request) -> web.Response:
        """Ask the server, unless it is an error's turn, and spoil what it answers."""
        self._asked += 1
        faults = self._faults
        if faults.error_every and self._asked % faults.error_every == 0:
            return _error(faults.error_status, "injected by the lab")
        body = await request.json()
        if body.get("stream"):
            return _error(400, "the lab's proxy does not stream")
        body = spoil_request(body, faults)
        url = f"{self._root}/v1/chat/completions"
        async with self._session.post(url, json=body) as response:
            answer = await response.json()
            if response.status == 200:
                spoil(answer, faults)
            return web.json_response(answer, status=response.status)

    async def change(self, request: web.Request) -> web.Response:
        """Spoil something else from now on."""
        try:
            self._faults = faults_of(await request.json())
        except (UsageError, ValueError) as error:
            return web.Response(status=400, text=str(error))
        return web.Response(status=204)

    async def forward(self, request: web.Request) -> web.Response:
        """Hand any other request on as it is."""
        url = self._root + request.path_qs
        data, headers = await request.read(), {"Content-Type": request.content_type}
        async with self._session.request(
            request.method, url, data=data or None, headers=headers if data else None
        ) as response:
            return web.Response(
                body=await response.read(),
                status=response.status,
                content_type=response.content_type,
            )


def spoil_request(body: Mapping[str, Any], faults: Faults) -> dict[str, Any]:
    """Give a chat request as the server behind the proxy gets it."""
    dropped = faults.drop_fields | ({"tools", "tool_choice"} if faults.drop_tools else set())
    kept = {key: value for key, value in body.items() if key not in dropped}
    lacking = {key: one for key, one in faults.default_fields.items() if key not in kept}
    spoiled = {**kept, **lacking, **faults.set_fields}
    if faults.keep_characters is not None:
        start = -faults.keep_characters
        spoiled["messages"] = [
            {**one, "content": one["content"][start:]} if one.get("content") else one
            for one in body["messages"]
        ]
    return spoiled


def spoil(answer: dict[str, Json], faults: Faults) -> None:
    """Change a chat completion in place as ``faults`` says."""
    for choice in answer["choices"]:
        message = choice["message"]
        if faults.finish_reason is not None:
            choice["finish_reason"] = faults.finish_reason
        if faults.reasoning_in_content is not None:
            thinking = f"<think>\n{faults.reasoning_in_content}\n</think>\n\n"
            message["content"] = thinking + (message.get("content") or "")
        if faults.logprob_scale is not None:
            _scale((choice.get("logprobs") or {}).get("content") or [], faults.logprob_scale)


def _scale(entries: list[dict[str, Any]], factor: float) -> None:
    for entry in entries:
        entry["logprob"] *= factor
        for top in entry.get("top_logprobs", ()):
            top["logprob"] *= factor


def _error(status: int, message: str) -> web.Response:
    kind = HTTPStatus(status).phrase.lower().replace(" ", "_")
    body = {"error": {"message": message, "type": kind, "code": status}}
    return web.json_response(body, status=status)
