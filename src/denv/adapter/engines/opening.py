"""Settings → the engine that they name; nothing is asked of it yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from denv.adapter.engines.completions import VllmCompletions
from denv.adapter.engines.http import EngineHttp
from denv.adapter.engines.in_process import InProcessLlama
from denv.adapter.engines.llama_cpp import LlamaCpp
from denv.adapter.engines.offline import OfflineEngine, find_model
from denv.adapter.engines.protocol import Engine
from denv.adapter.engines.sglang import Sglang
from denv.adapter.settings import OFFLINE, EngineSettings
from denv.client.secrets import read_key_env, read_key_file
from denv.errors import UsageError
from denv.records import Secret
from denv.release import Line, Section, SomeTime

Options = TypeVar("Options", bound=Section)


class LlamaOptions(Section):
    """Options of ``llama.cpp``."""

    special_tokens: Annotated[tuple[Line, ...], Field(strict=False)] = ()
    cache_prompt: bool = True


class InProcessOptions(LlamaOptions):
    """Options of ``llama.cpp-in-process``."""

    parallel: int = Field(default=4, ge=1, le=256)
    threads: int = Field(default=1, ge=1, le=1024)
    queue: int = Field(default=256, ge=0)


class OfflineOptions(Section):
    """Options of ``offline:…``; ``model`` are the keywords that the class is made with."""

    batch: int = Field(default=32, ge=1)
    window: SomeTime = 0.02
    queue: int = Field(default=256, ge=1)
    model: dict[str, Any] = Field(default_factory=dict)


class NoOptions(Section):
    """Engines that have none."""


def open_engine(settings: EngineSettings, *, special_tokens: Sequence[str] = ()) -> Engine:
    """Make the engine; ``special_tokens`` are those that a family's answers are written in.

    Raises
    ------
    UsageError
        An option is wrong, a key cannot be read, or a file or class is missing.
    """
    if settings.name.startswith(OFFLINE):
        return _offline(settings)
    return _OPENERS[settings.name](settings, special_tokens)


def _remote(
    kind: type[Options],
    make: Callable[[EngineHttp, Options, EngineSettings, Sequence[str]], Engine],
) -> Callable[[EngineSettings, Sequence[str]], Engine]:
    """Give the opener of an engine that is asked over HTTP."""

    def open_(settings: EngineSettings, special: Sequence[str]) -> Engine:
        options = _options(kind, settings)
        url = (settings.url or "").rstrip("/").removesuffix("/v1")
        return make(EngineHttp(url, key=_key(settings)), options, settings, special)

    return open_


def _llama_cpp(
    http: EngineHttp, options: LlamaOptions, _: EngineSettings, special: Sequence[str]
) -> Engine:
    return LlamaCpp(
        http, special=(*special, *options.special_tokens), cache_prompt=options.cache_prompt
    )


def _in_process(settings: EngineSettings, special: Sequence[str]) -> Engine:
    options = _options(InProcessOptions, settings)
    weights = Path(settings.weights or "")
    if not weights.is_file():
        raise UsageError(f"engine: weights: {weights}: no such file")
    return InProcessLlama(
        weights,
        context=settings.context or 4096,
        parallel=options.parallel,
        threads=options.threads,
        queue=options.queue,
        special=(*special, *options.special_tokens),
        cache_prompt=options.cache_prompt,
    )


_OPENERS: dict[str, Callable[[EngineSettings, Sequence[str]], Engine]] = {
    "llama.cpp": _remote(LlamaOptions, _llama_cpp),
    "vllm": _remote(NoOptions, lambda http, _, named, __: VllmCompletions(http, model=named.model)),
    "sglang": _remote(NoOptions, lambda http, *_: Sglang(http)),
    "llama.cpp-in-process": _in_process,
}


def _offline(settings: EngineSettings) -> Engine:
    options = _options(OfflineOptions, settings)
    make = find_model(settings.name.removeprefix(OFFLINE))
    return OfflineEngine(
        partial(make, **options.model),
        batch=options.batch,
        window_s=options.window,
        queue=options.queue,
    )


def _options(kind: type[Options], settings: EngineSettings) -> Options:
    try:
        return kind.model_validate(settings.options)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"engine: options: {where}: {first['msg']}") from None


def _key(settings: EngineSettings) -> Secret | None:
    if settings.key_env is not None:
        return read_key_env(settings.key_env)
    return None if settings.key_file is None else read_key_file(settings.key_file)
