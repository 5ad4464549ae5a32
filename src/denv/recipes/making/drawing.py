"""Random sources that depend on a seed and a case's place alone, and simple draws from them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from random import Random

from denv.recipes.making import words

FORM = b"denv.recipes.making/1"
"""Another form of the cases is another tag, so that a seed never means two things."""


def source(seed: bytes, *place: str | int) -> Random:
    """Give the random source of one place.

    The seed goes through a hash with the place, so that no number of cases tells the seed.
    """
    where = "/".join(map(str, place)).encode()
    digest = sha256(b"\0".join((FORM, sha256(seed).digest(), where))).digest()
    return Random(int.from_bytes(digest, "big"))  # noqa: S311 - draws cases, guards nothing


def full_name(rng: Random) -> str:
    """Draw a person's name."""
    return f"{rng.choice(words.FIRST_NAMES)} {rng.choice(words.LAST_NAMES)}"


def code(rng: Random, *, letters: int = 2, digits: int = 4) -> str:
    """Draw a code such as ``KD-4821``, without letters and digits that look alike."""
    first = "".join(rng.choice("ABCDEFGHJKMNPRTUVWXY") for _ in range(letters))
    return f"{first}-{''.join(rng.choice('2346789') for _ in range(digits))}"


def clock(rng: Random, first: int = 8, last: int = 20) -> str:
    """Draw a time of day on a quarter of an hour, as ``HH:MM``."""
    return f"{rng.randint(first, last):02d}:{rng.choice(('00', '15', '30', '45'))}"


def a(noun: str) -> str:
    """Put the article ahead of a noun."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def two(rng: Random, pool: Sequence[str]) -> tuple[str, str]:
    """Draw two different items."""
    first, second = rng.sample(pool, 2)
    return first, second


def listed(items: Sequence[str]) -> str:
    """Join items as English does: ``a, b and c``."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
