"""Samples of the K2 and Kimi Vendor Verifier: requests, or the results of asking them.

A bare request expects nothing. What is expected stands in a result's ``finish_reason`` with the
calls of its response, or in the label ``should_call_tool`` that derived sets carry. Only that a
tool is called is carried over, and which; arguments are the model's own choice there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from denv.suite.imports.gathering import Gathering, Imported, UncarriedError
from denv.suite.imports.samples import samples_of
from denv.suite.request import tool_names

_OF_A_RESULT = frozenset({"request", "response", "finish_reason"})
_LABEL = "should_call_tool"
_INPUT_ROLE = "_input"
"""A role of the set's own, which its tool sends as ``system``."""

NO_CALL = "expects that no tool is called, which no check says"


def read_kvv(text: str, *, source: str) -> Imported:
    """Turn samples or results into cases that want a tool to be called."""
    gathering = Gathering(source)
    for where, sample in samples_of(text, gathering):
        try:
            request, tool = _read(sample)
        except UncarriedError as error:
            gathering.leave(where, str(error))
            continue
        fields = gathering.request_fields(request)
        fields["messages"] = _messages(fields.get("messages"))
        expect = {"tool-call": {"name": tool, "arguments": {}}}
        gathering.add(where, {**fields, "tags": ["tools"]}, expect=expect)
    return gathering.imported()


def _read(sample: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Give the request, and the tool that is to be called."""
    request = sample.get("request")
    if sample.keys() >= _OF_A_RESULT and isinstance(request, dict):
        return request, _called(sample)
    if _LABEL in sample:
        return {name: sample[name] for name in sample if name != _LABEL}, _only_tool(sample)
    raise UncarriedError("says nothing of what is expected")


def _called(result: Mapping[str, Any]) -> str:
    """Give the first tool that the recorded answer calls."""
    if result.get("status", "success") != "success":
        raise UncarriedError("the recorded request failed, so it shows nothing of what is expected")
    if result["finish_reason"] != "tool_calls":
        raise UncarriedError(NO_CALL)
    if result.get("tool_calls_valid") is False:
        raise UncarriedError("the recorded call breaks its tool's schema, so it is no example")
    names = [_name_of(call) for call in _calls(result["response"])]
    if not names or names[0] is None:
        raise UncarriedError("the recorded answer holds no call, although it ended with one")
    return names[0]


def _calls(response: Any) -> list[Any]:
    choices = response.get("choices") if isinstance(response, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    return calls if isinstance(calls, list) else []


def _name_of(call: Any) -> str | None:
    function = call.get("function") if isinstance(call, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def _only_tool(sample: Mapping[str, Any]) -> str:
    """Give the one tool that a sample can mean by saying that one is to be called."""
    if sample[_LABEL] is not True:
        raise UncarriedError(NO_CALL)
    names = tool_names(sample)
    if len(names) != 1:
        raise UncarriedError(f"expects a call, but not of which of its {len(names)} tools")
    return names[0]


def _messages(messages: Any) -> Any:
    if not isinstance(messages, list):
        return messages
    return [
        {**each, "role": "system"}
        if isinstance(each, dict) and each.get("role") == _INPUT_ROLE
        else each
        for each in messages
    ]
