"""A release's file → its settings; every error names file, line and key."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from denv.errors import ReleaseError
from denv.release.nodes import Document, KeyPath, dotted, read_document
from denv.release.settings import Release, ReleaseSettings
from denv.release.texts import read_text

M = TypeVar("M", bound=BaseModel)

MAX_BYTES = 1024 * 1024
MAX_PROBLEMS = 20

_MESSAGES = {
    "missing": "missing",
    "string_type": "must be a text; if it is one, put it in quotes",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "string_pattern_mismatch": "must begin with http:// or https://",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "too_short": "must have at least {min_length} {entries}",
    "too_long": "must have at most {max_length} {entries}",
    "string_too_short": "must not be empty",
    "string_too_long": "must be of at most {max_length} characters",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
}


def load_release(path: str | os.PathLike[str]) -> Release:
    """Read and validate a release file.

    Raises
    ------
    ReleaseError
        With up to 20 lines, each ``file:line: key: what is wrong``.
    """
    where = Path(path)
    settings = load_settings(where, ReleaseSettings)
    return Release(
        path=where,
        digest=settings.digest,
        name=settings.name,
        stage=settings.stage,
        engine=settings.engine,
        recipe=settings.recipe,
        parity=settings.parity,
        rollout=settings.rollout,
        alarms=tuple(entry.sink for entry in settings.alarms),
    )


def load_settings(path: Path, model: type[M]) -> M:
    """Read a strict YAML file as a model whose aliases are the file's keys.

    Validators find the file's folder in their context, as ``folder``.

    Raises
    ------
    ReleaseError
        With up to 20 lines, each ``file:line: key: what is wrong``.
    """
    document = read_document(read_text(path, most=MAX_BYTES, error=ReleaseError))
    faults = list(document.faults)
    settings = None if faults else _validated(document, model, faults, folder=path.parent)
    if settings is None:
        raise ReleaseError("\n".join(_sentences(path, faults)))
    return settings


def _validated(
    document: Document, model: type[M], faults: list[tuple[int, str, str]], *, folder: Path
) -> M | None:
    if not isinstance(document.value, dict):
        what = "empty" if document.value is None else "not a mapping of keys to values"
        faults.append((1, "", what))
        return None
    try:
        return model.model_validate(document.value, context={"folder": folder})
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        faults.extend(
            _fault(detail, document, model)
            for detail in details
            if not _follows(detail, [each["loc"] for each in details])
        )
        return None


def _follows(detail: ErrorDetails, places: list[KeyPath]) -> bool:
    """Whether a list is too short only because entries of it were refused, which is told."""
    place = detail["loc"]
    inside = any(len(each) > len(place) and each[: len(place)] == place for each in places)
    return detail["type"] == "too_short" and inside


def _fault(
    detail: ErrorDetails, document: Document, model: type[BaseModel]
) -> tuple[int, str, str]:
    path: KeyPath = detail["loc"]
    if detail["type"] == "extra_forbidden":
        what = f"unknown key{_suggestion(path, model)}"
    else:
        plain = detail["msg"].removeprefix("Value error, ")
        what = _MESSAGES.get(detail["type"], plain)
        if detail["type"] in _MESSAGES:
            context = detail.get("ctx", {})
            one = 1 in (context.get("min_length"), context.get("max_length"))
            what = what.format_map({**context, "entries": "entry" if one else "entries"})
    return document.line_of(path), dotted(path), what


def _suggestion(path: KeyPath, model: type[BaseModel]) -> str:
    known = _keys_at(path[:-1], model)
    near = get_close_matches(str(path[-1]).replace("_", "-").lower(), known, n=1)
    return f'; did you mean "{near[0]}"?' if near else f" (keys: {', '.join(known)})"


def _keys_at(path: KeyPath, model: type[BaseModel]) -> list[str]:
    """Give the keys that the section at a path takes."""
    section = model
    for key in path:
        fields = {field.alias: field.annotation for field in section.model_fields.values()}
        section = next(filter(_is_section, _members(fields.get(str(key)))), section)
    return [field.alias or name for name, field in section.model_fields.items()]


def _members(annotation: Any) -> tuple[Any, ...]:
    return (annotation, *get_args(annotation))


def _is_section(candidate: Any) -> bool:
    return isinstance(candidate, type) and issubclass(candidate, BaseModel)


def _sentences(path: Path, faults: list[tuple[int, str, str]]) -> list[str]:
    ordered = sorted(faults, key=lambda fault: fault[0])
    shown = [
        f"{path}:{line}: {f'{key}: ' if key else ''}{what}"
        for line, key, what in ordered[:MAX_PROBLEMS]
    ]
    more = len(ordered) - len(shown)
    return [*shown, f"and {more} more"] if more else shown
