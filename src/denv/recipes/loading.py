"""Read ``recipe.yaml``: strict, every fault with its line and key."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo

from denv.errors import UsageError
from denv.records import Kind
from denv.release import Line, Rates, Section, Share, load_settings

FILE_NAME = "recipe.yaml"
SHOWN_DIGITS = 16

_DIGEST_TAG = b"denv.recipe/1\0"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")


def _beside(written: str, info: ValidationInfo) -> str:
    path = (info.context or {})["folder"] / written
    if not path.is_file():
        raise ValueError(f"there is no file {written!r}")
    return str(path)


def _sentence(value: str) -> str:
    text = " ".join(value.split())
    if not text or not text.isprintable():
        raise ValueError("must be a sentence")
    return text


def _inside(value: Fraction) -> Fraction:
    if not 0 < value < 1:
        raise ValueError("must lie between 0% and 100%, both excluded")
    return value


FileBeside = Annotated[Line, AfterValidator(_beside)]
Sentence = Annotated[str, AfterValidator(_sentence), Field(max_length=2000)]


class SamplingSettings(Section):
    """How customers should sample, as the model's makers say; a run itself samples greedily."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    top_k: int | None = Field(default=None, ge=-1)
    min_p: float | None = Field(default=None, ge=0, le=1)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    repetition_penalty: float | None = Field(default=None, gt=0, le=2)


class AdapterSettings(Section):
    """The adapter's name, and whatever settings it takes itself."""

    model_config = ConfigDict(extra="allow")

    name: Line


class RecipeSettings(Section):
    """A recipe as it is written; its files lie beside it."""

    description: Line
    models: Annotated[tuple[Line, ...], Field(strict=False)] = ()
    suite: FileBeside
    golden: FileBeside | None = None
    answers: FileBeside | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    rates: Rates | None = Field(default=None, alias="pass")
    confidence: Annotated[Share, AfterValidator(_inside)] | None = None
    sampling: SamplingSettings = SamplingSettings()
    adapter: AdapterSettings | None = None
    limits: Annotated[tuple[Sentence, ...], Field(strict=False)] = ()
    engines: dict[str, Sentence] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Adapter:
    """What makes a raw engine answer like the family's own API, and its settings."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model family's bundle: suite, golden prompts, limits, and notes for each engine.

    ``models`` are patterns of the names that it is for; ``sampling`` holds the API's own field
    names; ``origin`` says where it comes from, ``version`` that of the package which brings it.
    """

    name: str
    description: str
    suite: Path
    golden: Path | None = None
    answers: Path | None = None
    max_tokens: int | None = None
    thresholds: Mapping[Kind, Fraction] = field(default_factory=dict)
    confidence: Fraction | None = None
    models: tuple[str, ...] = ()
    sampling: Mapping[str, float] = field(default_factory=dict)
    adapter: Adapter | None = None
    limits: tuple[str, ...] = ()
    engines: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    version: str | None = None
    sha256: str = ""

    @property
    def label(self) -> str:
        """Name the recipe as reports do: by its name and the beginning of its digest."""
        return f"{self.name} sha256:{self.sha256[:SHOWN_DIGITS]}"


def load_folder(
    folder: Path, *, name: str | None = None, origin: str | None = None, version: str | None = None
) -> Recipe:
    """Read the recipe in a folder, whose name it bears unless another is given.

    Raises
    ------
    UsageError
        There is no ``recipe.yaml``, or something in it is wrong: each line of the message names
        file, line and key.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        raise UsageError(f"{folder}: no recipe: there is no {FILE_NAME}")
    named = folder.resolve().name if name is None else name
    if not _NAME.fullmatch(named):
        raise UsageError(f"{folder}: {named[:64]!r} is no name of a recipe: letters, digits, . _ -")
    settings = load_settings(path, RecipeSettings)
    adapter = settings.adapter
    return Recipe(
        name=named,
        description=settings.description,
        suite=Path(settings.suite),
        golden=_path(settings.golden),
        answers=_path(settings.answers),
        max_tokens=settings.max_tokens,
        thresholds=settings.rates or {},
        confidence=settings.confidence,
        models=settings.models,
        sampling=settings.sampling.model_dump(exclude_none=True),
        adapter=None if adapter is None else Adapter(adapter.name, dict(adapter.model_extra or {})),
        limits=settings.limits,
        engines=settings.engines,
        origin=str(folder) if origin is None else origin,
        version=version,
        sha256=_digest(path, settings),
    )


def _path(written: str | None) -> Path | None:
    return None if written is None else Path(written)


def _digest(path: Path, settings: RecipeSettings) -> str:
    """Hash all that decides a run: the recipe's own file, its suite and its golden prompts."""
    digest = hashlib.sha256(_DIGEST_TAG)
    for file in (path, _path(settings.suite), _path(settings.golden)):
        raw = b"" if file is None else file.read_bytes()
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()
