"""Prompts of long context: a store's records, drawn from a seed, and a question about one.

At each of three depths the record that is asked about stands at five places, so that what a
cache of lower precision, a wrong window or a silent cut does shows where it does it. The texts
are drawn when they are asked for, which keeps the package small.
"""

from __future__ import annotations

from denv.instruments.bank.draw import Draw, draw_for
from denv.instruments.bank.prompt import Prompt, say

CATEGORY = "long-context"
MAX_TOKENS = 48
SEED = 6144

DEPTHS = (512, 2048, 6144)
"""About how many tokens stand ahead of the answer."""

PLACES = (5, 30, 50, 70, 95)
"""How far into the records, in percent, the one that is asked about stands."""

CHARACTERS_PER_TOKEN = 2.5
"""Of these records where numbers are cut into digits; else there are up to a fifth less tokens."""

_COLOURS = ("amber", "crimson", "emerald", "indigo", "ivory", "ochre", "scarlet", "violet")
_THINGS = (
    "barometer",
    "compass",
    "hourglass",
    "kettle",
    "lantern",
    "music box",
    "quilt",
    "sextant",
)
_TOWNS = ("Alder", "Brindle", "Corran", "Dunmore", "Eskdale", "Farrow", "Glenn", "Holm")
_OWNERS = ("Abe", "Bea", "Cleo", "Dov", "Edda", "Finn", "Gus", "Hedy", "Ivo", "June", "Kit", "Lou")


def prompts() -> tuple[Prompt, ...]:
    """Give the prompts of this category, every place at each depth in turn."""
    return tuple(_prompt(depth, place) for place in PLACES for depth in DEPTHS)


def _prompt(depth: int, place: int) -> Prompt:
    draw = draw_for(SEED, CATEGORY, depth, place)
    lead = "These are the records of a store of lost things.\n\n"
    numbers = iter(draw.several(range(1000, 10_000), depth // 10))
    records: list[tuple[int, str]] = []
    room = int(depth * CHARACTERS_PER_TOKEN) - len(lead) - 200
    while room > 0:
        number = next(numbers)
        records.append((number, _record(draw, number)))
        room -= len(records[-1][1]) + 1
    asked, _ = records[len(records) * place // 100]
    question = (
        f"\n\nRepeat the record with the number {asked} word for word, then say in one sentence "
        "who is looking for the thing and where it was found."
    )
    text = lead + "\n".join(record for _, record in records) + question
    name = f"{CATEGORY}-{depth}-at-{place}"
    return Prompt(name, CATEGORY, (say("user", text),), (), MAX_TOKENS, depth)


def _record(draw: Draw, number: int) -> str:
    weight, day = draw.between(40, 4000), draw.between(1, 365)
    return (
        f"Record {number}: {draw.one_of(_COLOURS)} {draw.one_of(_THINGS)}, {weight} grams, found "
        f"in {draw.one_of(_TOWNS)} on day {day}, sought by {draw.one_of(_OWNERS)}."
    )
