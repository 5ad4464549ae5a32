"""YAML as JSON values with the line of each: no tags, no anchors, no key twice, no odd numbers.

PyYAML reads YAML 1.1, where ``no`` is a boolean, ``1:30`` is 90 and ``010`` is 8; a number that
JSON would not read the same way is refused here, so that it is quoted or written plainly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

KeyPath = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""

MAX_NESTING = 50
"""PyYAML takes quadratic time for depth; real releases have a handful of levels."""

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,3})?")


@dataclass(slots=True)
class Document:
    """A parsed document: its value, the line of each path, and what is wrong with it."""

    value: Any = None
    lines: dict[KeyPath, int] = field(default_factory=dict)
    faults: list[tuple[int, str, str]] = field(default_factory=list)

    def line_of(self, path: KeyPath) -> int:
        """Give the line of a path, or of the nearest thing above it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


class _Loader(yaml.SafeLoader):
    """The safe loader without dates, which stay the text that they are."""


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_document(text: str) -> Document:
    """Parse one YAML document; what is wrong stands in ``faults`` as (line, key, what)."""
    document = Document()
    try:
        _refuse_events(text, document)
        if not document.faults:
            root = yaml.compose(text, Loader=_Loader)
            document.value = None if root is None else _value(root, (), document)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else mark.line + 1
        document.faults.append((line, "", f"not YAML: {error.problem or error.context}"))
    except yaml.YAMLError as error:
        document.faults.append((1, "", f"not YAML: {' '.join(str(error).split())}"))
    return document


def _refuse_events(text: str, document: Document) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        _refuse_event(event, document)
        if depth > MAX_NESTING:
            document.faults.append((_line(event), "", "nested too deeply"))
            return


def _line(event: Any) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _refuse_event(event: Any, document: Document) -> None:
    line = _line(event)
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        document.faults.append((line, "", "anchors and aliases (& and *) are not taken"))
    elif getattr(event, "tag", None) is not None:
        document.faults.append((line, "", f"tags are not taken: {str(event.tag)[:40]!r}"))


def _value(node: yaml.Node, path: KeyPath, document: Document) -> Any:
    document.lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, document)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, at), document) for at, item in enumerate(node.value)]
    return _scalar(node, path, document)


def _mapping(node: yaml.MappingNode, path: KeyPath, document: Document) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        key = key_node.value
        if not isinstance(key, str):
            document.faults.append((line, dotted(path), "a key must be a plain text"))
            continue
        here = (*path, key)
        if key in found:
            first = document.lines[here]
            document.faults.append((line, dotted(here), f"stands on line {first} too"))
            continue
        document.lines[here] = line
        found[key] = _value(value_node, here, document)
    return found


def _scalar(node: Any, path: KeyPath, document: Document) -> Any:
    text: str = node.value
    match node.tag.rpartition(":")[2]:
        case "null":
            return None
        case "bool":
            return text.lower() in ("true", "yes", "on")
        case "int" | "float":
            return _number(text, node.start_mark.line + 1, path, document)
        case _:
            return text


def _number(text: str, line: int, path: KeyPath, document: Document) -> int | float | None:
    value = float(text) if _JSON_NUMBER.fullmatch(text) else float("inf")
    if abs(value) == float("inf"):
        what = (
            f"{text[:40]!r} is read as a number in more than one way: write it plainly or quote it"
        )
        document.faults.append((line, dotted(path), what))
        return None
    return int(text) if re.fullmatch(r"-?[0-9]+", text) else value


def dotted(path: KeyPath) -> str:
    """Write a path as ``parity.reference.url`` or ``alarms[2].on``."""
    parts = (f"[{key}]" if isinstance(key, int) else f".{_bare(key)}" for key in path)
    return "".join(parts).removeprefix(".")


def _bare(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]{1,40}", key) else repr(key[:40])
