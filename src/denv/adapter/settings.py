"""``adapter.yaml`` → frozen settings: what is served, under which names, and with which limits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from denv.errors import UsageError
from denv.recipes import Recipe
from denv.release import Duration, EnvironmentName, Line, Section, SomeTime, load_settings
from denv.release.fields import WebUrl

ENGINES = ("llama.cpp", "vllm", "sglang", "llama.cpp-in-process")
OFFLINE = "offline:"
ADAPTER = "deepseek"
REMOTE = frozenset(("llama.cpp", "vllm", "sglang"))

Version = Literal["v4-pro", "v4.1-flash"]
OFFICIAL_NAMES: dict[str, Version] = {
    "DeepSeek-V4-Pro": "v4-pro",
    "DeepSeek-V4.1-Flash": "v4.1-flash",
}
MAX_BODY_BYTES = 1 << 30
MAX_TOKENS = 393_216


class EngineSettings(Section):
    """Which engine completes, and how it is reached."""

    name: Line
    url: WebUrl | None = None
    model: Line | None = None
    weights: Line | None = None
    context: Annotated[int, Field(ge=1)] | None = None
    key_env: EnvironmentName | None = None
    key_file: Line | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _whole(self) -> EngineSettings:
        if self.name not in ENGINES and not self.name.startswith(OFFLINE):
            known = ", ".join((*ENGINES, "offline:MODULE:CLASS"))
            raise ValueError(f"{self.name[:40]!r} is no engine: {known}")
        if (self.name in REMOTE) is (self.url is None):
            what = "needs its url" if self.url is None else "has no url: it runs in this process"
            raise ValueError(f"the engine {self.name} {what}")
        if self.name == "llama.cpp-in-process" and self.weights is None:
            raise ValueError(f"the engine {self.name} needs its weights")
        if self.key_env is not None and self.key_file is not None:
            raise ValueError("key-env and key-file exclude each other")
        return self


class Limits(Section):
    """What one process takes on; beyond it callers are told at once."""

    body_bytes: int = Field(default=32 << 20, ge=1024, le=MAX_BODY_BYTES)
    concurrency: int = Field(default=64, ge=1, le=100_000)
    queue: int = Field(default=256, ge=0, le=1_000_000)
    queue_wait: SomeTime = 30.0
    body_wait: SomeTime = 60.0
    head_wait: SomeTime = 10.0
    connections: int = Field(default=4096, ge=1, le=1_000_000)
    first_token: SomeTime = 600.0
    next_token: SomeTime = 120.0
    total: SomeTime = 3600.0
    drain: Duration = 30.0
    thinking_tokens: int = Field(default=MAX_TOKENS, ge=1)
    answer_tokens: int = Field(default=MAX_TOKENS, ge=1)


class AdapterSettings(Section):
    """An adapter as it is written.

    Without an ``engine`` the command line names it. ``models`` maps the names that requests may
    use to what they mean; ``listed`` is what ``/v1/models`` shows of them. ``tokenizer`` is the
    model's ``tokenizer.json``: with it prompts are counted, sent as ids where the engine takes
    them, and logprobs are given. ``temperature`` is for requests that set none and do not think.
    """

    engine: EngineSettings | None = None
    models: dict[Line, Version] = Field(default=OFFICIAL_NAMES, min_length=1)
    listed: Annotated[tuple[Line, ...], Field(strict=False)] | None = None
    thinking: bool = True
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    context_limit: Annotated[int, Field(ge=1)] | None = None
    tokenizer: Line | None = None
    prompt: Literal["auto", "text", "ids"] = "auto"
    missing_reasoning: Literal["fill", "refuse"] = "fill"
    responses_web_search: Literal["drop", "refuse"] = "drop"
    messages_web_search: Literal["drop", "refuse"] = "refuse"
    unenforced_formats: Literal["refuse", "answer"] = "refuse"
    key_env: Annotated[tuple[EnvironmentName, ...], Field(strict=False)] = ()
    key_file: Annotated[tuple[Line, ...], Field(strict=False)] = ()
    host: Line = "127.0.0.1"
    port: int = Field(default=8092, ge=0, le=65_535)
    limits: Limits = Limits()

    @model_validator(mode="after")
    def _consistent(self) -> AdapterSettings:
        unknown = [name for name in self.listed or () if name not in self.models]
        if unknown:
            raise ValueError(f"listed: {unknown[0]!r} is not among the models")
        if self.prompt == "ids" and self.tokenizer is None:
            raise ValueError("prompt: ids needs the model's tokenizer")
        return self

    @property
    def shown(self) -> tuple[str, ...]:
        """The names that ``/v1/models`` lists."""
        return tuple(self.models) if self.listed is None else self.listed


def load_adapter(
    path: Path | None, flags: Mapping[str, Any], *, recipe: Recipe | None = None
) -> AdapterSettings:
    """Read ``adapter.yaml``, whose paths are taken from its folder, and let flags win.

    ``flags`` are keys as the file has them, those of the engine under ``engine``; what neither
    says, the recipe does.

    Raises
    ------
    ReleaseError
        With up to 20 lines, each ``file:line: key: what is wrong``.
    UsageError
        A flag is wrong, or does not go with the rest.
    """
    written = AdapterSettings() if path is None else _located(path)
    plain = _of_recipe(recipe) | written.model_dump(by_alias=True, exclude_unset=True)
    engine = (plain.get("engine") or {}) | flags.get("engine", {})
    models = plain.get("models", {}) | flags.get("models", {})
    merged = plain | dict(flags) | ({"engine": engine} if engine else {})
    try:
        settings = AdapterSettings.model_validate(merged | ({"models": models} if models else {}))
    except ValidationError as error:
        raise UsageError("\n".join(_sentence(one) for one in error.errors())) from None
    engine_of(settings)
    return settings


def engine_of(settings: AdapterSettings) -> EngineSettings:
    """Give the engine that the settings name.

    Raises
    ------
    UsageError
        They name none.
    """
    if settings.engine is None:
        raise UsageError("no engine is named: use --engine NAME, or engine: in the file")
    return settings.engine


def _of_recipe(recipe: Recipe | None) -> dict[str, Any]:
    """Give the adapter's settings that a recipe brings, its temperature among them."""
    if recipe is None:
        return {}
    if recipe.adapter is None or recipe.adapter.name != ADAPTER:
        raise UsageError(f"the recipe {recipe.name} is for no adapter of this kind")
    plain = dict(recipe.adapter.settings)
    if "temperature" in recipe.sampling:
        plain.setdefault("temperature", recipe.sampling["temperature"])
    try:
        AdapterSettings.model_validate(plain)
    except ValidationError as error:
        first = _sentence(error.errors()[0]).removeprefix("--")
        raise UsageError(f"the recipe {recipe.name}: adapter: {first}") from None
    return plain


def _located(path: Path) -> AdapterSettings:
    """Read the file, and make paths in it independent of where the command runs."""
    settings = load_settings(path, AdapterSettings)
    folder = path.parent
    changed: dict[str, Any] = {}
    if settings.tokenizer is not None:
        changed["tokenizer"] = _resolved(folder, settings.tokenizer)
    if settings.key_file:
        changed["key_file"] = tuple(_resolved(folder, one) for one in settings.key_file)
    if (engine := settings.engine) is not None:
        paths = {"weights": engine.weights, "key_file": engine.key_file}
        located = {name: _resolved(folder, one) for name, one in paths.items() if one is not None}
        changed["engine"] = engine.model_copy(update=located)
    return settings.model_copy(update=changed)


def _resolved(folder: Path, written: str) -> str:
    return str(folder / Path(written).expanduser())


def _sentence(error: ErrorDetails) -> str:
    where = "-".join(str(part) for part in error["loc"])
    what = error["msg"].removeprefix("Value error, ")
    return f"--{where}: {what}" if where else what
