"""Engines that only run offline, in Python: requests are gathered into batches for them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, suppress
from functools import partial
from importlib import import_module
from typing import Protocol, TypeVar

from denv.adapter.engines.course import completion
from denv.adapter.engines.protocol import (
    Ended,
    EngineFault,
    EngineInfo,
    Prompt,
    Reason,
    Sampling,
    Token,
)
from denv.errors import UsageError

Completion = Sequence[Token | Ended]
Answer = Completion | EngineFault
"""What became of one prompt of a batch."""

Given = TypeVar("Given")
_LOG = logging.getLogger(__name__)


class OfflineModel(Protocol):
    """What an engine's class must offer; all calls come from one thread, one at a time.

    It is made with the keywords of the setting ``options``. Making it may take as long as loading
    weights does.
    """

    def describe(self) -> EngineInfo:
        """Tell what the engine is."""
        ...

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> Sequence[Answer]:
        """Complete a batch: for each prompt, in their order, its tokens and one ``Ended``.

        A prompt that cannot be completed has an ``EngineFault`` in its place. Stop strings need not
        be heeded: they are cut out of what comes.
        """
        ...

    def close(self) -> None:
        """Let go of the weights."""
        ...


class OfflineEngine:
    """Feeds an offline model from one thread.

    Requests that come within ``window_s`` of the first go into one batch, ``batch`` at the most;
    those that come while it runs are the next. An answer comes whole, when its batch is done. A
    request that is cancelled before its batch begins is taken out; later its answer is dropped, and
    the model works on it to its end, because an offline call cannot be told to stop.
    """

    def __init__(
        self,
        make: Callable[[], OfflineModel],
        *,
        batch: int = 32,
        window_s: float = 0.02,
        queue: int = 256,
    ) -> None:
        self._make = make
        self._batch, self._window_s, self._room = batch, window_s, queue
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="offline-engine")
        self._waiting: asyncio.Queue[_Asked] = asyncio.Queue()
        self._loading = asyncio.Lock()
        self._model: OfflineModel | None = None
        self._closed = False
        self._gathering: asyncio.Task[None] | None = None

    async def describe(self) -> EngineInfo:
        """Make the model, and ask it what it is."""
        model = await self._load()
        return await self._call(model.describe)

    async def complete(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[Token | Ended, None]:
        """Complete a prompt in the next batch.

        Raises
        ------
        EngineFault
            The queue is full, the model raised, or gave no proper completion.
        """
        if self._waiting.qsize() >= self._room:
            raise EngineFault("its queue is full", retry=True)
        model = await self._load()
        if self._gathering is None:
            self._gathering = asyncio.create_task(self._gather(model))
        asked = _Asked(prompt, sampling)
        self._waiting.put_nowait(asked)
        try:
            whole = await asked.answer
        finally:
            asked.answer.cancel()
        if isinstance(whole, EngineFault):
            raise whole
        answer = completion(_each(whole), _Counted(whole), stop=sampling.stop)
        async with aclosing(answer):
            async for item in answer:
                yield item

    async def close(self) -> None:
        """End the model once the batch that runs is done; who waits is told."""
        self._closed = True
        if self._gathering is not None:
            self._gathering.cancel()
            with suppress(asyncio.CancelledError):
                await self._gathering
        while not self._waiting.empty():
            self._waiting.get_nowait().settle(_closed())
        async with self._loading:
            if self._model is not None:
                model, self._model = self._model, None
                await self._call(model.close)
        self._thread.shutdown(wait=False)

    async def _load(self) -> OfflineModel:
        async with self._loading:
            if self._closed:
                raise _closed()
            if self._model is None:
                self._model = await self._call(self._make)
            return self._model

    async def _call(self, what: Callable[[], Given]) -> Given:
        return await asyncio.get_running_loop().run_in_executor(self._thread, what)

    async def _gather(self, model: OfflineModel) -> None:
        while True:
            batch = [await self._waiting.get()]
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._window_s):
                        while len(batch) < self._batch:
                            batch.append(await self._waiting.get())
                wanted = [asked for asked in batch if not asked.answer.done()]
                if wanted:
                    await self._run(model, wanted)
            finally:
                for asked in batch:  # only where this ends: all have their answers otherwise
                    asked.settle(_closed())

    async def _run(self, model: OfflineModel, batch: Sequence[_Asked]) -> None:
        answers = await self._call(partial(_generate, model, batch))
        for asked, answer in zip(batch, answers, strict=True):
            asked.settle(answer)


def _closed() -> EngineFault:
    return EngineFault("it is closed", retry=True)


def _generate(model: OfflineModel, batch: Sequence[_Asked]) -> Sequence[Answer]:
    """Call the model, in its thread; what it raises is the fault of all the batch."""
    try:
        answers = model.generate(
            [asked.prompt for asked in batch], [asked.sampling for asked in batch]
        )
    except EngineFault as fault:
        return [fault] * len(batch)
    except Exception as error:  # noqa: BLE001 - foreign code: nobody can list what it raises
        _LOG.exception("the model raised")
        return [EngineFault(f"its model raised {type(error).__name__}")] * len(batch)
    if len(answers) != len(batch):
        return [EngineFault("it gave not one completion a prompt")] * len(batch)
    return answers


class _Asked:
    """One request that waits for its batch."""

    def __init__(self, prompt: Prompt, sampling: Sampling) -> None:
        self.prompt, self.sampling = prompt, sampling
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def settle(self, answer: Answer) -> None:
        """Answer it, unless it was cancelled, or has an answer already."""
        if not self.answer.done():
            self.answer.set_result(answer)


class _Counted:
    """Reads a completion that is whole already."""

    def __init__(self, whole: Completion) -> None:
        last = whole[-1] if whole else None
        if not isinstance(last, Ended) or any(isinstance(one, Ended) for one in whole[:-1]):
            raise EngineFault("its completion has not one end, as its last")
        self._end = last

    def take(self, document: Token | Ended) -> list[Token | Ended]:
        return [document]

    def close(self) -> list[Token | Ended]:
        return []

    def ended(self, reason: Reason, *, stop_text: str | None = None) -> Ended:
        end = self._end
        return Ended(reason, end.prompt_tokens, end.cached_tokens, end.completion_tokens, stop_text)


async def _each(whole: Completion) -> AsyncGenerator[Token | Ended, None]:
    for item in whole:
        yield item


def find_model(entry: str) -> Callable[..., OfflineModel]:
    """Find ``module:Class``.

    Raises
    ------
    UsageError
        It cannot be imported, or is no such class.
    """
    name, _, attribute = entry.partition(":")
    if not name or not attribute.isidentifier():
        raise UsageError(f"{entry[:80]!r} is not of the form MODULE:CLASS")
    try:
        found = getattr(import_module(name), attribute)
    except ImportError as error:
        raise UsageError(f"{entry}: it cannot be imported: {error}") from error
    except AttributeError:
        raise UsageError(f"{entry}: the module has no {attribute}") from None
    if not callable(found):
        raise UsageError(f"{entry}: it is no class")
    model: Callable[..., OfflineModel] = found
    return model
