"""The kinds of messages that templates treat each in their own way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from denv.records import Json

_QUESTION: Json = {"role": "user", "content": "What is the weather in Oslo?"}
_SYSTEM: Json = {"role": "system", "content": "You answer in one short sentence."}
_DEVELOPER: Json = {"role": "developer", "content": "You answer in one short sentence."}
_TURNS: list[Json] = [
    {"role": "user", "content": "Which city is the capital of Norway?"},
    {"role": "assistant", "content": "Oslo is the capital of Norway."},
    {"role": "user", "content": "  And of Sweden?\n"},
]
_TOOLS: list[Json] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Gives the weather of a city, °C or °F.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "unit": {"type": "string", "enum": ["C", "F"]},
                },
                "required": ["city"],
            },
        },
    }
]
_CALL: Json = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {
            "id": "call00001",  # nine letters and digits, as some templates insist
            "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Oslo", "unit": "C"}'},
        }
    ],
}
_RESULT: Json = {
    "role": "tool",
    "tool_call_id": "call00001",
    "name": "get_weather",
    "content": '{"temperature": -3.5, "sky": "clear"}',
}


@dataclass(frozen=True, slots=True)
class Group:
    """One kind of messages: the fields of a chat, and whether its head is a system message."""

    name: str
    fields: Mapping[str, Json]
    system: bool | None = False

    @property
    def option(self) -> str | None:
        """The field that not every API knows."""
        return "chat_template_kwargs" if "chat_template_kwargs" in self.fields else None


def _thinking(on: bool) -> dict[str, Json]:
    return {"messages": [_QUESTION], "chat_template_kwargs": {"enable_thinking": on}}


GROUPS: tuple[Group, ...] = (
    Group("plain", {"messages": [_QUESTION]}),
    Group("system", {"messages": [_SYSTEM, _QUESTION]}, system=True),
    Group("turns", {"messages": _TURNS}),
    Group("tools", {"messages": [_QUESTION], "tools": _TOOLS}),
    Group("tool result", {"messages": [_QUESTION, _CALL, _RESULT], "tools": _TOOLS}),
    Group("thinking on", _thinking(True)),
    Group("thinking off", _thinking(False)),
    Group("developer", {"messages": [_DEVELOPER, _QUESTION]}, system=None),
)
