"""One line of a suite ⇄ one Case."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from denv import strictjson
from denv.records import Case, Check, Contains, Equals, LogprobsClose, Regex, ToolCall
from denv.suite.expect import parse_expect
from denv.suite.request import NOT_OF_A_CASE, REQUEST_FIELDS, check_request
from denv.suite.words import Faults, kind_of, label, suggestion

MAX_NESTING = 200
"""Deeper values could be parsed here and overflow the stack where they are written again."""

MAX_ID = 256

_FIELDS = frozenset(("id", *REQUEST_FIELDS, "tags", "expect"))
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_line(raw: bytes, *, line: int, index: int) -> tuple[str | None, Case | Faults]:
    """Read one line: its id where it has a usable one, and the case or what is wrong with it."""
    faults: Faults = []
    text = _decoded(raw, faults)
    value = None if text is None else _parsed(text, faults)
    if text is None or value is None:
        return None, faults
    _check_names(value, faults)
    case_id = _read_id(value, faults)
    fields = {key: item for key, item in value.items() if key in REQUEST_FIELDS}
    if "messages" not in fields:
        faults.append(("messages", "missing"))
    check_request(fields, faults)
    tags = _read_tags(value, faults)
    check = None
    if "expect" in value:
        check = parse_expect(value["expect"], fields, faults)
    else:
        faults.append(("expect", "missing"))
    if faults or case_id is None or check is None:
        return case_id, faults
    if isinstance(check, ToolCall) and _holds_float(check.arguments):
        exact = strictjson.loads(text, exact=True)
        check = ToolCall(check.tool, exact["expect"]["tool-call"]["arguments"])
    return case_id, Case(case_id, index, line, fields, check, tags)


def _decoded(raw: bytes, faults: Faults) -> str | None:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"not UTF-8: byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the line"
        faults.append(("line", what))
        return None
    if text[0] == "\ufeff":
        faults.append(("line", "a byte order mark, which may stand at the file's start alone"))
        return None
    if "\x00" in text:
        faults.append(("line", f"a NUL character at column {text.index(chr(0)) + 1}"))
        return None
    return text


def _parsed(text: str, faults: Faults) -> dict[str, Any] | None:
    try:
        value = strictjson.loads(text)
    except strictjson.StrictJsonError as error:
        faults.append(("line", f"not JSON as the standard has it: {error}"))
        return None
    if not isinstance(value, dict):
        faults.append(("line", f"{kind_of(value)}, must be one JSON object"))
        return None
    if text.count("[") + text.count("{") > MAX_NESTING and _nesting(value) > MAX_NESTING:
        faults.append(("line", f"nested too deeply: more than {MAX_NESTING} levels"))
        return None
    if _ESCAPED_SURROGATE.search(text):
        where = _lone_surrogate(value)
        if where is not None:
            faults.append((where, "a lone surrogate, which is no character"))
            return None
    return value


def _check_names(value: dict[str, Any], faults: Faults) -> None:
    if value.keys() <= _FIELDS:
        return
    for name in value:
        if name in NOT_OF_A_CASE:
            faults.append((name, f"not a field of a case: {NOT_OF_A_CASE[name]}"))
        elif name not in _FIELDS:
            faults.append((label(name), f"unknown field{suggestion(name, _FIELDS)}"))


def _read_id(value: dict[str, Any], faults: Faults) -> str | None:
    found = value.get("id")
    if isinstance(found, str) and 0 < len(found) <= MAX_ID and not _CONTROL.search(found):
        return found
    if "id" not in value:
        what = "missing"
    elif not isinstance(found, str):
        what = f"{kind_of(found)}, must be a string"
    elif not found:
        what = "empty"
    elif len(found) > MAX_ID:
        what = f"{len(found)} characters, at most {MAX_ID} are taken"
    else:
        what = "holds a control character"
    faults.append(("id", what))
    return None


def _read_tags(value: dict[str, Any], faults: Faults) -> tuple[str, ...]:
    tags = value.get("tags", [])
    if not isinstance(tags, list):
        faults.append(("tags", f"{kind_of(tags)}, must be a list of strings"))
        return ()
    for at, tag in enumerate(tags):
        if not isinstance(tag, str):
            faults.append((f"tags[{at}]", f"{kind_of(tag)}, must be a string"))
    return tuple(tags)


def _children(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(f".{label(key)}", item) for key, item in value.items()]
    if isinstance(value, list):
        return [(f"[{at}]", item) for at, item in enumerate(value)]
    return []


def _nesting(value: Any) -> int:
    deepest, pending = 0, [(1, value)]
    while pending:
        level, item = pending.pop()
        deepest = max(deepest, level)
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        pending.extend((level + 1, one) for one in inner if isinstance(one, dict | list))
    return deepest


def _lone_surrogate(value: Any) -> str | None:
    """Find the first text (or key) with half a pair, and give its path."""
    pending = [("", value)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, str) and _SURROGATE.search(item):
            return path.removeprefix(".")
        if isinstance(item, dict) and any(map(_SURROGATE.search, item)):
            return path.removeprefix(".") or "line"
        pending.extend((path + step, inner) for step, inner in reversed(_children(item)))
    return None


def _holds_float(value: Any) -> bool:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, float):
            return True
        pending.extend(inner for _, inner in _children(item))
    return False


def dump_case(case: Case) -> str:
    """Write a case as a suite's line, without the newline; reading it gives the case again."""
    parts: dict[str, Any] = {"id": case.id, **case.fields}
    if case.tags:
        parts["tags"] = list(case.tags)
    return _encoded({**parts, "expect": {case.check.name: _argument(case.check)}})


def _argument(check: Check) -> Any:
    match check:
        case Equals(text) | Contains(text):
            return text
        case Regex(pattern):
            return pattern
        case ToolCall(tool, arguments):
            return {"name": tool, "arguments": arguments}
        case LogprobsClose(tolerance):
            return {"tolerance": tolerance}


def _encoded(value: Any) -> str:
    """Encode with every digit of a Decimal, which the standard encoder cannot write."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        pairs = (f"{_encoded(key)}: {_encoded(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_encoded, value)) + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
