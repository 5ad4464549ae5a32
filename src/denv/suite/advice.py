"""What a valid suite could do better; advice for ``denv parity check``, never an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from denv.records import Case, Contains, Equals, LogprobsClose, Regex, ToolCall
from denv.suite.loading import Suite
from denv.suite.request import STOPS_OF_THE_API
from denv.suite.words import shown

FEW_CASES = 30
LONG_TEXT = 200
SHORT_TEXT = 1
MEASURABLE_TOKENS = 8


def _forced_call(case: Case) -> bool:
    choice = case.fields.get("tool_choice")
    return isinstance(case.check, ToolCall) and (choice == "required" or isinstance(choice, dict))


def _long_equals(case: Case) -> bool:
    return isinstance(case.check, Equals) and len(case.check.text) > LONG_TEXT


def _padded_equals(case: Case) -> bool:
    return isinstance(case.check, Equals) and case.check.text != case.check.text.strip()


def _short_contains(case: Case) -> bool:
    return isinstance(case.check, Contains) and len(case.check.text) <= SHORT_TEXT


def _dotted_regex(case: Case) -> bool:
    if not isinstance(case.check, Regex):
        return False
    pattern = case.check.pattern
    return pattern.startswith((".*", "^.*")) or pattern.endswith((".*", ".*$"))


def _short_logprobs(case: Case) -> bool:
    limit = case.fields.get("max_tokens", MEASURABLE_TOKENS)
    return isinstance(case.check, LogprobsClose) and bool(limit < MEASURABLE_TOKENS)


def _prefilled(case: Case) -> bool:
    return bool(case.fields["messages"][-1]["role"] == "assistant")


def _many_stops(case: Case) -> bool:
    stop = case.fields.get("stop")
    return isinstance(stop, list) and len(stop) > STOPS_OF_THE_API


_ADVICE: Mapping[Callable[[Case], bool], str] = {
    _forced_call: "force the call by tool_choice, so that they test the parser "
    "but not whether the model calls",
    _long_equals: f"want more than {LONG_TEXT} characters to be equal: without deterministic "
    "sampling such texts part by chance; contains or regex on what matters is steadier",
    _padded_equals: "want a text that begins or ends with white space, and nothing is stripped",
    _short_contains: "look for a single character, which is often there by chance",
    _dotted_regex: "begin or end their regex with .*, which a search does not need "
    "and which costs time on long answers",
    _short_logprobs: f"compare logprobs with max_tokens below {MEASURABLE_TOKENS}: "
    "unless the answer ends there they are unmeasured",
    _prefilled: "end in an assistant's message, which servers continue in different ways",
    _many_stops: f"give more than {STOPS_OF_THE_API} stops, the API's limit",
}


@dataclass(slots=True)
class _Found:
    count: int = 0
    first: str = ""


def advise(suite: Suite) -> list[str]:
    """Read a suite's cases once, and give a sentence for each habit that weakens it."""
    found = {applies: _Found() for applies in _ADVICE}
    for case in suite:
        for applies, seen in found.items():
            if applies(case):
                seen.first = seen.first or case.id
                seen.count += 1
    few = [
        f"{kind}: {count} cases, so one failure moves its pass rate by {100 / count:.1f} points; "
        f"from {FEW_CASES} on a rate begins to say something"
        for kind, count in suite.kinds.items()
        if count < FEW_CASES
    ]
    return few + [
        f"{seen.count} cases {_ADVICE[applies]} (first: {shown(seen.first)})"
        for applies, seen in found.items()
        if seen.count
    ]
