"""YAML as JavaScript's parsers read it: only ``true`` and ``false`` are booleans, dates are texts.

PyYAML reads YAML 1.1, where ``no`` and ``on`` are booleans, ``1:30`` is 90 and ``010`` is 8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from denv.errors import UsageError

MAX_VALUES = 1_000_000
"""A few aliases of aliases would be more than any memory holds."""

_PLAIN = {
    "tag:yaml.org,2002:bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "tag:yaml.org,2002:int": (r"[-+]?[0-9]+|0x[0-9a-fA-F]+", "-+0123456789"),
    "tag:yaml.org,2002:float": (
        r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?",
        "-+0123456789.",
    ),
    "tag:yaml.org,2002:null": (r"~|null|Null|NULL|", "~nN\0"),
    "tag:yaml.org,2002:merge": (r"<<", "<"),
}


class Placed(dict[Any, Any]):
    """A mapping that knows the place where it stands, as ``file:line``."""

    place = ""


class _Loader(yaml.SafeLoader):
    """The safe loader with the resolvers of YAML 1.2's core, and merge keys."""

    source = ""


_Loader.yaml_implicit_resolvers = {}
for _tag, (_pattern, _first) in _PLAIN.items():
    _starts = ["" if each == "\0" else each for each in _first]
    _Loader.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern})\Z"), _starts)


def _integer(_: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = node.value
    return int(text, 16) if text.startswith("0x") else int(text)


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Iterator[Placed]:
    made = Placed()
    made.place = f"{loader.source}:{node.start_mark.line + 1}"
    yield made  # before it is filled, since it may hold itself
    _refuse_twins(loader, node)
    made.update(loader.construct_mapping(node))


def _refuse_twins(loader: _Loader, node: yaml.MappingNode) -> None:
    """Refuse a key that stands twice, as JavaScript's parsers do; one of a merge may be written."""
    seen: set[Any] = set()
    for key, _ in node.value:
        if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
            continue
        name = loader.construct_object(key)
        if name in seen:
            raise yaml.MarkedYAMLError(
                problem=f"the key {name!r} stands twice", problem_mark=key.start_mark
            )
        seen.add(name)


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


def load_yaml(text: str, *, source: str) -> Any:
    """Read one document; its mappings are ``Placed``.

    Raises
    ------
    UsageError
        It is no YAML, with its line; or it is nested or numbered beyond what can be read, or
        its aliases hold themselves or more than ``MAX_VALUES``.
    """
    try:
        loader = _Loader(text)
        loader.source = source
        value = loader.get_single_data()
        _bound(value)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise UsageError(f"{source}{line}: not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{source}: not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise UsageError(f"{source}: nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{source}: cannot be read: {error}") from None
    return value


def _bound(value: Any) -> None:
    if _written_out(value, {}) > MAX_VALUES:
        raise ValueError(f"written out it has more than {MAX_VALUES} values")


def _written_out(value: Any, known: dict[int, int]) -> int:
    """Count the values of a document as it would be without aliases."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = 0  # while it is counted: nothing else holds so few
        parts = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_written_out(part, known) for part in parts)
    elif not known[id(value)]:
        raise ValueError("an alias holds itself")
    return known[id(value)]
