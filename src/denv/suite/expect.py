"""The rules for ``expect``: exactly one check, and what each of them takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import regex

from denv.records import Check, Contains, Equals, LogprobsClose, Regex, ToolCall
from denv.suite.request import chosen_tool, tool_names
from denv.suite.unrolling import MOST_UNROLLED, unrolled
from denv.suite.words import Faults, kind_of, plain_number, shown, suggestion

MAX_PATTERN = 65_536
"""Compiling takes time that grows faster than the pattern: a million characters take seconds."""


def parse_expect(value: Any, fields: Mapping[str, Any], faults: Faults) -> Check | None:
    """Read a line's ``expect``; what is wrong goes to ``faults`` and None comes back."""
    if not isinstance(value, dict):
        faults.append(("expect", f"{kind_of(value)}, must be an object with one check"))
        return None
    if len(value) != 1:
        found = ", ".join(map(shown, value)) or "none"
        faults.append(("expect", f"must hold exactly one check, found {found}"))
        return None
    ((name, argument),) = value.items()
    if name not in CHECKS:
        near = suggestion(name, CHECKS)
        faults.append(("expect", f"no check {shown(name)}{near} (checks: {', '.join(CHECKS)})"))
        return None
    return CHECKS[name](argument, fields, faults)


def _text(value: Any, name: str, faults: Faults) -> str | None:
    if isinstance(value, str):
        return value
    hint = f': write "{value}"' if plain_number(value) and len(str(value)) < 20 else ""
    faults.append((f"expect.{name}", f"{kind_of(value)}, must be a string{hint}"))
    return None


def _equals(value: Any, _fields: Mapping[str, Any], faults: Faults) -> Check | None:
    text = _text(value, "equals", faults)
    return None if text is None else Equals(text)


def _contains(value: Any, _fields: Mapping[str, Any], faults: Faults) -> Check | None:
    text = _text(value, "contains", faults)
    if text == "":
        faults.append(("expect.contains", "empty, which every text contains"))
    return Contains(text) if text else None


def _regex(value: Any, _fields: Mapping[str, Any], faults: Faults) -> Check | None:
    pattern = _text(value, "regex", faults)
    if pattern is None:
        return None
    what = pattern_fault(pattern)
    if what is None:
        return Regex(pattern)
    faults.append(("expect.regex", what))
    return None


def pattern_fault(pattern: str) -> str | None:
    """Say why a pattern cannot be used, None where it can."""
    if not pattern:
        return "empty, which every text matches"
    if len(pattern) > MAX_PATTERN:
        return f"{len(pattern)} characters, at most {MAX_PATTERN} are taken"
    try:
        if unrolled(pattern) > MOST_UNROLLED:
            return f"its repeats make more than {MOST_UNROLLED} steps of it: lower their counts"
        regex.compile(pattern)
    except RecursionError:
        return "does not compile: groups nested too deeply"
    except (regex.error, ValueError) as error:
        return f"does not compile: {error}"
    return None


def _tool_call(value: Any, fields: Mapping[str, Any], faults: Faults) -> Check | None:
    where = "expect.tool-call"
    if not isinstance(value, dict):
        faults.append((where, f"{kind_of(value)}, must be an object with name and arguments"))
        return None
    before = len(faults)
    _only(value, ("name", "arguments"), where, faults)
    name, arguments = value.get("name"), value.get("arguments", {})
    if not isinstance(name, str) or not name:
        what = "must be a non-empty string" if "name" in value else "missing"
        faults.append((f"{where}.name", what))
    else:
        _check_can_be_called(name, fields, faults)
    if not isinstance(arguments, dict):
        hint = ", not JSON inside a string" if isinstance(arguments, str) else ""
        what = f"{kind_of(arguments)}, must be an object{hint}"
        faults.append((f"{where}.arguments", what))
    return ToolCall(str(name), arguments) if len(faults) == before else None


def _check_can_be_called(name: str, fields: Mapping[str, Any], faults: Faults) -> None:
    """Refuse a call that no answer to this request could hold."""
    choice, names, where = fields.get("tool_choice"), tool_names(fields), "expect.tool-call.name"
    if not fields.get("tools"):
        faults.append((where, f"the case gives no tools, so {shown(name)} cannot be called"))
    elif name not in names:
        what = f"no tool {shown(name)} among the case's tools{suggestion(name, names)}"
        faults.append((where, what))
    elif choice == "none":
        faults.append((where, 'tool_choice is "none", so no tool can be called'))
    elif chosen_tool(choice) not in (None, name):
        faults.append((where, f"tool_choice demands another tool than {shown(name)}"))


def _logprobs_close(value: Any, _fields: Mapping[str, Any], faults: Faults) -> Check | None:
    where = "expect.logprobs-close"
    if not isinstance(value, dict):
        hint = f': write {{"tolerance": {value}}}' if isinstance(value, float) else ""
        faults.append((where, f"{kind_of(value)}, must be an object with a tolerance{hint}"))
        return None
    before = len(faults)
    _only(value, ("tolerance",), where, faults)
    tolerance = value.get("tolerance")
    if not isinstance(tolerance, int | float) or isinstance(tolerance, bool):
        what = f"{kind_of(tolerance)}, must be a number" if "tolerance" in value else "missing"
        faults.append((f"{where}.tolerance", what))
        return None
    try:
        nats = float(tolerance)
    except OverflowError:
        nats = float("inf")
    if nats < 0 or not isfinite(nats):
        faults.append((f"{where}.tolerance", "must be a finite number of nats, 0 or more"))
    return LogprobsClose(nats) if len(faults) == before else None


def _only(value: Mapping[str, Any], known: tuple[str, ...], where: str, faults: Faults) -> None:
    for key in value:
        if key not in known:
            faults.append((where, f"unknown field {shown(key)}{suggestion(key, known)}"))


CHECKS: Mapping[str, Callable[[Any, Mapping[str, Any], Faults], Check | None]] = {
    Equals.name: _equals,
    Contains.name: _contains,
    Regex.name: _regex,
    ToolCall.name: _tool_call,
    LogprobsClose.name: _logprobs_close,
}
"""The checks that ``expect`` may name, each with how it is read."""
