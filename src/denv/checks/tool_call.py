"""A tool call with a name and arguments, decided by the calls alone.

The finish reason, the calls' ids and calls that stand in the text as text decide nothing; the
last names the cause. A fault is the parser's where the call would have passed but for how it was
written: a name with a prefix, arguments encoded twice, ``"5"`` for ``5``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import regex

from denv.checks.tool_schema import tool_names
from denv.checks.values import Difference, Fault, differences, equal, excerpt
from denv.records import Call, Cause, Json, Observation, Score, ToolCall
from denv.strictjson import StrictJsonError, loads

MAX_DIFFERENCES = 64
"""More are not counted to tell which of two wrong calls is the closer one."""

_COUNTER = regex.compile(r":[0-9]+\Z")
"""What some templates write behind a name, as in ``functions.get_weather:0``."""

_PYTHON_WORDS = {"True": True, "False": False, "None": None}


@dataclass(frozen=True, slots=True)
class _Miss:
    """How one call misses: the lower the rank, the closer it came."""

    rank: tuple[int, int]
    fault: str
    reason: str
    cause: Cause = Cause.UNKNOWN
    path: str | None = None
    parse_error: str | None = None

    def score(self, index: int, warnings: tuple[str, ...]) -> Score:
        detail: dict[str, Json] = {"call": index, "fault": self.fault}
        if self.path is not None:
            detail["path"] = self.path
        if self.parse_error is not None:
            detail["parse_error"] = self.parse_error
        return Score(False, self.reason, self.cause, warnings, detail)


def score_tool_call(
    check: ToolCall, answer: Observation, *, tools: Sequence[Mapping[str, Json]] = ()
) -> Score:
    """Score an answer that must hold one call as expected; the closest call gives the reason."""
    if not answer.calls:
        return _no_call(answer)
    names = tool_names(tools)
    misses = []
    for index, call in enumerate(answer.calls):
        miss = _miss(check, call, names)
        if miss is None:
            return Score(True, warnings=_phantom(answer, index), detail={"call": index})
        misses.append(miss)
    closest = min(range(len(misses)), key=lambda index: misses[index].rank)
    leaked = answer.calls_in_text
    warnings = (f"another call stands as text in content ({leaked})",) if leaked else ()
    return misses[closest].score(closest, warnings)


def _no_call(answer: Observation) -> Score:
    if answer.calls_in_text is not None:
        where, form = "as text in content", answer.calls_in_text
    elif answer.calls_in_reasoning is not None:
        where, form = "only in reasoning", answer.calls_in_reasoning
    else:
        instead = "text instead" if answer.text else _instead_of_text(answer)
        return Score(False, f"no call: {instead}", Cause.UNKNOWN, detail={"fault": "no-call"})
    reason = f"call found {where} ({form})"
    return Score(False, reason, Cause.PARSER, detail={"fault": "leaked-call"})


def _instead_of_text(answer: Observation) -> str:
    if answer.refusal:
        return "a refusal instead"
    return "reasoning only" if answer.reasoning else "no text either"


def _phantom(answer: Observation, matched: int) -> tuple[str, ...]:
    """Warn where a reasoning parser made a call out of a draft, ahead of the real one."""
    if not matched or answer.calls_in_reasoning is None:
        return ()
    first, thoughts = answer.calls[0], _squeezed(answer.reasoning or "")
    drafted = (first.name or "") in thoughts and _squeezed(first.raw) in thoughts
    return ("first call repeats a draft from the reasoning",) if drafted else ()


def _squeezed(text: str) -> str:
    return "".join(text.split())


# ---------------------------------------------------------------- one call


def _miss(check: ToolCall, call: Call, names: frozenset[str]) -> _Miss | None:
    if call.name == check.tool:
        return _arguments_miss(check, call)
    shown = excerpt(call.name)
    if call.name not in names and _respelt(call.name, check.tool):
        met = _arguments_miss(check, call) is None
        reason = f"the name is written {shown} instead of {excerpt(check.tool)}"
        rank = (0, 0) if met else (3, 0)
        return _Miss(rank, "misspelt-name", reason, Cause.PARSER)
    if not call.name:
        return _Miss((5, 0), "no-name", "a call without a name", Cause.PARSER)
    if names and call.name not in names:
        return _Miss((5, 0), "unknown-name", f"unknown tool name {shown}")
    reason = f"called {shown} instead of {excerpt(check.tool)}"
    return _Miss((4, 0), "other-tool", reason)


def _respelt(name: str | None, wanted: str) -> bool:
    """Whether a name is the wanted one but for case, a namespace, or what a parser left on it."""
    if not name:
        return False
    bare = name.partition("<|")[0].strip().strip("\"'`").casefold()
    bare = _COUNTER.sub("", bare)
    target = wanted.casefold()
    return bare == target or bare.endswith((f".{target}", f":{target}", f"/{target}"))


def _arguments_miss(check: ToolCall, call: Call) -> _Miss | None:
    if call.unwrapped is not None:
        return _double_encoded(check, call.unwrapped)
    if call.arguments is None:
        error = call.error or "no arguments"
        reason = f"invalid arguments: {error}"
        return _Miss((2, 0), "invalid-json", reason, Cause.PARSER, parse_error=error)
    found = list(islice(differences(check.arguments, call.arguments), MAX_DIFFERENCES))
    plain = [difference for difference in found if not explained_by_encoding(difference)]
    if plain:
        return _Miss((1, len(found)), _FAULTS[plain[0].fault], str(plain[0]), path=plain[0].path)
    if not found:
        return None
    reason = f"{found[0]}, as if encoded once too often or too seldom"
    return _Miss((0, len(found)), "encoded-value", reason, Cause.PARSER, found[0].path)


def _double_encoded(check: ToolCall, unwrapped: Mapping[str, Any]) -> _Miss:
    difference = next(differences(check.arguments, unwrapped), None)
    rank, rest = (2, 0), f"and after one unwrap {difference}"
    if difference is None:
        rank, rest = (0, 0), "the arguments match after one unwrap"
    return _Miss(rank, "double-encoded", f"double-encoded arguments: {rest}", Cause.PARSER)


_FAULTS = {
    Fault.MISSING: "missing-argument",
    Fault.EXTRA: "wrong-value",
    Fault.LENGTH: "wrong-value",
    Fault.VALUE: "wrong-value",
    Fault.TYPE: "wrong-type",
}


def explained_by_encoding(difference: Difference) -> bool:
    """Whether one side is the other's value written as a string, or escaped twice."""
    want, have = difference.expected, difference.got
    if difference.fault not in {Fault.TYPE, Fault.VALUE}:
        return False
    if isinstance(have, str) and (_holds(have, want) or _holds(f'"{have}"', want)):
        return True
    return isinstance(want, str) and not isinstance(have, str) and _holds(want, have)


def _holds(text: str, value: Any) -> bool:
    if text in _PYTHON_WORDS:
        return equal(_PYTHON_WORDS[text], value)
    try:
        return equal(loads(text, exact=True), value)
    except StrictJsonError:
        return False
