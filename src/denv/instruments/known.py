"""The known cases as they are packaged: read, and refused where they are not well formed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from denv import strictjson
from denv.errors import HarnessError
from denv.records import Json

OBSERVED = (
    "problem", "text", "reasoning", "calls", "finish_reason", "native_finish_reason", "logprobs",
    "logprobs_absent", "logprobs_reasoning", "usage", "model", "system_fingerprint", "provider",
    "refusal", "text_after_reasoning", "reasoning_open", "calls_in_text", "calls_in_reasoning",
    "oddities",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Form:
    """The fields that an instrument's lines have: those it needs, may have, and may compare."""

    needed: frozenset[str]
    right: frozenset[str]
    optional: frozenset[str] = frozenset()


def _form(needed: str, right: str, optional: str = "") -> Form:
    return Form(frozenset(needed.split()), frozenset(right.split()), frozenset(optional.split()))


FORMS: Mapping[str, Form] = {
    "outcome": _form(
        "case stage reference",
        "outcome cause reason warnings oddities detail",
        "streamed sampled timeout_s",
    ),
    "observe": _form("exchange", " ".join(OBSERVED)),
    "loop": _form("text", "loop unit"),
    "tool-schema": _form("tools call", "class"),
    "number": _form("texts", "same"),
    "strict-json": _form("text", "value refused"),
    "events": _form("chunks", "events"),
    "refused-field": _form(
        "status body", "dropped top_logprobs max_tokens_field adapted", "already"
    ),
    "interval": _form("method successes trials confidence", "low high"),
    "verdict": _form(
        "kinds",
        "verdict reason kinds",
        "thresholds confidence stage_requests stage_retried replicas cancelled errors failures",
    ),
    "answer": _form("text", "found value said"),
    "final": _form("text", "final"),
    "derivation": _form("text truth form", "outcome final"),
}
"""Every instrument that known cases name."""

ANSWERS = "answers"
"""The known cases of what reads answers to questions, apart since they take seconds to try."""


@dataclass(frozen=True, slots=True)
class Known:
    """One known case; non-integer numbers of ``given`` and ``right`` are ``Decimal``."""

    id: str
    about: str
    instrument: str
    given: Mapping[str, Json]
    right: Mapping[str, Json]


def load_answers() -> tuple[Known, ...]:
    """Read the packaged known cases of :data:`ANSWERS`, as :func:`load_known` does."""
    return load_known(files("denv.instruments") / "data" / ANSWERS)


def load_known(folder: Traversable | None = None) -> tuple[Known, ...]:
    """Read every known case of a folder, by default all packaged ones but those of answers.

    Raises
    ------
    HarnessError
        Where the data cannot be read, or a line has an unknown instrument or field, lacks one,
        or repeats an id; the message names file and line.
    """
    folder = files("denv.instruments") / "data" if folder is None else folder
    found: list[Known] = []
    seen: dict[str, str] = {}
    for place, line in _lines(folder):
        known = _read(line, place)
        if known.id in seen:
            raise HarnessError(f"{place}: the id {known.id!r} stands at {seen[known.id]} too")
        seen[known.id] = place
        found.append(known)
    if not found:
        raise HarnessError("no known cases: the package's data are missing")
    return tuple(found)


def _lines(folder: Traversable) -> Iterator[tuple[str, str]]:
    try:
        data = [item for item in folder.iterdir() if item.name.endswith(".jsonl")]
        for item in sorted(data, key=lambda one: one.name):
            # str.splitlines would also split at characters that texts of models hold
            lines = item.read_text("utf-8").split("\n")
            yield from ((f"{item.name}:{n}", line) for n, line in enumerate(lines, 1) if line)
    except (OSError, UnicodeDecodeError) as error:
        raise HarnessError(f"the known cases cannot be read: {error}") from error


def _read(line: str, place: str) -> Known:
    try:
        value = strictjson.loads(line, exact=True)
    except strictjson.StrictJsonError as error:
        raise HarnessError(f"{place}: {error}") from None
    if not isinstance(value, dict):
        raise HarnessError(f"{place}: not an object")
    given = dict(value)
    case_id, about = (_word(given, name, place) for name in ("id", "about"))
    instrument, right = _word(given, "instrument", place), given.pop("right", None)
    form = FORMS.get(instrument)
    if form is None:
        raise HarnessError(f"{place}: no instrument {instrument!r}")
    _check_fields(given.keys(), form.needed, form.needed | form.optional, place)
    if not isinstance(right, dict) or not right:
        raise HarnessError(f"{place}: right is no object that names what is right")
    _check_fields(right.keys(), frozenset(), form.right, f"{place}: right")
    return Known(case_id, about, instrument, given, right)


def _word(given: dict[str, Json], name: str, place: str) -> str:
    value = given.pop(name, None)
    if not isinstance(value, str) or not value:
        raise HarnessError(f"{place}: {name} is missing or no text")
    return value


def _check_fields(
    names: AbstractSet[str], needed: frozenset[str], allowed: frozenset[str], place: str
) -> None:
    missing, unknown = needed - names, names - allowed
    if missing:
        raise HarnessError(f"{place}: without {', '.join(sorted(missing))}")
    if unknown:
        raise HarnessError(f"{place}: unknown field {', '.join(sorted(unknown))}")
