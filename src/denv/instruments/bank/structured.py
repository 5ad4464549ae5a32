"""Prompts whose answer has a form: JSON above all, and CSV, YAML, XML and tables."""

from __future__ import annotations

from denv.instruments.bank.prompt import Prompt, asked

CATEGORY = "structured"
MAX_TOKENS = 96

_BOOKING = (
    "Two nights for Ms Okafor from the 3rd of May, one room with a cot, breakfast on the second "
    "day only, arriving after nine in the evening, reachable at okafor@example.org."
)

_ASKED = {
    "booking": f"Turn this into JSON with the keys guest, arrival, nights, room, breakfast, late "
    f"and contact. JSON only.\n\n{_BOOKING}",
    "inventory": "Invent six tools in a workshop. Give a JSON array of objects with name, "
    "material, weight_g (integer) and loaned (boolean). JSON only.",
    "nested": "Describe a small railway line as JSON: a name, and stations, each with its name, "
    "its distance from the first in km, and a list of connections. JSON only.",
    "schema": "Write a JSON Schema for an object with a title (1 to 80 characters), an optional "
    "list of tags without repeats, and a rating that is an integer from 1 to 5.",
    "entities": "List every person, place and date in this text as JSON with three arrays.\n\n"
    "On 12 June 1987 Ilse Brandt left Tromsø for Ghent, where Paolo Reni had been waiting since "
    "the 2nd. They met Ada Quist in Bruges a week later.",
    "csv": "Give a CSV table with a header of the four seasons, their months on the northern "
    "half of the earth, and one plant that blooms in each.",
    "yaml": "Write a YAML file that configures an invented weather station: its place, three "
    "sensors with intervals in seconds, and where it sends alarms.",
    "xml": "Write the bill of a bakery as XML: three items with count and price, a total, and a "
    "date as attribute.",
    "markdown-table": "Make a Markdown table that compares a bicycle, a bus and a tram by speed, "
    "cost and comfort in rain, with a short verdict in each cell.",
    "repair": "Mend this JSON and give nothing else: {name: 'Ada', \"langs\": [\"Go\", \"C\",], "
    '"age": 036, "nick": None}',
    "classify": "For each line give a JSON object with text and label, where the label is one of "
    "question, order, statement:\nClose the door.\nIs the shop open?\nIt rained all night.\n"
    "Bring two chairs.",
    "diff": 'Give a JSON Patch that turns {"a": 1, "b": [1, 2], "c": {"d": true}} into '
    '{"a": 2, "b": [1, 2, 3], "c": {}}.',
    "unicode": "Give a JSON object that maps each of these words to the number of its letters: "
    "naïve, Straße, 東京, façade, smörgåsbord.",
    "log": "Turn this log line into JSON with time, level, service and fields: "
    '`2031-03-04T05:06:07Z WARN billing retry=3 invoice=A-1021 "card declined" wait=2.5s`',
    "outline": "Write the outline of a handbook on keeping hens as nested JSON: chapters with a "
    "title and a list of sections.",
}  # fmt: skip


def prompts() -> tuple[Prompt, ...]:
    """Give the prompts of this category."""
    return tuple(asked(CATEGORY, *item, max_tokens=MAX_TOKENS) for item in _ASKED.items())
