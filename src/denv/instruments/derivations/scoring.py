"""What became of each item: right, wrong, or why that is not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from denv.instruments.derivations.forms import Form, Item

Result = Literal["equal", "different", "undecided", "unreadable"]
Outcome = Literal["right", "wrong", "undecided", "unreadable", "absent"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the oracle found: whether an answer equals the truth, and on which ground.

    ``unreadable``: the answer is no mathematics in a notation that is known. ``undecided``: it
    is, but equality was neither proved nor refuted within the limits.
    """

    result: Result
    reason: str


Oracle = Callable[[str, str, Form], Comparison]
"""Compares an answer with a truth in its form; must be one that ends, such as a killable one."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An item's outcome on one side; ``final`` is None where no answer was declared."""

    item: str
    outcome: Outcome
    reason: str
    final: str | None


_OUTCOMES: Mapping[Result, Outcome] = {
    "equal": "right",
    "different": "wrong",
    "undecided": "undecided",
    "unreadable": "unreadable",
}


def score(
    items: Sequence[Item], finals: Mapping[str, str | None], *, oracle: Oracle
) -> tuple[Scored, ...]:
    """Score the declared answers of one side, by the ids of their items.

    ``absent`` is an answer without a ``FINAL:`` line; a truncated one is the caller's to take
    out before. Neither is wrong: no other number of the text is guessed to be the answer.

    Raises
    ------
    ValueError
        An item was asked of which ``finals`` says nothing, not even None.
    """
    missing = [item.id for item in items if item.id not in finals]
    if missing:
        raise ValueError(f"finals: nothing is said of {len(missing)} items, such as {missing[0]}")
    return tuple(_scored(item, finals[item.id], oracle) for item in items)


def _scored(item: Item, final: str | None, oracle: Oracle) -> Scored:
    if final is None:
        return Scored(item.id, "absent", "there is no FINAL line", None)
    found = oracle(final, item.truth, item.form)
    return Scored(item.id, _OUTCOMES[found.result], found.reason, final)
