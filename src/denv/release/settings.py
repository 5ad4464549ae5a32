"""The settings of a release, frozen, and what each of them takes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from denv.errors import UsageError
from denv.records import Kind, Thresholds
from denv.release.quantities import parse_duration, parse_kind, parse_share

MAX_REPEATS = 1000

_DIGEST_TAG = "denv.release/1:sha256:"
_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,4096}")
CARRIES_A_KEY = frozenset(
    ("authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie")
)
_RUN_SETS = frozenset(("model", "messages", "temperature", "seed", "stream", "max_tokens"))


def _dashed(name: str) -> str:
    return name.replace("_", "-")


class Section(BaseModel):
    """A part of a release: frozen, strict, its keys written with dashes."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=_dashed,
        validate_by_name=False,
        validate_by_alias=True,
        validate_default=False,
        hide_input_in_errors=True,
        arbitrary_types_allowed=True,
    )


def _reading(parse: Callable[[str], Any], example: str) -> Callable[[Any], Any]:
    """Read a quantity from text or a number; ``ValueError`` is what pydantic gathers."""

    def read(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise PydanticCustomError("quantity", f"must be written as {example}")
        text = value if isinstance(value, str) else format(Decimal(repr(value)), "f")
        try:
            return parse(text)
        except UsageError as error:
            raise ValueError(str(error)) from None

    return read


def _inside(value: Fraction) -> Fraction:
    if not 0 < value < 1:
        raise ValueError("must lie between 0% and 100%, both excluded")
    return value


def _decimal(value: Fraction) -> str:
    """Write a share as the decimal it was read from; 20 places and less, so exactly."""
    return format(Decimal(value.numerator) / Decimal(value.denominator), "f")


def _base_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, 0, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise ValueError("must be an URL that begins with http:// or https:// and names a host")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user or password: name the key by key-env or key-file")
    if parts.query or parts.fragment:
        raise ValueError("must be a base, without ? and #")
    if not parts.path.rstrip("/").endswith("/v1"):
        raise ValueError("must be a base that ends in /v1")
    return value.rstrip("/")


def _environment_name(value: str) -> str:
    if not _ENVIRONMENT_NAME.fullmatch(value):
        raise ValueError("must be the name of an environment variable, never the key itself")
    return value


def _headers(value: dict[str, str]) -> dict[str, str]:
    for name, content in value.items():
        if name.lower() in CARRIES_A_KEY:
            raise ValueError(f"{name} carries a key: name the key by key-env or key-file")
        if not HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(content):
            raise ValueError(f"{name[:40]!r} cannot be sent as a header")
    return value


def _extra(value: dict[str, Any]) -> dict[str, Any]:
    for name in value:
        if name in _RUN_SETS:
            raise ValueError(f"{name} is set by the run and cannot be an extra field")
    return value


def _one_line(value: str) -> str:
    if not value.strip() or len(value) > 256 or not value.isprintable():
        raise ValueError("must be a text of one line, 1 to 256 characters")
    return value


def _rates(value: Any) -> dict[Kind, Any]:
    if not isinstance(value, dict) or not value:
        raise ValueError("must name kinds with their shares: { tool-calls: 99%, exact: 95% }")
    try:
        return {parse_kind(name): share for name, share in value.items()}
    except UsageError as error:
        raise ValueError(str(error)) from None


_SHARE_SCHEMA = {
    "anyOf": [
        {"type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*%?\s*$"},
        {"type": "number", "minimum": 0, "maximum": 1},
    ]
}
_RATES_SCHEMA = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"enum": [kind.value for kind in Kind]},
    "additionalProperties": _SHARE_SCHEMA,
}
_DURATION_SCHEMA = {"type": "string", "pattern": r"^\s*([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+\s*$"}

Share = Annotated[
    Fraction,
    BeforeValidator(_reading(parse_share, "99% or 0.99")),
    PlainSerializer(_decimal),
    WithJsonSchema(_SHARE_SCHEMA),
]
Duration = Annotated[
    float,
    BeforeValidator(_reading(parse_duration, "30s, 10m or 24h")),
    WithJsonSchema(_DURATION_SCHEMA),
]
Rates = Annotated[dict[Kind, Share], BeforeValidator(_rates), WithJsonSchema(_RATES_SCHEMA)]
Line = Annotated[str, AfterValidator(_one_line), Field(min_length=1, max_length=256)]
Url = Annotated[str, AfterValidator(_base_url), Field(pattern=r"^https?://")]
EnvironmentName = Annotated[str, AfterValidator(_environment_name)]
Headers = Annotated[dict[str, str], AfterValidator(_headers)]
Extra = Annotated[dict[str, Any], AfterValidator(_extra)]


class Stage(Section):
    """One side: where it is, the name of its key, and what is added for it alone."""

    url: Url
    model: Line | None = None
    key_env: EnvironmentName | None = None
    key_file: Line | None = None
    headers: Headers = Field(default_factory=dict)
    extra: Extra = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_key(self) -> Stage:
        if self.key_env is not None and self.key_file is not None:
            raise ValueError("key-env and key-file exclude each other")
        return self


class Reference(Stage):
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
    rates: Rates | None = Field(default=None, alias="pass")
    coverage: Share = Fraction(9, 10)
    confidence: Annotated[Share, AfterValidator(_inside)] | None = None
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
    """A release as it is written; ``rollout`` and ``alarms`` are read by the rollout itself."""

    name: Line = Field(alias="release")
    stage: Stage
    engine: Engine | None = None
    recipe: Line | None = None
    parity: Parity = Parity()
    rollout: dict[str, Any] = Field(default_factory=dict)
    alarms: list[Any] = Field(default_factory=list)

    @property
    def digest(self) -> str:
        """A tagged digest of the settings: not of comments, order or the way numbers are put."""
        plain = self.model_dump(mode="json", by_alias=True)
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
    rollout: Mapping[str, Any]
    alarms: tuple[Any, ...]

    @property
    def suite(self) -> Path | None:
        """The suite's file, a relative path taken from the release's folder."""
        return None if self.parity.suite is None else self.resolve(self.parity.suite)

    def resolve(self, written: str) -> Path:
        """Give the file that a path in the release means."""
        return self.path.parent / Path(written).expanduser()


def release_schema() -> dict[str, Any]:
    """Generate the JSON Schema of a release file; ``schemas/release-1.json`` is its output."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:denv:release:1"}
    return {**head, **ReleaseSettings.model_json_schema(by_alias=True)}
