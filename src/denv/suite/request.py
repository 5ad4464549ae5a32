"""The rules for a case's request fields: messages, tools and the rest.

Written by hand: pydantic models of the shapes alone took 6 µs on a simple line, against 8 µs for
all rules here and the building of the Case, so there is no time to win; and the rules between
fields and every message would have had to be written on top of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from denv.suite.words import Faults, kind_of, shown, suggestion

ROLES = ("developer", "system", "user", "assistant", "tool", "function")
MAX_TOKENS = 10_000_000
MAX_STOPS = 16
STOPS_OF_THE_API = 4
CHOICES = ("none", "auto", "required")

_INSTEAD_OF_CONTENT = ("tool_calls", "function_call", "refusal", "audio", "reasoning_content")

_EXTRA = "left unset, as customers leave it; for one side alone use --stage-extra"
NOT_OF_A_CASE: Mapping[str, str] = {
    "temperature": "set by the run (0)",
    "seed": "set by the run (0)",
    "stream": "set by the run (--stream)",
    "stream_options": "set by the run (--stream)",
    "model": "set by the run (--stage-model, --reference-model)",
    "n": "a case has one answer; to ask again use --repeats",
    "logprobs": "set by the run, for the cases that need them",
    "top_logprobs": "set by the run, for the cases that need them",
    "max_completion_tokens": 'write "max_tokens"; the run renames it where a server asks for that',
    "functions": 'no longer of the API; write "tools"',
    "function_call": 'no longer of the API; write "tool_choice"',
    "prompt": 'parity asks Chat Completions; write "messages"',
    **dict.fromkeys(
        (
            *("top_p", "top_k", "min_p", "typical_p", "logit_bias", "best_of"),
            *("frequency_penalty", "presence_penalty", "repetition_penalty"),
            *("reasoning_effort", "chat_template_kwargs", "enable_thinking", "thinking"),
            *("parallel_tool_calls", "service_tier", "user", "store", "metadata", "extra_body"),
        ),
        _EXTRA,
    ),
}
"""Fields of the API that a case cannot carry, each with the reason."""


def check_request(fields: Mapping[str, Any], faults: Faults) -> None:
    """Collect what is wrong with a case's request fields, each on its own and together."""
    for name, value in fields.items():
        if value is None:
            faults.append((name, "null; leave the field out instead"))
        else:
            REQUEST_FIELDS[name](value, faults)
    if fields.get("tool_choice") is not None:
        _check_choice_has_its_tool(fields, faults)


def tool_names(fields: Mapping[str, Any]) -> list[str]:
    """Give the names of the well-formed tools of a case."""
    tools = fields.get("tools")
    functions = (
        tool.get("function")
        for tool in (tools if isinstance(tools, list) else ())
        if isinstance(tool, dict)
    )
    names = (one.get("name") for one in functions if isinstance(one, dict))
    return [name for name in names if isinstance(name, str)]


def _check_messages(value: Any, faults: Faults) -> None:
    if not isinstance(value, list) or not value:
        what = "empty" if value == [] else kind_of(value)
        faults.append(("messages", f"{what}, must be a non-empty list of messages"))
        return
    for at, message in enumerate(value):
        if not isinstance(message, dict):
            faults.append((f"messages[{at}]", f"{kind_of(message)}, must be an object"))
            continue
        role = message.get("role")
        if role not in ROLES:
            faults.append((f"messages[{at}].role", _role_fault(message)))
        content = message.get("content")
        if not isinstance(content, str):
            _check_content(message, f"messages[{at}]", faults)
        if "tool_calls" in message:
            _check_history_calls(message["tool_calls"], f"messages[{at}].tool_calls", faults)


def _role_fault(message: Mapping[str, Any]) -> str:
    if "role" not in message:
        return "missing"
    role = message["role"]
    if not isinstance(role, str):
        return f"{kind_of(role)}, must be a string"
    return f"no role {shown(role)}{suggestion(role, ROLES)} (roles: {', '.join(ROLES)})"


def _check_content(message: Mapping[str, Any], where: str, faults: Faults) -> None:
    content = message.get("content")
    if content is None:
        if message.get("role") == "assistant" and any(map(message.get, _INSTEAD_OF_CONTENT)):
            return
        what = "null" if "content" in message else "missing"
        why = "only an assistant's message with tool_calls may be without"
        faults.append((f"{where}.content", f"{what}; {why}"))
    elif not isinstance(content, list) or not content:
        what = "an empty list" if content == [] else kind_of(content)
        faults.append((f"{where}.content", f"{what}, must be a string or a list of parts"))
    else:
        for at, part in enumerate(content):
            if not isinstance(part, dict):
                what = f"{kind_of(part)}, must be an object with a type"
                faults.append((f"{where}.content[{at}]", what))
            elif not isinstance(part.get("type"), str):
                faults.append((f"{where}.content[{at}].type", "must be a string"))


def _check_history_calls(value: Any, where: str, faults: Faults) -> None:
    if not isinstance(value, list):
        faults.append((where, f"{kind_of(value)}, must be a list of objects"))
        return
    for at, call in enumerate(value):
        if not isinstance(call, dict):
            faults.append((f"{where}[{at}]", f"{kind_of(call)}, must be an object"))


def _check_tools(value: Any, faults: Faults) -> None:
    if not isinstance(value, list):
        faults.append(("tools", f"{kind_of(value)}, must be a list of tools"))
        return
    first: dict[str, int] = {}
    for at, tool in enumerate(value):
        name = _check_tool(tool, f"tools[{at}]", faults)
        if name is not None and first.setdefault(name, at) != at:
            what = f"{shown(name)} is the name of tools[{first[name]}] too"
            faults.append((f"tools[{at}].function.name", what))


def _check_tool(tool: Any, where: str, faults: Faults) -> str | None:
    """Check one tool and give its name, None where it has no usable one."""
    if not isinstance(tool, dict):
        faults.append((where, f"{kind_of(tool)}, must be an object"))
        return None
    if tool.get("type") != "function":
        faults.append((f"{where}.type", 'must be "function", the only type of tool that is run'))
        return None
    function = tool.get("function")
    if not isinstance(function, dict):
        faults.append((f"{where}.function", "must be an object with a name"))
        return None
    if not isinstance(function.get("parameters", {}), dict):
        what = f"{kind_of(function['parameters'])}, must be an object (a JSON Schema)"
        faults.append((f"{where}.function.parameters", what))
    name = function.get("name")
    if isinstance(name, str) and name:
        return name
    faults.append((f"{where}.function.name", "must be a non-empty string"))
    return None


def _check_tool_choice(value: Any, faults: Faults) -> None:
    if isinstance(value, str):
        if value not in CHOICES:
            near = suggestion(value, CHOICES)
            what = f"no choice {shown(value)}{near} (choices: {', '.join(CHOICES)}, or an object)"
            faults.append(("tool_choice", what))
    elif not isinstance(value, dict):
        faults.append(("tool_choice", f"{kind_of(value)}, must be a string or an object"))
    elif value.get("type") != "function":
        faults.append(("tool_choice.type", 'must be "function"'))
    elif chosen_tool(value) is None:
        faults.append(("tool_choice.function.name", "must be a tool's name"))


def chosen_tool(choice: Any) -> str | None:
    """Give the name of the one tool that a ``tool_choice`` object demands."""
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) and name else None


def _check_choice_has_its_tool(fields: Mapping[str, Any], faults: Faults) -> None:
    if not fields.get("tools"):
        faults.append(("tool_choice", "stands without tools"))
        return
    names, chosen = tool_names(fields), chosen_tool(fields["tool_choice"])
    if chosen is not None and chosen not in names:
        what = f"no tool {shown(chosen)} among the case's tools{suggestion(chosen, names)}"
        faults.append(("tool_choice.function.name", what))


def _check_response_format(value: Any, faults: Faults) -> None:
    if not isinstance(value, dict):
        faults.append(("response_format", f"{kind_of(value)}, must be an object with a type"))
    elif not isinstance(value.get("type"), str) or not value["type"]:
        faults.append(("response_format.type", "must be a non-empty string"))


def _check_max_tokens(value: Any, faults: Faults) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        what = (
            "a number with a fraction or an exponent"
            if isinstance(value, float)
            else kind_of(value)
        )
        faults.append(("max_tokens", f"{what}, must be a whole number"))
    elif not 1 <= value <= MAX_TOKENS:
        faults.append(("max_tokens", f"must be between 1 and {MAX_TOKENS}"))


def _check_stop(value: Any, faults: Faults) -> None:
    if isinstance(value, list):
        if not 1 <= len(value) <= MAX_STOPS:
            limits = f"must be 1 to {MAX_STOPS} (the API itself takes {STOPS_OF_THE_API})"
            faults.append(("stop", f"{len(value)} strings, {limits}"))
        for at, text in enumerate(value):
            if not isinstance(text, str) or not text:
                faults.append((f"stop[{at}]", "must be a non-empty string"))
    elif not isinstance(value, str) or not value:
        what = "an empty string" if value == "" else kind_of(value)
        faults.append(("stop", f"{what}, must be a non-empty string or a list of such"))


REQUEST_FIELDS: Mapping[str, Callable[[Any, Faults], None]] = {
    "messages": _check_messages,
    "tools": _check_tools,
    "tool_choice": _check_tool_choice,
    "response_format": _check_response_format,
    "max_tokens": _check_max_tokens,
    "stop": _check_stop,
}
"""The request fields that a case may carry, each with its rule."""
