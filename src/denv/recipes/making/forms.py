"""An answer in a form that is given, held to it code point for code point."""

from __future__ import annotations

from random import Random

from denv.recipes.making import words
from denv.recipes.making.drafts import Draft, Family, answer, request, system, user
from denv.recipes.making.drawing import clock, code, full_name, two
from denv.recipes.making.wrongs import wrong_copy

STRICT = "You answer with what is asked for and nothing else: no quotes, no remark, no full stop."


def _drafted(at: int, wish: str, right: str, *, near: str, why: str) -> Draft:
    wrong, kind = wrong_copy(at, right, near=near)
    return Draft(
        request=request(system(STRICT), user(wish)),
        expect={"equals": right},
        right=answer(right),
        wrong=wrong,
        why=f"{why} Wrong: {kind}.",
    )


def filled(rng: Random, at: int) -> Draft:
    """Ask for a form with its blanks filled."""
    number, quantity, city = code(rng), rng.randint(2, 90), rng.choice(words.CITIES)
    right = f"CODE={number};QTY={quantity};TO={city}"
    wish = (
        f"Ship {quantity} pieces of {number} to {city}.\n"
        "Write this order in the form CODE=<code>;QTY=<pieces>;TO=<city>"
    )
    near = f"CODE={number}; QTY={quantity}; TO={city}"
    return _drafted(at, wish, right, near=near, why="The form with its three blanks filled.")


def calendar_line(rng: Random, at: int) -> Draft:
    """Ask for a line with bars between its fields."""
    name, time, room = full_name(rng), clock(rng), rng.choice(words.ROOMS)
    right = f"{time} | {room} | {name}"
    wish = f"{name} comes at {time} to the {room}. Write: <time> | <room> | <name>"
    near = f"{time} | {name} | {room}"
    return _drafted(at, wish, right, near=near, why="The three fields in the form's order.")


_MARKS = (
    "naïve café – {}",
    "{} → 東京 ✓",
    "„Größe“ {} µm",
    "¿Dónde está {}?",
    "{} ≤ π ≈ 3,14",
    "Ελλάδα {} Київ",
    "🙂 {} 👍🏽",
    "x² + {}·y = ½",
)


def copied(rng: Random, at: int) -> Draft:
    """Ask for a text with characters of several bytes again, as it is."""
    first, second = two(rng, words.PLAIN_WORDS)
    right = _MARKS[at % len(_MARKS)].format(f"{first}-{second}")
    near = right.encode("ascii", "ignore").decode()
    wish = f"Repeat the following line exactly:\n{right}"
    kind = (0, 3, 5, 1)[at % 4]
    return _drafted(kind, wish, right, near=near, why="The line itself, code point for code point.")


FAMILIES = (
    Family("form-filled", "exact", 10, filled),
    Family("form-line", "exact", 10, calendar_line),
    Family("form-copied", "exact", 12, copied),
)
