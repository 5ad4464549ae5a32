"""Read ``answers.jsonl``: for each case one answer that passes it and one that fails it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from denv import strictjson
from denv.errors import UsageError

MAX_PROBLEMS = 20
MAX_LINE_BYTES = 16 * 1024 * 1024

FinishReason = Literal["stop", "tool_calls", "length"]

_WORDS = {
    "missing": "missing",
    "extra_forbidden": "unknown field",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "literal_error": "must be {expected}",
    "float_type": "must be a number",
    "string_too_short": "empty",
}


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", hide_input_in_errors=True)


def _arguments(value: Any) -> Any:
    if not isinstance(value, dict | str):
        raise ValueError("must be an object, or a string that is sent as it stands")  # noqa: TRY004
    return value


Arguments = Annotated[Any, AfterValidator(_arguments)]


class ScriptedCall(_Strict):
    """A tool call; ``arguments`` as a string are sent as they stand, parsable or not."""

    name: str
    arguments: Arguments = Field(default_factory=dict)


class ScriptedMessage(_Strict):
    """What a server answers.

    ``logprobs`` left out gives them where the request asks; false never gives them, as some
    servers do. ``logprob_shift`` lowers every logprob by so many nats.
    """

    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[ScriptedCall, ...] = Field(default=(), strict=False)
    finish_reason: FinishReason | None = None
    logprobs: bool = True
    logprob_shift: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _says_something(self) -> ScriptedMessage:
        if self.content is None and self.reasoning_content is None and not self.tool_calls:
            raise ValueError("an answer of nothing: give content, reasoning_content or tool_calls")
        if not isfinite(self.logprob_shift):
            raise ValueError("logprob_shift must be a finite number of nats")
        return self

    @property
    def finish(self) -> FinishReason:
        """The finish reason: the written one, else what the answer's form asks for."""
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")


class Answers(_Strict):
    """One line: a case's id, its right and its wrong answer, and why that one is wrong."""

    id: str = Field(min_length=1)
    right: ScriptedMessage
    wrong: ScriptedMessage
    why: str | None = None


@dataclass(slots=True)
class _Faults:
    path: Path
    lines: list[str]
    count: int = 0

    def add(self, line: int, where: str, what: str) -> None:
        self.count += 1
        if len(self.lines) < MAX_PROBLEMS:
            self.lines.append(f"{self.path}:{line}: {where}: {what}")

    def raise_if_any(self) -> None:
        if self.count:
            more = self.count - len(self.lines)
            raise UsageError("\n".join([*self.lines, f"and {more} more"] if more else self.lines))


def load_answers(path: Path) -> Mapping[str, Answers]:
    """Read all answers, by the id of their case and in the file's order.

    Raises
    ------
    UsageError
        With up to 20 lines, each ``file:line: field: what is wrong``; or the file cannot be read.
    """
    found: dict[str, Answers] = {}
    first: dict[str, int] = {}
    faults = _Faults(path, [])
    for number, raw in _lines(path):
        answers = _read(raw, number, faults)
        if answers is None:
            continue
        if answers.id in found:
            what = f"{answers.id!r} stands on line {first[answers.id]} too"
            faults.add(number, "id", what)
            continue
        found[answers.id], first[answers.id] = answers, number
    faults.raise_if_any()
    if not found:
        raise UsageError(f"{path}: no answers")
    return found


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            number = 0
            while raw := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(raw) > MAX_LINE_BYTES:
                    size = MAX_LINE_BYTES // 1024**2
                    raise UsageError(f"{path}:{number}: line: longer than {size} MiB")
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                if raw.strip():
                    yield number, raw.rstrip(b"\r\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None


def _read(raw: bytes, number: int, faults: _Faults) -> Answers | None:
    try:
        value = strictjson.loads(raw)
    except strictjson.StrictJsonError as error:
        faults.add(number, "line", f"not JSON as the standard has it: {error}")
        return None
    if not isinstance(value, dict):
        faults.add(number, "line", "must be one JSON object")
        return None
    try:
        return _adapter().validate_python(value)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            template = _WORDS.get(detail["type"], detail["msg"].removeprefix("Value error, "))
            what = template.format_map(detail.get("ctx", {})) if "{" in template else template
            faults.add(number, _dotted(detail["loc"]), what)
        return None


@cache
def _adapter() -> TypeAdapter[Answers]:
    return TypeAdapter(Answers)


def _dotted(path: tuple[int | str, ...]) -> str:
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return "".join(parts).removeprefix(".") or "line"
