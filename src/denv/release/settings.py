"""The settings of a release, frozen, and what each of them takes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from denv.records import Thresholds
from denv.release.alarms import AlarmEntry, Sink
from denv.release.fields import (
    Duration,
    EnvironmentName,
    Extra,
    Headers,
    Line,
    Rates,
    Section,
    Share,
    Url,
    inside,
)
from denv.release.rollout import Rollout

MAX_REPEATS = 1000

_DIGEST_TAG = "denv.release/1:sha256:"


class Router(Section):
    """The router at the stage's URL: where the secret lies that signs permits for it."""

    permit_env: EnvironmentName | None = None
    permit_file: Line | None = None

    @model_validator(mode="after")
    def _one_secret(self) -> Router:
        if (self.permit_env is None) == (self.permit_file is None):
            raise ValueError("must name one of permit-env and permit-file")
        return self


class SideSection(Section):
    """One side: where it is, the name of its key, and what is added for it alone."""

    url: Url
    model: Line | None = None
    key_env: EnvironmentName | None = None
    key_file: Line | None = None
    headers: Headers = Field(default_factory=dict)
    extra: Extra = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if self.key_env is not None and self.key_file is not None:
            raise ValueError("key-env and key-file exclude each other")
        return self


class Stage(SideSection):
    """The deployment under test; with ``router`` its URL is that of a router before it."""

    router: Router | None = None


class Reference(SideSection):
    """The trusted side; ``max_age`` says for how many seconds its answers may be used again."""

    max_age: Duration | None = None


class Engine(Section):
    """What serves the stage."""

    name: Line
    version: Line | None = None
    deterministic: bool = False


class Parity(Section):
    """What the stage is held to. ``rates`` is written ``pass``, a word of Python's own."""

    reference: Reference | None = None
    suite: Line | None = None
    private: Line | None = None
    rates: Rates | None = Field(default=None, alias="pass")
    coverage: Share = Fraction(9, 10)
    confidence: Annotated[Share, AfterValidator(inside)] | None = None
    max_retried: Share = Fraction(1, 50)
    repeats: int = Field(default=1, ge=1, le=MAX_REPEATS)

    @property
    def thresholds(self) -> Thresholds:
        """The same as the values that a verdict is made from."""
        return Thresholds(
            rates=self.rates or {},
            coverage=self.coverage,
            max_retried=self.max_retried,
            confidence=self.confidence,
        )


class ReleaseSettings(Section):
    """A release as it is written."""

    name: Line = Field(alias="release")
    stage: Stage
    engine: Engine | None = None
    recipe: Line | None = None
    parity: Parity = Parity()
    rollout: Rollout = Rollout()
    alarms: Annotated[tuple[AlarmEntry, ...], Field(strict=False)] = ()

    @property
    def digest(self) -> str:
        """A tagged digest of the settings: not of comments, order or the way numbers are put."""
        plain = self.model_dump(mode="json", by_alias=True)
        for section, key in (("stage", "router"), ("parity", "private")):
            if plain[section][key] is None:  # a release without them has its digest of before
                del plain[section][key]
        canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return _DIGEST_TAG + hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Release:
    """A release and the file it comes from, against which its paths are resolved."""

    path: Path
    digest: str
    name: str
    stage: Stage
    engine: Engine | None
    recipe: str | None
    parity: Parity
    rollout: Rollout
    alarms: tuple[Sink, ...]

    @property
    def suite(self) -> Path | None:
        """The suite's file, a relative path taken from the release's folder."""
        return None if self.parity.suite is None else self.resolve(self.parity.suite)

    @property
    def private(self) -> Path | None:
        """The private part of the suite, where the release names one."""
        return None if self.parity.private is None else self.resolve(self.parity.private)

    def resolve(self, written: str) -> Path:
        """Give the file that a path in the release means."""
        return self.path.parent / Path(written).expanduser()


def release_schema() -> dict[str, Any]:
    """Generate the JSON Schema of a release file; ``schemas/release-1.json`` is its output."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:denv:release:1"}
    return {**head, **ReleaseSettings.model_json_schema(by_alias=True)}
