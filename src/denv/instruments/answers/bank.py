"""The bank of integer questions: drawn from a seed, their truths computed and never typed.

Twenty templates, each at four levels from what a small model can do to what few can without
working it out. Each item has draws of its own, so that it stays the same when templates are
added. Any first part of the bank holds every template and level about equally often.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from denv.instruments.answers import arithmetic, counting, stories
from denv.instruments.bank.draw import Draw, Posed, draw_for
from denv.records import Json

SEED = 20_250
COUNT = 240
LEVELS = 4

_TRIES = 200

TEMPLATES: Mapping[str, Callable[[Draw, int], Posed]] = {
    "sum": arithmetic.ask_sum,
    "letters": counting.ask_letters,
    "days": stories.ask_days,
    "product": arithmetic.ask_product,
    "words": counting.ask_words,
    "minutes": stories.ask_minutes,
    "remainder": arithmetic.ask_remainder,
    "objects": counting.ask_objects,
    "units": stories.ask_units,
    "divisor": arithmetic.ask_divisor,
    "position": counting.ask_position,
    "purchase": stories.ask_purchase,
    "power": arithmetic.ask_power,
    "sets": counting.ask_sets,
    "rates": stories.ask_rates,
    "expression": arithmetic.ask_expression,
    "choices": counting.ask_choices,
    "base": arithmetic.ask_base,
    "primes": arithmetic.ask_primes,
    "sequence": arithmetic.ask_sequence,
}

_FORM = "Work it out, then end with a last line of exactly this form:\nANSWER: <integer>"
_OR_UNSURE = "\nIf you are not sure of the result, let that last line be instead:\nANSWER: UNSURE"


class Condition(StrEnum):
    """What may be answered: an integer alone, or that one is not sure."""

    FORCED = "forced"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Item:
    """One question and the integer that answers it; ``level`` is 1 (easy) to 4."""

    id: str
    template: str
    level: int
    question: str
    truth: int

    def prompt(self, condition: Condition) -> str:
        """Write the question as a model is asked it."""
        tail = _OR_UNSURE if condition is Condition.UNSURE else ""
        return f"{self.question}\n\nAnswer with one integer. {_FORM}{tail}"

    def messages(self, condition: Condition) -> list[dict[str, Json]]:
        """Give the prompt as the messages of a chat request."""
        return [{"role": "user", "content": self.prompt(condition)}]


def items(seed: int = SEED, *, count: int = COUNT) -> tuple[Item, ...]:
    """Draw the first ``count`` items of a seed's bank.

    The same seed gives the same items on every machine. No question stands there twice.

    Raises
    ------
    ValueError
        For fewer than one item, and for more than the templates have questions.

    Examples
    --------
    >>> bank = items()
    >>> len(bank), bank[0].id, bank[0].question, bank[0].truth
    (240, 'sum-1-1', 'What is 31 + 36?', 67)
    """
    if count < 1:
        raise ValueError(f"count: {count} items, must be at least 1")
    found: list[Item] = []
    asked: set[str] = set()
    names = list(TEMPLATES)
    for index in range(count):
        turn, at = divmod(index, len(names))
        level, number = 1 + (at + turn) % LEVELS, 1 + turn // LEVELS
        item = _new(seed, (names[at], level, number), asked)
        asked.add(item.question)
        found.append(item)
    return tuple(found)


def _new(seed: int, key: tuple[str, int, int], asked: set[str]) -> Item:
    """Draw an item until it is a new one."""
    template, level, _ = key
    draw = draw_for(seed, *key)
    for _ in range(_TRIES):
        question, truth = TEMPLATES[template](draw, level)
        if question not in asked:
            return Item("-".join(map(str, key)), template, level, question, truth)
    raise ValueError(f"count: {template!r} has no further question at level {level}")
