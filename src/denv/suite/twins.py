"""Cases that are the same but for numbers: they count twice and show once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from denv.records import Case

GENERATED = "generated"
"""The tag of cases that a generator made, which may differ in their numbers alone."""

_NUMBER = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")
_ASKED = ("messages", "tools", "tool_choice", "response_format")


@dataclass(frozen=True, slots=True)
class Twin:
    """A case that asks what an earlier one asks; ``same`` says that not even numbers differ."""

    id: str
    first: str
    same: bool


def find_twins(cases: Iterable[Case]) -> Iterator[Twin]:
    """Find each case that an earlier one equals but for numbers.

    Two generated cases may differ in their numbers alone; none may be wholly the same.
    """
    whole: dict[str, str] = {}
    plain: dict[str, tuple[str, bool]] = {}
    for case in cases:
        asked = json.dumps([case.fields.get(name) for name in _ASKED], ensure_ascii=False)
        generated = GENERATED in case.tags
        first = whole.setdefault(asked, case.id)
        if first != case.id:
            yield Twin(case.id, first, same=True)
            continue
        near, both = plain.setdefault(_NUMBER.sub("0", asked), (case.id, generated))
        if near != case.id and not (generated and both):
            yield Twin(case.id, near, same=False)
