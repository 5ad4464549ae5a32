"""The HTTP side: three APIs, the models, and whether it is well."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from denv.adapter.answers import Writer
from denv.adapter.engines.protocol import EngineFault, EngineInfo
from denv.adapter.formats import FORMATS, Format
from denv.adapter.keys import Keys
from denv.adapter.places import Places
from denv.adapter.refusals import (
    INTERNAL,
    INVALID,
    TIMEOUT,
    Refusal,
    RefusedError,
    of_fault,
    refusal,
)
from denv.adapter.requests import Asked, Reader
from denv.adapter.settings import AdapterSettings
from denv.adapter.wire import broken, frame
from denv.client.preflight import SAMPLED_HEADER
from denv.incoming import BodyError, receive

THINKING_TEMPERATURE = 1.0
LARGE_BODY = 64 * 1024
HUGE_BODY = 1024 * 1024
"""A body of so many bytes takes seconds, and so waits for others of its kind alone."""

HUGE_AT_ONCE = 2
HEALTH_WAIT_S = 5.0
HEALTH_KEPT_S = 1.0
STREAMED = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Adapter:
    """Everything that one adapter answers with."""

    settings: AdapterSettings
    info: EngineInfo
    context: int
    reader: Reader
    writer: Writer
    places: Places
    keys: Keys
    started: int = field(default_factory=lambda: int(time.time()))
    aside: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(HUGE_AT_ONCE, thread_name_prefix="huge-bodies")
    )
    _health: tuple[float, bool] = (float("-inf"), False)

    def app(self) -> web.Application:
        """Make the web application."""
        app = web.Application(middlewares=[_told_as_json])
        for format_ in FORMATS:
            for path in (format_.path, *format_.others):
                # The library would invite a body before the key is looked at.
                app.router.add_post(path, self._handler(format_), expect_handler=_invite_later)
        for base in ("/v1", ""):
            app.router.add_get(f"{base}/models", self.models)
            app.router.add_get(f"{base}/models/{{name:.+}}", self.model)
        app.router.add_get("/health", self.health)
        server = f"denv-adapter {self.info.name}"

        async def name_server(_: web.Request, response: web.StreamResponse) -> None:
            response.headers["Server"] = server

        app.on_response_prepare.append(name_server)
        return app

    # ------------------------------------------------------------ completions

    def _handler(self, format_: Format) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            self.keys.check(request.headers)
            async with self.places.take():
                asked = await self._read(format_, request)
                if asked.stream:
                    return await self._stream(request, asked)
                body = await self.writer.whole(asked)
            return web.Response(body=body, content_type="application/json", headers=_sampled(asked))

        return handle

    async def _read(self, format_: Format, request: web.Request) -> Asked:
        limits = self.settings.limits
        try:
            async with asyncio.timeout(limits.body_wait):
                packed = await receive(request, most=limits.body_bytes)
            body = await packed.plain()
        except TimeoutError:
            text = "the request's body did not come in time"
            raise RefusedError(refusal(408, text, kind=TIMEOUT)) from None
        except BodyError as error:
            raise RefusedError(refusal(error.status, str(error))) from None
        if len(body) < LARGE_BODY:
            return self.reader.read(format_, body)
        if len(body) < HUGE_BODY:
            return await asyncio.to_thread(self.reader.read, format_, body)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.aside, self.reader.read, format_, body)

    async def _stream(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        """Send events as they come; what goes wrong before the first is an ordinary error."""
        response = web.StreamResponse(headers=STREAMED | _sampled(asked))
        sent = 0
        try:
            async with aclosing(self.writer.events(asked)) as events:
                async for name, data in events:
                    if not sent:
                        await response.prepare(request)
                    await self._send(response, frame(name, data))
                    sent += 1
        except (EngineFault, RefusedError) as error:
            if not sent:
                raise
            await self._send(response, broken(asked.format.name, _refusal(error), events=sent))
        await response.write_eof()
        return response

    async def _send(self, response: web.StreamResponse, data: bytes) -> None:
        """Write, but not for ever to somebody who does not read."""
        try:
            async with asyncio.timeout(self.settings.limits.next_token):
                await response.write(data)
        except TimeoutError:
            raise ConnectionResetError("the client does not read its stream") from None

    # ------------------------------------------------------------ what it is

    async def models(self, request: web.Request) -> web.Response:
        """List the models, each with what is particular about it here."""
        self.keys.check(request.headers)
        data = [self._model(name) for name in self.settings.shown]
        return web.json_response({"object": "list", "data": data})

    async def model(self, request: web.Request) -> web.Response:
        """Show one model that may be asked for."""
        self.keys.check(request.headers)
        name = request.match_info["name"]
        if name not in self.settings.models:
            raise RefusedError(refusal(404, f"there is no model {name[:80]!r}"))
        return web.json_response(self._model(name))

    def _model(self, name: str) -> dict[str, Any]:
        return {
            "id": name,
            "object": "model",
            "created": self.started,
            "owned_by": "deepseek",
            "denv": {
                "version": self.settings.models[name],
                "context_limit": self.context,
                "thinking": self.settings.thinking,
                "sampled": {"thinking": THINKING_TEMPERATURE},
            },
        }

    async def health(self, _: web.Request) -> web.Response:
        """Tell whether requests would be answered now."""
        well = await self._engine_answers()
        status = "ending" if self.places.closed else "ok" if well else "failing"
        body = {
            "status": status,
            "engine": {"name": self.info.name, "version": self.info.version, "answers": well},
            "requests": {"answered": self.places.taken, "waiting": self.places.waiting},
            "thinking": self.settings.thinking,
            "sampled": {"thinking": THINKING_TEMPERATURE},
        }
        return web.json_response(body, status=200 if status == "ok" else 503)

    async def _engine_answers(self) -> bool:
        """Ask the engine, but not more often than once a second whoever asks."""
        asked, well = self._health
        if time.monotonic() - asked < HEALTH_KEPT_S:
            return well
        try:
            async with asyncio.timeout(HEALTH_WAIT_S):
                await self.writer.engine.describe()
            well = True
        except (EngineFault, TimeoutError):
            well = False
        self._health = (time.monotonic(), well)
        return well


def _sampled(asked: Asked) -> dict[str, str]:
    return {SAMPLED_HEADER: f"{asked.sampling.temperature:.1f}"} if asked.thinking else {}


def _refusal(error: EngineFault | RefusedError) -> Refusal:
    if isinstance(error, RefusedError):
        return error.refusal
    log.warning("engine fault: %s", error.message)
    return of_fault(error)


@web.middleware
async def _told_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer every error in the official form, and say nothing of what was asked in the log."""
    try:
        return await handler(request)
    except (EngineFault, RefusedError) as error:
        return answered(_refusal(error))
    except web.HTTPException as error:
        allowed = error.headers.get("Allow")
        told = answered(refusal(error.status, error.reason.lower(), kind=INVALID))
        if allowed is not None:
            told.headers["Allow"] = allowed
        return told
    except ConnectionError:
        raise  # the client has gone: nobody is left to be told
    except Exception as error:  # noqa: BLE001 - a request must not end the adapter
        log.error("internal error: %s", type(error).__name__)  # noqa: TRY400 - texts may be theirs
        return answered(refusal(500, "internal error", kind=INTERNAL))


async def _invite_later(_: web.Request) -> None:
    """Leave ``100 Continue`` to whoever reads the body."""


def answered(told: Refusal) -> web.Response:
    """Write a refusal."""
    return web.Response(
        status=told.status, text=told.body, content_type="application/json", headers=told.headers
    )
