"""llama.cpp in this process, through xllamacpp (the extra ``lab``)."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from denv.adapter.engines.http import EngineHttp
from denv.adapter.engines.llama_cpp import LlamaCpp
from denv.adapter.engines.protocol import Ended, EngineFault, EngineInfo, Prompt, Sampling, Token
from denv.errors import UsageError

_ONLY_ERRORS = 1


class InProcessLlama:
    """A llama.cpp engine on one GGUF file, loaded when it is first used.

    ``context`` tokens are there for each of ``parallel`` requests; ``queue`` more may wait, and
    what comes beyond them is refused. One thread computes unless ``threads`` says more.

    It is spoken to over a Unix socket in a folder that is this user's alone: the binding's own
    calls give no ids without logprobs, do not tokenize, and cannot be cancelled before the first
    token. So cancelled, it stops after the batch of 2048 tokens of a prompt that it is reading.
    """

    def __init__(
        self,
        weights: Path,
        *,
        context: int = 4096,
        parallel: int = 4,
        threads: int = 1,
        queue: int = 256,
        special: Sequence[str] = (),
        cache_prompt: bool = True,
    ) -> None:
        self._weights = weights
        self._sizes = {"context": context, "parallel": parallel, "threads": threads}
        self._special, self._cache_prompt = tuple(special), cache_prompt
        self._room = parallel + queue
        self._taken = 0
        self._loading = asyncio.Lock()
        self._loaded: tuple[_Native, LlamaCpp] | None = None

    async def describe(self) -> EngineInfo:
        """Load the weights, and tell what they are loaded with."""
        native, engine = await self._load()
        info = await engine.describe()
        return replace(info, name="llama.cpp-in-process", version=native.version)

    async def complete(
        self, prompt: Prompt, sampling: Sampling
    ) -> AsyncGenerator[Token | Ended, None]:
        """Complete a prompt, or say that the queue is full."""
        if self._taken >= self._room:
            raise EngineFault("its queue is full", retry=True)
        self._taken += 1
        try:
            _, engine = await self._load()
            async with aclosing(engine.complete(prompt, sampling)) as given:
                async for item in given:
                    yield item
        finally:
            self._taken -= 1

    async def close(self) -> None:
        """Cancel what runs and let go of the weights."""
        async with self._loading:
            if self._loaded is not None:
                (native, engine), self._loaded = self._loaded, None
                await engine.close()
                await asyncio.to_thread(native.close)

    async def _load(self) -> tuple[_Native, LlamaCpp]:
        async with self._loading:
            if self._loaded is None:
                native = await asyncio.to_thread(_Native, self._weights, **self._sizes)
                http = EngineHttp("http://llama.cpp", socket=native.socket)
                engine = LlamaCpp(http, special=self._special, cache_prompt=self._cache_prompt)
                self._loaded = native, engine
            return self._loaded


class _Native:
    """The engine with its weights; loading it and letting it go block."""

    def __init__(self, weights: Path, *, context: int, parallel: int, threads: int) -> None:
        xllamacpp = _import()
        self.version: str = xllamacpp.__version__
        self._folder = tempfile.TemporaryDirectory(prefix="denv-llama-")
        self.socket = Path(self._folder.name) / "engine.sock"
        p = xllamacpp.CommonParams()
        p.model.path = str(weights)
        p.n_ctx, p.n_parallel = context * parallel, parallel
        p.cpuparams.n_threads = p.cpuparams_batch.n_threads = threads
        p.hostnames, p.endpoint_props = [str(self.socket)], True
        p.cache_ram_mib, p.ui, p.verbosity = 0, False, _ONLY_ERRORS
        try:
            self._server = xllamacpp.Server(p)
        except RuntimeError as error:
            self._folder.cleanup()
            raise EngineFault(f"it did not start: {error}") from None

    def close(self) -> None:
        del self._server
        self._folder.cleanup()


def _import() -> Any:
    try:
        return import_module("xllamacpp")
    except ModuleNotFoundError as error:
        if error.name != "xllamacpp":
            raise
        raise UsageError("xllamacpp is not installed: pip install 'denv-parity[lab]'") from None
