"""Prompts with tools: one call, several, none, and going on after a tool's result."""

from __future__ import annotations

from collections.abc import Mapping

from denv.instruments.bank.prompt import Message, Prompt, say
from denv.records import Json

CATEGORY = "tools"
MAX_TOKENS = 64

Tool = Mapping[str, Json]


def _tool(name: str, description: str, required: list[str], **properties: Json) -> Tool:
    """Write one tool; a property is its schema, or a type and a description."""
    schemas = {
        key: value if isinstance(value, dict) else {"type": value[0], "description": value[1]}
        for key, value in properties.items()
    }
    parameters = {"type": "object", "properties": schemas, "required": required}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


_FORECAST = _tool(
    "get_forecast",
    "Forecast of the weather for a town",
    ["town"],
    town=("string", "Name of the town"),
    days=("integer", "How many days ahead, 1 to 7"),
    unit={"type": "string", "enum": ["celsius", "fahrenheit"]},
)
_CATALOGUE = _tool(
    "search_catalogue",
    "Search the catalogue of a library",
    ["query"],
    query=("string", "Words of the title, or the author"),
    available=("boolean", "Only what is on the shelf now"),
    limit=("integer", "Most results that are wanted"),
)
_EVENT = _tool(
    "create_event",
    "Put an event into the calendar",
    ["title", "start"],
    title=("string", "What it is"),
    start=("string", "ISO 8601, local time"),
    minutes=("integer", "How long it takes"),
    guests={"type": "array", "items": {"type": "string"}},
)
_CONVERT = _tool(
    "convert_units",
    "Convert an amount to another unit",
    ["amount", "source", "target"],
    amount=("number", "The amount"),
    source=("string", "Its unit"),
    target=("string", "The unit that is wanted"),
)
_HEATING = _tool(
    "set_heating",
    "Set the heating of a room",
    ["room", "celsius"],
    room={"type": "string", "enum": ["kitchen", "study", "bedroom", "hall"]},
    celsius=("number", "The temperature that is wanted"),
    until={"type": ["string", "null"], "description": "HH:MM, or null for ever"},
)
_ORDER = _tool(
    "place_order",
    "Order goods for a workshop",
    ["lines"],
    lines={
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "article": {"type": "string"},
                "count": {"type": "integer", "minimum": 1},
                "options": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["article", "count"],
        },
    },
    note=("string", "A remark for the supplier"),
)

_ASKED: Mapping[str, tuple[tuple[Tool, ...], str]] = {
    "one-call": ((_FORECAST,), "What will the weather be like in Lund for the next three days?"),
    "choose": (
        (_FORECAST, _CATALOGUE, _EVENT),
        "Is anything by Selma Lagerlöf on the shelf right now? Two results are enough.",
    ),
    "two-calls": ((_FORECAST,), "Compare tomorrow's weather in Bergen and in Split."),
    "no-call": ((_HEATING, _EVENT), "Why do rooms feel colder when the air in them is damp?"),
    "missing": ((_EVENT,), "Put a dentist's appointment into my calendar."),
    "event": (
        (_EVENT, _FORECAST),
        (
            "Book a rehearsal on 9 October 2031 at half past six in the evening, for an hour and a "
            "half, with ines@example.org and tom@example.org."
        ),
    ),
    "number": ((_CONVERT,), "How many metres are 26 miles and 385 yards? Use the tool."),
    "null": ((_HEATING,), "Keep the study at nineteen and a half degrees from now on."),
    "nested": (
        (_ORDER,),
        (
            "Order forty oak planks, planed, two metres long, and six tins of linseed oil. They "
            "should ring before they come."
        ),
    ),
    "unicode": ((_CATALOGUE,), "Suche nach »Das Schloß« und nach 三四郎, höchstens fünf Treffer."),
    "many-tools": (
        (_FORECAST, _CATALOGUE, _EVENT, _CONVERT, _HEATING, _ORDER),
        "It will freeze tonight. Set the hall to 12 degrees until 06:30.",
    ),
}


def prompts() -> tuple[Prompt, ...]:
    """Give the prompts of this category."""
    single = [_prompt(name, tools, say("user", text)) for name, (tools, text) in _ASKED.items()]
    return (*single, *_with_results())


def _with_results() -> tuple[Prompt, ...]:
    """Give prompts in which tools have answered already, rightly, with a fault, and twice."""
    wet = '{"town": "Cork", "days": [{"rain_mm": 14, "high": 11}, {"rain_mm": 0, "high": 13}]}'
    return (
        _prompt(
            "result",
            (_FORECAST,),
            say("user", "Which of the next two days is better for painting a fence in Cork?"),
            _call("call_1", "get_forecast", '{"town": "Cork", "days": 2}'),
            _result("call_1", wet),
        ),
        _prompt(
            "fault",
            (_CATALOGUE,),
            say("system", "You help the visitors of a library."),
            say("user", "Do you have a book on bell founding?"),
            _call("call_1", "search_catalogue", '{"query": "bell founding"}'),
            _result("call_1", '{"error": "the catalogue is down until 14:00"}'),
        ),
        _prompt(
            "chain",
            (_CONVERT, _ORDER),
            say("user", "I need 30 feet of rope. They sell it by the metre: order enough."),
            _call("call_1", "convert_units", '{"amount": 30, "source": "ft", "target": "m"}'),
            _result("call_1", '{"amount": 9.144, "unit": "m"}'),
        ),
        _prompt(
            "thanks",
            (_HEATING,),
            say("user", "Make the kitchen 21 degrees."),
            _call("call_1", "set_heating", '{"room": "kitchen", "celsius": 21}'),
            _result("call_1", '{"done": true, "now": 17.5}'),
            say("assistant", "The kitchen is being heated to 21 °C; it has 17.5 °C now."),
            say("user", "Thank you. How long will that take, roughly, and what does it hang on?"),
        ),
    )


def _call(call_id: str, name: str, arguments: str) -> Message:
    function = {"name": name, "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _result(call_id: str, content: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _prompt(name: str, tools: tuple[Tool, ...], *messages: Message) -> Prompt:
    return Prompt(f"{CATEGORY}-{name}", CATEGORY, messages, tools, MAX_TOKENS)
