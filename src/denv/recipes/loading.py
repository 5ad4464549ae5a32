"""Read ``recipe.yaml``: strict, every fault with its line and key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

from denv.errors import UsageError
from denv.records import Kind
from denv.release import Line, Rates, Section, load_settings

BUILT_IN = Path(__file__).parent
FILE_NAME = "recipe.yaml"


def _beside(written: str, info: ValidationInfo) -> str:
    path = (info.context or {})["folder"] / written
    if not path.is_file():
        raise ValueError(f"there is no file {written!r}")
    return str(path)


FileBeside = Annotated[Line, AfterValidator(_beside)]


class RecipeSettings(Section):
    """A recipe as it is written; its files lie beside it."""

    description: Line
    suite: FileBeside
    golden: FileBeside | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    rates: Rates | None = Field(default=None, alias="pass")
    engines: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A model family's bundle: suite, golden prompts, limits, and notes for each engine."""

    name: str
    description: str
    suite: Path
    golden: Path | None = None
    max_tokens: int | None = None
    thresholds: Mapping[Kind, Fraction] = field(default_factory=dict)
    engines: Mapping[str, str] = field(default_factory=dict)


def names(folder: Path = BUILT_IN) -> tuple[str, ...]:
    """List the recipes in ``folder``, sorted."""
    return tuple(sorted(file.parent.name for file in folder.glob(f"*/{FILE_NAME}")))


def load(name: str, folder: Path = BUILT_IN) -> Recipe:
    """Read one recipe.

    Raises
    ------
    UsageError
        There is no such recipe (the message lists the known ones), or its file is wrong (the
        message names file, line and key).
    """
    known = names(folder)
    if name not in known:
        listed = ", ".join(known) or "none"
        raise UsageError(f"unknown recipe {name!r}; known are {listed}")
    settings = load_settings(folder / name / FILE_NAME, RecipeSettings)
    return Recipe(
        name=name,
        description=settings.description,
        suite=Path(settings.suite),
        golden=None if settings.golden is None else Path(settings.golden),
        max_tokens=settings.max_tokens,
        thresholds=settings.rates or {},
        engines=settings.engines,
    )
