"""Read ``recipe.yaml``: strict, every fault with its line and key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from denv.errors import UsageError
from denv.records import Kind

BUILT_IN = Path(__file__).parent
FILE_NAME = "recipe.yaml"

_PERCENTAGE = re.compile(r"(\d+(?:\.\d+)?)%|([01](?:\.\d+)?)")


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
    return read(folder / name / FILE_NAME)


def read(file: Path) -> Recipe:
    """Read a recipe's file; its folder's name is the recipe's."""
    try:
        root = yaml.compose(file.read_text("utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f"{mark.line + 1}: " if mark else " "
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise UsageError(f"{file}:{line}not YAML: {problem}") from error
    values: dict[str, Any] = {}
    for key, node in _entries(root, file=file, where="a recipe"):
        if key not in _READERS:
            raise _fault(file, node, key, f"unknown key; known are {', '.join(_READERS)}")
        values[_FIELDS.get(key, key)] = _READERS[key](node, file, key)
    missing = [key for key in ("description", "suite") if key not in values]
    if missing:
        raise UsageError(f"{file}:1: {missing[0]}: missing")
    return Recipe(name=file.parent.name, **values)


def _fault(file: Path, node: yaml.Node | None, key: str, what: str) -> UsageError:
    line = node.start_mark.line + 1 if node is not None else 1
    return UsageError(f"{file}:{line}: {key}: {what}")


def _entries(node: yaml.Node | None, *, file: Path, where: str) -> list[tuple[str, yaml.Node]]:
    """Give a mapping's keys with their values; a key that stands twice is a fault."""
    if not isinstance(node, yaml.MappingNode):
        raise _fault(file, node, where, "must be a mapping")
    entries: dict[str, yaml.Node] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _fault(file, key, where, "keys must be words")
        if key.value in entries:
            raise _fault(file, key, key.value, "stands twice")
        entries[key.value] = value
    return list(entries.items())


def _text(node: yaml.Node, file: Path, key: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
        raise _fault(file, node, key, "must be a text")
    return str(node.value).strip()


def _file(node: yaml.Node, file: Path, key: str) -> Path:
    path = file.parent / _text(node, file, key)
    if not path.is_file():
        raise _fault(file, node, key, f"there is no file {path.name}")
    return path


def _count(node: yaml.Node, file: Path, key: str) -> int:
    text = _text(node, file, key)
    if not re.fullmatch(r"[1-9]\d{0,8}", text):
        raise _fault(file, node, key, "must be a whole number above 0")
    return int(text)


def _share(node: yaml.Node, file: Path, key: str) -> Fraction:
    match = _PERCENTAGE.fullmatch(_text(node, file, key))
    if match:
        share = Fraction(match[1]) / 100 if match[1] else Fraction(match[2])
        if share <= 1:
            return share
    raise _fault(file, node, key, "must be a share such as 99% or 0.99")


def _thresholds(node: yaml.Node, file: Path, key: str) -> dict[Kind, Fraction]:
    kinds = {kind.value: kind for kind in Kind}
    found = {}
    for name, value in _entries(node, file=file, where=key):
        if name not in kinds:
            raise _fault(file, value, f"{key}.{name}", f"unknown; known are {', '.join(kinds)}")
        found[kinds[name]] = _share(value, file, f"{key}.{name}")
    return found


def _engines(node: yaml.Node, file: Path, key: str) -> dict[str, str]:
    entries = _entries(node, file=file, where=key)
    return {name: _text(value, file, f"{key}.{name}") for name, value in entries}


_READERS: Mapping[str, Callable[[yaml.Node, Path, str], Any]] = {
    "description": _text,
    "suite": _file,
    "golden": _file,
    "max-tokens": _count,
    "pass": _thresholds,
    "engines": _engines,
}
_FIELDS = {"max-tokens": "max_tokens", "pass": "thresholds"}
