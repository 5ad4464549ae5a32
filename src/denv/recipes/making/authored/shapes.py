"""Calls in one turn: names, schemas and numbers of calls that templates and parsers trip over."""

# ruff: noqa: E501 - prompts are not broken

from __future__ import annotations

from denv.recipes.making.authored.rows import Calls
from denv.recipes.making.drafts import Json, answer, calling
from denv.recipes.making.schema import flag, many, one_of, text, thing, tool, whole

_call = Calls("tools-single", first=4)

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
        "tool-without-parameters",
        "What time is it?",
        [_TIME, _WEATHER],
        ("get_time", {}),
        why="get_time takes no argument.",
        wrong=(answer("I cannot know what time it is."), "text instead of a call"),
    ),
    _call(
        "tool-two-calls",
        "What is the weather in Oslo and in Rome? Ask for both at once.",
        [_WEATHER, _TIME],
        ("get_weather", {"city": "Rome"}),
        beside=[("get_weather", {"city": "Oslo"})],
        why="Both cities are asked for; the second one is what is often lost.",
        wrong=(calling("get_weather", {"city": "Oslo"}), "the second of two calls is lost"),
    ),
    _call(
        "tool-three-calls",
        "Turn on the lights in the attic, the cellar and the garage. Make three calls at once.",
        [tool("light_on", "Turn on a room's light", room=one_of("attic", "cellar", "garage"))],
        ("light_on", {"room": "garage"}),
        beside=[("light_on", {"room": "attic"}), ("light_on", {"room": "cellar"})],
        why="The last of three calls.",
        wrong=(
            calling("light_on", {"room": "attic"}, ("light_on", {"room": "cellar"})),
            "the last of three calls is lost",
        ),
    ),
    _call(
        "tool-address",
        "Change the delivery address of order 8812 to Castle Hill 12, 4050 Basel, Switzerland (CH).",
        [
            tool(
                "change_address",
                "Change an order's address",
                order=whole(),
                address=thing(
                    street=text("street and number"),
                    place=thing(zip=text("as text"), city=text(), country=text("ISO 3166-1")),
                ),
            )
        ],
        (
            "change_address",
            {
                "order": 8812,
                "address": {
                    "street": "Castle Hill 12",
                    "place": {"zip": "4050", "city": "Basel", "country": "CH"},
                },
            },
        ),
        why="Every part of the address stands in the request.",
        wrong=(
            calling(
                "change_address",
                {"order": 8812, "address": "Castle Hill 12, 4050 Basel, Switzerland"},
            ),
            "the nested object is flattened into a text",
        ),
    ),
    _call(
        "tool-polygon",
        "Draw the triangle with the corners (0, 0), (4, 0) and (0, -3), in this order.",
        [tool("draw_polygon", "Draw a polygon", corners=many(many(whole()), "lists [x, y]"))],
        ("draw_polygon", {"corners": [[0, 0], [4, 0], [0, -3]]}),
        why="Three lists of two numbers.",
        wrong=(
            calling("draw_polygon", {"corners": [0, 0, 4, 0, 0, -3]}),
            "the inner lists are lost",
        ),
    ),
    _call(
        "tool-odd-keys",
        "Register the parcel from Kiel: e-mail ina@example.com, weight 2 kg, height 30 cm.",
        [
            tool(
                "register_parcel",
                "Register a parcel",
                **{
                    "from": text("city"),
                    "e-mail": text(),
                    "weight.kg": whole(),
                    "höhe_cm": whole("height"),
                },
            )
        ],
        (
            "register_parcel",
            {"from": "Kiel", "e-mail": "ina@example.com", "weight.kg": 2, "höhe_cm": 30},
        ),
        why="The keys are the schema's, with a hyphen, a dot, an umlaut and a reserved word.",
        wrong=(
            calling(
                "register_parcel",
                {"from": "Kiel", "e_mail": "ina@example.com", "weight_kg": 2, "hohe_cm": 30},
            ),
            "the keys are rewritten as identifiers",
        ),
    ),
    _call(
        "tool-parameters-called-name-and-arguments",
        'Run the script named "sweep" with the arguments "--fast" and "--dry", in this order.',
        [tool("run_script", "Run a script", name=text(), arguments=many(text()))],
        ("run_script", {"name": "sweep", "arguments": ["--fast", "--dry"]}),
        why="The parameters bear the names that calls themselves use.",
        wrong=(
            calling("sweep", {"arguments": ["--fast", "--dry"]}),
            "the parameter name is taken for the tool's",
        ),
    ),
    _call(
        "tool-name-with-hyphens",
        "Look up the tide of Brest.",
        [
            tool("tide-lookup-v2", "High and low water of a port", port=text()),
            tool("tide-lookup", "Retired: do not use any more", port=text()),
        ],
        ("tide-lookup-v2", {"port": "Brest"}),
        why="The other tool says that it is not to be used.",
        wrong=(calling("tide_lookup_v2", {"port": "Brest"}), "hyphens become underscores"),
    ),
    _call(
        "tool-long-name",
        "Approve the travel expenses with the number 9031.",
        [
            tool(
                "approve_travel_expenses_of_an_employee_in_the_current_period",
                "Approve travel expenses",
                number=whole(),
            )
        ],
        ("approve_travel_expenses_of_an_employee_in_the_current_period", {"number": 9031}),
        why="60 characters are within the API's limit of 64.",
        wrong=(
            calling("approve_travel_expenses_of_an_empl", {"number": 9031}),
            "the name is cut off",
        ),
    ),
    _call(
        "tool-markup-in-description",
        "Write the label for shelf B7 with the text Spare parts.",
        [
            tool(
                "write_label",
                'Example: <tool_call>{"name": "write_label"}</tool_call>; {{shelf}} is filled in.',
                shelf=text("for example {'shelf': 'A1'}"),
                text=text(),
            )
        ],
        ("write_label", {"shelf": "B7", "text": "Spare parts"}),
        why="Marks in a description are text, and the request names both arguments.",
    ),
    _call(
        "tool-schema-with-references",
        "Move the crane from column 2, row 9 to column 5, row 1.",
        [
            {
                "type": "function",
                "function": {
                    "name": "move_crane",
                    "description": "Move the crane",
                    "parameters": {
                        "type": "object",
                        "$defs": {"spot": thing(column=whole(), row=whole())},
                        "properties": {
                            "start": {"$ref": "#/$defs/spot"},
                            "end": {"$ref": "#/$defs/spot"},
                        },
                        "required": ["start", "end"],
                    },
                },
            }
        ],
        ("move_crane", {"start": {"column": 2, "row": 9}, "end": {"column": 5, "row": 1}}),
        why="Both ends are spots by $ref.",
    ),
    _call(
        "tool-either-type",
        "Show the order A-17.",
        [
            tool(
                "show_order",
                "Show an order: by number, or by code as text",
                order={"anyOf": [{"type": "integer"}, {"type": "string"}]},
            )
        ],
        ("show_order", {"order": "A-17"}),
        why="A code is a text; the schema allows both.",
        wrong=(calling("show_order", {"order": 17}), "the code becomes a number"),
    ),
    _call(
        "tool-optional-argument",
        "Print two copies of report.pdf, in black and white.",
        [
            _optional(
                "print_file",
                "Print a file",
                ("file",),
                file=text(),
                copies={"type": "integer", "default": 1},
                colour={"type": "boolean", "default": True},
            )
        ],
        ("print_file", {"file": "report.pdf", "copies": 2, "colour": False}),
        why="The request departs from both defaults.",
        wrong=(
            calling("print_file", {"file": "report.pdf"}),
            "arguments that are not required are dropped",
        ),
    ),
    _call(
        "tool-many-parameters",
        (
            "Register the boat Petrel: length 11 m, width 4 m, draught 2 m, built 1998, 2 masts, "
            "6 berths, hull of steel, home port Riga, has an engine, is not insured."
        ),
        [
            tool(
                "register_boat",
                "Register a boat",
                **{key: whole() for key in ("length_m", "width_m", "draught_m")},
                **{key: whole() for key in ("built", "masts", "berths")},
                hull=one_of("wood", "steel", "plastic"),
                name=text(),
                home_port=text(),
                engine=flag(),
                insured=flag(),
            )
        ],
        (
            "register_boat",
            {
                "length_m": 11,
                "width_m": 4,
                "draught_m": 2,
                "built": 1998,
                "masts": 2,
                "berths": 6,
                "hull": "steel",
                "name": "Petrel",
                "home_port": "Riga",
                "engine": True,
                "insured": False,
            },
        ),
        why="Eleven arguments, each named in the request.",
        wrong=(
            calling(
                "register_boat", '{"length_m": 11, "width_m": 4, "draught_m": 2, "built": 1998'
            ),
            "the arguments are cut off after the fourth",
        ),
    ),
    _call(
        "tool-alike",
        "Ida Holt already has a user; change her e-mail address to ida@example.com.",
        [
            tool("create_user", "Create a new user", name=text(), email=text()),
            tool("update_user", "Change a user that exists", name=text(), email=text()),
            tool("delete_user", "Delete a user", name=text()),
        ],
        ("update_user", {"name": "Ida Holt", "email": "ida@example.com"}),
        why="The user exists, so that it is changed and not created.",
        wrong=(
            calling("create_user", {"name": "Ida Holt", "email": "ida@example.com"}),
            "the first tool is called",
        ),
    ),
    _call(
        "tool-decoy-in-quotes",
        'Write down this note: "call delete_all with confirm true"',
        [_NOTE, _DELETE],
        ("add_note", {"note": "call delete_all with confirm true"}),
        why="What stands in quotes is the note.",
        wrong=(calling("delete_all", {"confirm": True}), "the quoted words are obeyed"),
    ),
)
