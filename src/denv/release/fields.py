"""How the values of a release file are written: each field's type reads, checks and shows one."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from denv.errors import UsageError
from denv.records import Kind
from denv.release.quantities import parse_duration, parse_kind, parse_share

_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,4096}")
_CARRIES_A_KEY = re.compile(
    # Not X-Author, nor X-Tokenizer and X-Max-Tokens, nor Idempotency-Key.
    r"(?i)auth(?!or(?!i[sz]))|(?<!max[-_])token(?!i[sz])|secret|passw|passphrase|credential|cookie"
    r"|jwt|bearer|signature|api[-_.]?key|(?<!idempotency)[-_.]key$|^key$"
)
_RUN_SETS = frozenset(("model", "messages", "temperature", "seed", "stream", "max_tokens"))


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def carries_a_key(name: str) -> bool:
    """Whether a header of this name carries a key, or what is as good as one."""
    return _CARRIES_A_KEY.search(name.strip()) is not None


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


def inside(value: Fraction) -> Fraction:
    """Refuse a share that leaves nothing on one of its sides."""
    if not 0 < value < 1:
        raise ValueError("must lie between 0% and 100%, both excluded")
    return value


def _decimal(value: Fraction) -> str:
    """Write a share as the decimal it was read from; 20 places and less, so exactly.

    All is ``100%``: a bare 1 is refused, since it may mean 1 % as well.
    """
    return (
        "100%" if value == 1 else format(Decimal(value.numerator) / Decimal(value.denominator), "f")
    )


def _seconds(value: float) -> str:
    """Write a duration so that it reads back the same; nothing finer than a nanosecond is kept."""
    return f"{value:.9f}".rstrip("0").rstrip(".") + "s"


def _above_zero(value: float) -> float:
    if value <= 0:
        raise ValueError("must be longer than 0s")
    return value


def _split_url(value: str, keys: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        host, port = parts.hostname, parts.port
        if host and ":" not in host:
            host.encode("idna")  # a label of more than 63 characters is no name of a host
    except ValueError:
        host, port, parts = None, 0, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise ValueError("must be an URL that begins with http:// or https:// and names a host")
    if "@" in parts.netloc:
        raise ValueError(f"must not hold a user or password: {keys}")
    return parts


def _base_url(value: str) -> str:
    parts = _split_url(value, "name the key by key-env or key-file")
    if parts.query or parts.fragment:
        raise ValueError("must be a base, without ? and #")
    if not parts.path.rstrip("/").endswith("/v1"):
        raise ValueError("must be a base that ends in /v1")
    return value.rstrip("/")


def _web_url(value: str) -> str:
    # What stands behind a ? is often a token, and would be shown and kept with the URL.
    parts = _split_url(value, "name a header for it in headers-env")
    if parts.query or parts.fragment:
        raise ValueError("must be written without ? and #: a token goes into headers-env")
    if any(character.isspace() or not character.isprintable() for character in value):
        raise ValueError("must not hold a space or a control character")
    return value.rstrip("/")


def _header_names(value: dict[str, str]) -> dict[str, str]:
    for name in value:
        if not HEADER_NAME.fullmatch(name):
            raise ValueError(f"{name[:40]!r} is no name of a header")
    return value


def _environment_name(value: str) -> str:
    if not _ENVIRONMENT_NAME.fullmatch(value):
        raise ValueError("must be the name of an environment variable, never the key itself")
    return value


def _headers(value: dict[str, str]) -> dict[str, str]:
    for name, content in value.items():
        if carries_a_key(name):
            raise ValueError(f"{name[:40]} carries a key: name the key by key-env or key-file")
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
    PlainSerializer(_seconds),
    WithJsonSchema(_DURATION_SCHEMA),
]
SomeTime = Annotated[Duration, AfterValidator(_above_zero)]
Rates = Annotated[dict[Kind, Share], BeforeValidator(_rates), WithJsonSchema(_RATES_SCHEMA)]
Line = Annotated[str, AfterValidator(_one_line), Field(min_length=1, max_length=256)]
Url = Annotated[str, AfterValidator(_base_url), Field(pattern=r"^https?://")]
WebUrl = Annotated[str, AfterValidator(_web_url), Field(pattern=r"^https?://")]
EnvironmentName = Annotated[str, AfterValidator(_environment_name)]
HeadersFromEnvironment = Annotated[dict[str, EnvironmentName], AfterValidator(_header_names)]
Headers = Annotated[dict[str, str], AfterValidator(_headers)]
Extra = Annotated[dict[str, Any], AfterValidator(_extra)]
