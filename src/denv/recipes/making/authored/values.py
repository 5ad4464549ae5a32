"""Calls in one turn: values that parsers change, lose or retype."""

from __future__ import annotations

from denv.recipes.making.authored.rows import Calls
from denv.recipes.making.drafts import Json, calling, system, user
from denv.recipes.making.schema import flag, many, number, one_of, text, tool, whole

_call = Calls("tools-single")

_WEATHER = tool("get_weather", "Current weather of a city", city=text())
_TIME = {"type": "function", "function": {"name": "get_time", "description": "The time of day"}}
_NOTE = tool("add_note", "Write down a note, word for word", note=text())
_DELETE = tool("delete_all", "Delete all notes", confirm=flag())


def _optional(name: str, about: str, needed: tuple[str, ...], **parameters: Json) -> Json:
    """Give a tool of whose parameters only some are needed."""
    schema = {"type": "object", "properties": parameters, "required": list(needed)}
    return {
        "type": "function",
        "function": {"name": name, "description": about, "parameters": schema},
    }


CASES = (
    _call(
        "tool-null-argument",
        "Rent the flat in Mill Lane from 2027-04-01 without an end date: give null for the end.",
        [
            tool(
                "rent_flat",
                "Rent a flat",
                street=text(),
                start=text("ISO 8601"),
                end={"type": ["string", "null"], "description": "ISO 8601, or null"},
            )
        ],
        ("rent_flat", {"street": "Mill Lane", "start": "2027-04-01", "end": None}),
        why="The schema allows null, and the request wants it.",
        wrong=(
            calling("rent_flat", {"street": "Mill Lane", "start": "2027-04-01", "end": "null"}),
            "null becomes a string",
        ),
    ),
    _call(
        "tool-zero",
        "Set the reserve of warehouse Delta to zero.",
        [tool("set_reserve", "Set a warehouse's reserve", warehouse=text(), pieces=whole())],
        ("set_reserve", {"warehouse": "Delta", "pieces": 0}),
        why="Zero is 0, and not left out as empty.",
        wrong=(
            calling("set_reserve", {"warehouse": "Delta"}),
            "0 is dropped as if it were nothing",
        ),
    ),
    _call(
        "tool-negative",
        "Shift the clock by minus 15 seconds.",
        [tool("shift_clock", "Shift the clock; backwards is negative", seconds=whole())],
        ("shift_clock", {"seconds": -15}),
        why="Minus 15 stands in the request.",
        wrong=(calling("shift_clock", {"seconds": 15}), "the sign is lost"),
    ),
    _call(
        "tool-small-fraction",
        "Use a learning rate of 0.00025 for the run named gull.",
        [tool("set_rate", "Set a run's learning rate", run=text(), rate=number())],
        ("set_rate", {"run": "gull", "rate": 0.00025}),
        why="The number stands in the request; 2.5e-4 is the same.",
    ),
    _call(
        "tool-number-in-words",
        "Transfer two and a half million euros to the account Harbour.",
        [tool("transfer", "Transfer money", account=text(), euros=whole())],
        ("transfer", {"account": "Harbour", "euros": 2500000}),
        why="Two and a half million is 2500000.",
    ),
    _call(
        "tool-clock-in-words",
        "Wake me at half past three in the afternoon.",
        [tool("set_alarm", "Set an alarm", time=text("24-hour clock, HH:MM"))],
        ("set_alarm", {"time": "15:30"}),
        why="Half past three in the afternoon is 15:30.",
        wrong=(calling("set_alarm", {"time": "03:30"}), "the afternoon is lost"),
    ),
    _call(
        "tool-duration-in-words",
        "Start a timer for an hour and a half.",
        [tool("start_timer", "Start a timer", minutes=whole())],
        ("start_timer", {"minutes": 90}),
        why="60 + 30 minutes.",
    ),
    _call(
        "tool-tomorrow",
        [
            system("Today is Wednesday, 31 March 2027."),
            user("Block tomorrow in my calendar for the whole day."),
        ],
        [tool("block_day", "Block a day in the calendar", date=text("ISO 8601, YYYY-MM-DD"))],
        ("block_day", {"date": "2027-04-01"}),
        why="The day after 31 March is 1 April.",
        wrong=(calling("block_day", {"date": "2027-03-32"}), "a day that there is not"),
    ),
    _call(
        "tool-empty-string",
        "Set the nickname of user 4711 to the empty string.",
        [tool("set_nickname", "Set a nickname; empty removes it", user=whole(), nickname=text())],
        ("set_nickname", {"user": 4711, "nickname": ""}),
        why="The empty string is a string.",
        wrong=(
            calling("set_nickname", {"user": 4711, "nickname": None}),
            "the empty string becomes null",
        ),
    ),
    _call(
        "tool-empty-list",
        "Save an e-mail draft to kim@example.com with the subject Hello and nobody in copy.",
        [
            tool(
                "save_draft",
                "Save a draft",
                to=text(),
                subject=text(),
                cc=many(text(), "empty for nobody"),
            )
        ],
        ("save_draft", {"to": "kim@example.com", "subject": "Hello", "cc": []}),
        why="Nobody in copy is an empty list, as the schema says.",
        wrong=(
            calling("save_draft", {"to": "kim@example.com", "subject": "Hello", "cc": ""}),
            "the empty list becomes a string",
        ),
    ),
    _call(
        "tool-repeated-items",
        "Roll call: record the scores 3, 3 and 5, in this order.",
        [tool("record_scores", "Record scores", scores=many(whole()))],
        ("record_scores", {"scores": [3, 3, 5]}),
        why="A list keeps what stands in it twice.",
        wrong=(calling("record_scores", {"scores": [3, 5]}), "the list is taken for a set"),
    ),
    _call(
        "tool-true-as-text",
        'Set the variable BETA to the text "true".',
        [tool("set_variable", "Set a variable of the environment", name=text(), value=text())],
        ("set_variable", {"name": "BETA", "value": "true"}),
        why="The schema wants a string.",
        wrong=(
            calling("set_variable", {"name": "BETA", "value": True}),
            "the text becomes a truth value",
        ),
    ),
    _call(
        "tool-version-as-text",
        "Pin the package orjson to version 3.10.",
        [tool("pin_package", "Pin a package", package=text(), version=text())],
        ("pin_package", {"package": "orjson", "version": "3.10"}),
        why="A version is a string, so that its zero at the end stays.",
        wrong=(
            calling("pin_package", {"package": "orjson", "version": 3.1}),
            "the version becomes a number",
        ),
    ),
    _call(
        "tool-phone-number",
        "Add the contact Rosa Kramer with the phone number +49 30 5550123, spaces as given.",
        [tool("add_contact", "Add a contact", name=text(), phone=text())],
        ("add_contact", {"name": "Rosa Kramer", "phone": "+49 30 5550123"}),
        why="Name and number stand in the request.",
        wrong=(
            calling("add_contact", {"name": "Rosa Kramer", "phone": 49305550123}),
            "the phone number becomes a number",
        ),
    ),
    _call(
        "tool-unit-enum",
        "Convert 350 degrees Fahrenheit to Celsius with the tool.",
        [
            tool(
                "convert_temperature",
                "Convert a temperature",
                value=number(),
                source=one_of("celsius", "fahrenheit", "kelvin"),
                target=one_of("celsius", "fahrenheit", "kelvin"),
            )
        ],
        ("convert_temperature", {"value": 350, "source": "fahrenheit", "target": "celsius"}),
        why="The enum writes both units in small letters.",
        wrong=(
            calling(
                "convert_temperature", {"value": 350, "source": "Fahrenheit", "target": "Celsius"}
            ),
            "values that the enum does not have",
        ),
    ),
    _call(
        "tool-enum-with-spaces",
        "Mark shipment 5512 as out for delivery.",
        [
            tool(
                "mark_shipment",
                "Set a shipment's state",
                shipment=whole(),
                state=one_of("in transit", "out for delivery", "delivered", "returned to sender"),
            )
        ],
        ("mark_shipment", {"shipment": 5512, "state": "out for delivery"}),
        why="One of the enum's values, with its spaces.",
    ),
    _call(
        "tool-language-codes",
        'Translate the word "bridge" from English to Portuguese.',
        [
            tool(
                "translate",
                "Translate a text",
                text=text(),
                source=one_of("de", "en", "es", "fr", "pt"),
                target=one_of("de", "en", "es", "fr", "pt"),
            )
        ],
        ("translate", {"text": "bridge", "source": "en", "target": "pt"}),
        why="ISO 639-1: English is en, Portuguese is pt.",
    ),
)
