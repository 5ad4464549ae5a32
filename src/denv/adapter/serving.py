"""From settings to a listening adapter, and back to nothing left running."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from deepseek_recipe import Conversation, ConversationRequest, ModelVersion, Tokenizer, UserMessage

from denv.adapter.answers import Writer
from denv.adapter.engines.protocol import Engine, EngineFault, EngineInfo
from denv.adapter.keys import Keys
from denv.adapter.places import Places
from denv.adapter.refusals import INTERNAL, INVALID, TIMEOUT, refusal
from denv.adapter.requests import VERSIONS, Encoder, Reader
from denv.adapter.server import Adapter, answered
from denv.adapter.settings import AdapterSettings
from denv.adapter.vocabulary import read_vocabulary
from denv.errors import HarnessError, UsageError
from denv.incoming import Bounds, Runner, room_for
from denv.records import Secret

ENDING_S = 1.0

_http_log = logging.getLogger("denv.adapter.http")


class _WithoutQuotes(logging.Filter):
    """Keeps a record's kind of error alone: aiohttp quotes the lines it cannot read, keys too."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        record.msg, record.args = "HTTP: %s", (type(error).__name__,)
        record.exc_info = record.exc_text = None
        return True


_http_log.addFilter(_WithoutQuotes())


def _unreadable(_: web.BaseRequest, status: int) -> web.Response:
    kind, what = INVALID, "that is no request of HTTP"
    if status == 408:
        kind, what = TIMEOUT, "the request's head did not come in time"
    if status >= 500:
        kind, what = INTERNAL, "internal error"
    response = answered(refusal(status, what, kind=kind))
    response.force_close()
    return response


async def make_adapter(
    settings: AdapterSettings, engine: Engine, *, keys: Sequence[Secret] = ()
) -> Adapter:
    """Ask the engine what it is, and fit the settings to it.

    Raises
    ------
    UsageError
        The settings and the engine do not go together, or the tokenizer cannot be read.
    HarnessError
        The engine does not answer.
    """
    try:
        info = await engine.describe()
    except EngineFault as fault:
        raise HarnessError(f"the engine does not answer: {fault.message}") from fault
    tokenizer = _tokenizer(settings.tokenizer)
    vocabulary = None if settings.tokenizer is None else read_vocabulary(Path(settings.tokenizer))
    context = _context(settings, info)
    encoder = _encoder(settings, info, tokenizer, context=context)
    limits = settings.limits
    fingerprint = "-".join(part for part in (info.name, info.version) if part)
    return Adapter(
        settings=settings,
        info=info,
        context=context,
        reader=Reader(settings, encoder, context=context),
        writer=Writer(engine, limits, tokenizer, vocabulary, fingerprint),
        places=Places(concurrency=limits.concurrency, queue=limits.queue, wait_s=limits.queue_wait),
        keys=Keys(keys),
    )


@asynccontextmanager
async def serve(adapter: Adapter) -> AsyncIterator[str]:
    """Listen for the length of the block and give the base URL; at its end, drain.

    Raises
    ------
    HarnessError
        The address cannot be listened on.
    """
    settings = adapter.settings
    limits = settings.limits
    runner = Runner(
        adapter.app(),
        unreadable=_unreadable,
        logger=_http_log,
        bounds=Bounds(room_for(limits.connections), limits.head_wait),
        shutdown_s=ENDING_S,
    )
    await runner.setup()
    try:
        await _listen(runner, settings.host, settings.port)
        port = runner.addresses[0][1]
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        yield f"http://{host}:{port}/v1"
        await adapter.places.drain(limits.drain)
    finally:
        adapter.places.closed = True
        await runner.cleanup()


async def _listen(runner: Runner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        raise HarnessError(f"{host}:{port} cannot be listened on: {error.strerror}") from error


def _tokenizer(path: str | None) -> Tokenizer | None:
    if path is None:
        return None
    if not Path(path).is_file():
        raise UsageError(f"tokenizer: {path}: no such file")
    try:
        return Tokenizer.from_file(path)
    except (RuntimeError, ValueError, OSError) as error:
        why = str(error).splitlines()[0][:200]
        raise UsageError(f"tokenizer: {path}: not a tokenizer.json: {why}") from None


def _encoder(
    settings: AdapterSettings, info: EngineInfo, tokenizer: Tokenizer | None, *, context: int
) -> Encoder:
    """Choose between ids and text: ids wherever they are possible."""
    takes = info.takes
    if settings.prompt != "auto" and settings.prompt not in takes:
        raise UsageError(f"prompt: the engine {info.name} takes no {settings.prompt}")
    ids = settings.prompt == "ids" or (
        settings.prompt == "auto" and "ids" in takes and tokenizer is not None
    )
    if not ids and "text" not in takes:
        raise UsageError(f"tokenizer: the engine {info.name} takes ids alone, which need one")
    encoder = Encoder(tokenizer, ids=ids, context=context)
    for version in sorted(set(settings.models.values())):
        _try(encoder, VERSIONS[version])
    return encoder


def _try(encoder: Encoder, version: ModelVersion) -> None:
    request = ConversationRequest(Conversation([UserMessage("Hello")]), version)
    try:
        encoder.encode(request)
    except RuntimeError as error:
        why = str(error).splitlines()[0][:200]
        raise UsageError(f"tokenizer: it is not the model's, or use prompt: text: {why}") from None


def _context(settings: AdapterSettings, info: EngineInfo) -> int:
    own, engines = settings.context_limit, info.context_tokens
    if own is None and engines is None:
        raise UsageError(
            f"context-limit: missing, and the engine {info.name} does not tell its own"
        )
    return min(limit for limit in (own, engines) if limit is not None)
