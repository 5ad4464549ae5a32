"""JSON and other forms of output, with what servers do wrong to them."""

# ruff: noqa: E501 - prompts are not broken

from __future__ import annotations

from typing import Any

from denv.recipes.making import patterns
from denv.recipes.making.authored.rows import told
from denv.recipes.making.drafts import Json, system, user
from denv.recipes.making.schema import Schema, flag, many, one_of, text, thing, whole

_FREE = {"type": "json_object"}
_ONLY = "You answer with one JSON object and nothing else."


def _strict(name: str, **fields: Schema) -> dict[str, Any]:
    inner = {"name": name, "strict": True, "schema": thing(**fields)}
    return {"type": "json_schema", "json_schema": inner}


def _holding(*pieces: str) -> Json:
    """Expect one JSON object in which each of the patterns is found."""
    inside = "".join(f"(?=.*{piece})" for piece in pieces)
    return {"regex": rf"(?s)\A\s*\{{{inside}.*\}}\s*\Z"}


CASES = (
    told(
        "json-nested",
        "json",
        [
            system(_ONLY),
            user(
                "The ship Petrel (built 1998) is owned by Ida Holt from Riga. Give a JSON object with "
                "ship (an object with name and built) and owner (an object with name and city)."
            ),
        ],
        response_format=_FREE,
        expect=_holding(
            r'"ship"\s*:\s*\{[^{}]*"built"\s*:\s*1998\b[^{}]*\}',
            r'"owner"\s*:\s*\{[^{}]*"city"\s*:\s*"Riga"[^{}]*\}',
        ),
        right='{"ship": {"name": "Petrel", "built": 1998}, "owner": {"name": "Ida Holt", "city": "Riga"}}',
        wrong='{"name": "Petrel", "built": 1998, "owner": "Ida Holt", "city": "Riga"}',
        why="Two objects inside one. Wrong: flattened.",
    ),
    told(
        "json-list-of-objects",
        "json",
        [
            system(_ONLY),
            user(
                "Ann is 31, Bo is 28. Give a JSON object with the key people: a list of objects with "
                "name and age, in this order."
            ),
        ],
        response_format=_FREE,
        expect=_holding(
            r'"people"\s*:\s*\[\s*\{[^{}]*"Ann"[^{}]*\}\s*,\s*\{[^{}]*"Bo"[^{}]*\}\s*\]',
            r"\b31\b",
            r"\b28\b",
        ),
        right='{"people": [{"name": "Ann", "age": 31}, {"name": "Bo", "age": 28}]}',
        wrong='{"people": [{"name": "Ann", "age": 31}',
        why="Two objects in one list. Wrong: cut off.",
    ),
    told(
        "json-null-and-booleans",
        "json",
        [
            system(_ONLY),
            user(
                "The door is open, the alarm is off, and nobody knows the temperature. Give a JSON "
                "object with open (boolean), alarm (boolean) and temperature (number or null)."
            ),
        ],
        response_format=_FREE,
        expect={"regex": patterns.json_object({"open": True, "alarm": False, "temperature": None})},
        right='{"open": true, "alarm": false, "temperature": null}',
        wrong='{"open": True, "alarm": False, "temperature": None}',
        why="JSON writes true, false and null. Wrong: as Python writes them.",
    ),
    told(
        "json-escapes",
        "json",
        [
            system(_ONLY),
            user(
                'Give a JSON object with the key quote whose value is this text: He said "no" twice.'
            ),
        ],
        response_format=_FREE,
        expect=_holding(r'"quote"\s*:\s*"He said (?:\\"|\\u0022)no(?:\\"|\\u0022) twice\.?"'),
        right='{"quote": "He said \\"no\\" twice."}',
        wrong='{"quote": "He said "no" twice."}',
        why="Quotes inside a string are escaped. Wrong: they are not.",
    ),
    told(
        "json-schema-enum",
        "json",
        "The film was wonderful, I laughed a lot. Judge this review's mood and how sure you are.",
        response_format=_strict(
            "mood",
            mood=one_of("positive", "negative", "neutral"),
            sure=flag("true if you are sure"),
        ),
        expect=_holding(r'"mood"\s*:\s*"positive"', r'"sure"\s*:\s*(?:true|false)'),
        right='{"mood": "positive", "sure": true}',
        wrong='{"mood": "Positive", "sure": "yes"}',
        why="Wonderful and laughing are positive. Wrong: values that the schema does not have.",
    ),
    told(
        "json-schema-list",
        "json",
        "List the first four prime numbers in ascending order, and how many they are.",
        response_format=_strict("primes", primes=many(whole()), count=whole()),
        expect={"regex": patterns.json_object({"primes": [2, 3, 5, 7], "count": 4})},
        right='{"primes": [2, 3, 5, 7], "count": 4}',
        wrong='{"primes": "2, 3, 5, 7", "count": "4"}',
        why="2, 3, 5 and 7 are prime, 1 is not. Wrong: strings instead of a list and a number.",
    ),
    told(
        "json-schema-nested",
        "json",
        "Route: from Porto by train to Madrid. Give the route.",
        response_format=_strict(
            "route",
            route=thing(origin=text(), destination=text(), by=one_of("train", "bus", "plane")),
        ),
        expect=_holding(
            r'"route"\s*:\s*\{',
            r'"origin"\s*:\s*"Porto"',
            r'"destination"\s*:\s*"Madrid"',
            r'"by"\s*:\s*"train"',
        ),
        right='{"route": {"origin": "Porto", "destination": "Madrid", "by": "train"}}',
        wrong="The route goes from Porto to Madrid by train.",
        why="The schema wants an object route. Wrong: the format is not passed on.",
    ),
    told(
        "json-without-format",
        "json",
        'Give only a JSON list, on one line and without a code fence, of the vowels in "audio", in order.',
        expect={"regex": r'\A\s*\[\s*"a"\s*,\s*"u"\s*,\s*"i"\s*,\s*"o"\s*\]\s*\Z'},
        right='["a", "u", "i", "o"]',
        wrong="['a', 'u', 'i', 'o']",
        why="a, u, i, o stand in audio in this order. Wrong: single quotes.",
    ),
    told(
        "json-edit",
        "json",
        [
            system(_ONLY),
            user(
                'Set "port" to 8443 and leave all else as it is: {"host": "lab-3", "port": 80, "tls": true}'
            ),
        ],
        response_format=_FREE,
        expect={"regex": patterns.json_object({"host": "lab-3", "port": 8443, "tls": True})},
        right='{"host": "lab-3", "port": 8443, "tls": true}',
        wrong='{"port": 8443}',
        why="One value changes. Wrong: the others are lost.",
    ),
    told(
        "json-unicode",
        "json",
        [
            system(_ONLY),
            user("Give a JSON object with the key city whose value is the Polish name Łódź."),
        ],
        response_format=_FREE,
        expect=_holding(r'"city"\s*:\s*"(?:Łódź|\\u0141\\u00f3d\\u017a|\\u0141ód\\u017a)"'),
        right='{"city": "Łódź"}',
        wrong='{"city": "Å\x81Ã³dÅº"}',
        why="The name, plain or escaped. Wrong: UTF-8 read as Latin-1.",
    ),
    told(
        "form-csv",
        "exact",
        "Write as one line of CSV without spaces, in this order, and nothing else: red, 14, true",
        expect={"regex": r"\A[\s`]*(?:csv\s)?\s*red,14,true[\s`]*\Z"},
        right="red,14,true",
        wrong="red, 14, true",
        why="Three fields and two commas. Wrong: with spaces.",
    ),
    told(
        "form-numbered-list",
        "exact",
        "List the three primary colours of light as a numbered list (1. 2. 3.): red first, then green, then blue.",
        expect={"regex": r"(?is)1\.\s*\W*red\b.*2\.\s*\W*green\b.*3\.\s*\W*blue\b"},
        right="1. Red\n2. Green\n3. Blue",
        wrong="1. Red\n2. Green",
        why="Three numbered lines in this order. Wrong: the last one is lost.",
    ),
    told(
        "form-bold",
        "exact",
        "Write the word harbour in Markdown bold with two asterisks on each side, and nothing else.",
        expect={"regex": r"(?i)\A\s*\*\*harbour\*\*\s*\Z"},
        right="**harbour**",
        wrong="harbour",
        why="Two asterisks on each side. Wrong: the mark-up is stripped on the way.",
    ),
    told(
        "form-two-lines",
        "exact",
        "Write alpha on the first line and omega on the second line, and nothing else.",
        expect={"regex": r"(?i)\A\s*alpha[ \t]*\r?\n\s*omega\s*\Z"},
        right="alpha\nomega",
        wrong="alpha omega",
        why="Two lines. Wrong: the line break is lost.",
    ),
    told(
        "form-tag",
        "exact",
        "Put the sum of 8 and 5 between <answer> and </answer>, and write nothing else.",
        expect={"regex": r"\A\s*<answer>\s*13\s*</answer>\s*\Z"},
        right="<answer>13</answer>",
        wrong="13",
        why="8 + 5 = 13. Wrong: the tags are taken for marks of the template and stripped.",
    ),
    told(
        "form-stop",
        "exact",
        "Count from 1 to 9, separated by a comma and a space, and write nothing else.",
        stop=["6"],
        expect={"regex": r"\A\s*1, 2, 3, 4, 5,?\s*\Z"},
        right="1, 2, 3, 4, 5, ",
        wrong="1, 2, 3, 4, 5, 6, 7, 8, 9",
        why="The answer ends ahead of the stop. Wrong: the stop is not passed on.",
    ),
    told(
        "form-stop-line",
        "exact",
        "Write the words north, east, south and west, each on its own line, in this order. Nothing else.",
        stop=["\nsouth", "\nSouth"],
        expect={"regex": r"(?i)\A\s*north\s*\n\s*east\s*\Z"},
        right="north\neast",
        wrong="north\neast\nsouth",
        why="Both stops begin with a line break. Wrong: the stop is a part of the answer.",
    ),
)
