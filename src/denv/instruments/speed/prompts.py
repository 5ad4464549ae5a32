"""Nested prompts of a wished length: each deeper one extends the one before.

The long part is a register of small transactions, drawn anew for each run so that no server has
it cached. The question after it never occurs twice on a server: a draft cache that remembers the
earlier answer would make the second one look quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, product
from random import Random

_TRADES = (
    "miller", "weaver", "cooper", "glazier", "baker", "mason", "tanner", "potter",
    "smith", "chandler", "dyer", "thatcher",
)  # fmt: skip
_PLACES = (
    "Arden", "Lisle", "Brome", "Castell", "Dunmore", "Eskdale", "Fenwick", "Garrow",
    "Holm", "Inver", "Kelby", "Lorne",
)  # fmt: skip
_GOODS = (
    "barrels of oil", "bolts of linen", "sacks of rye", "panes of glass", "casks of salt",
    "reams of paper", "coils of rope", "crates of tile", "skeins of wool", "pounds of wax",
)  # fmt: skip
_SEASONS = ("spring", "summer", "autumn", "winter")
_DEEDS = (
    "finds a map", "builds a clock", "loses a key", "hears a bell at night", "learns to read",
    "keeps a promise", "crosses a frozen lake", "wins a wager", "meets a stranger",
)  # fmt: skip


def register(rng: Random, *, characters: int) -> str:
    """Give at least so many characters of a register, in lines that each end in a line break."""
    pieces = [f"Register {rng.randrange(16**8):08x} of the market towns.\n"]
    length, number = len(pieces[0]), 0
    while length < characters:
        number += 1
        pieces.append(_entry(rng, number))
        length += len(pieces[-1])
    return "".join(pieces)


def _entry(rng: Random, number: int) -> str:
    seller, buyer = rng.sample(_TRADES, 2)
    here, there = rng.sample(_PLACES, 2)
    goods = f"{rng.randrange(2, 999)} {rng.choice(_GOODS)}"
    season, year = rng.choice(_SEASONS), rng.randrange(1700, 1900)
    return (
        f"{number}. In the {season} of {year} the {seller} of {here} sold {goods} to the "
        f"{buyer} of {there}.\n"
    )


def cut(text: str, characters: float) -> str:
    """Give the whole words of a register that fit into so many characters."""
    return text[: text.rfind(" ", 0, max(0, int(characters))) + 1]


def questions(rng: Random) -> Iterator[str]:
    """Give requests for a long text without end, none of them twice."""
    subjects = list(product(_TRADES, _PLACES, _DEEDS))
    rng.shuffle(subjects)
    for telling in count(1):
        again = f" (telling {telling})" if telling > 1 else ""
        for trade, place, deed in subjects:
            yield f"Tell a long and detailed story in which a {trade} of {place} {deed}{again}."
