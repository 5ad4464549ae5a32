"""Known answers with their right outcomes, argued from mathematics and the conventions."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from denv.instruments.derivations import Item, extract_final, score
from denv.instruments.derivations.forms import KINDS, form_of
from denv.instruments.derivations.oracle import compare

HERE = Path(__file__).parent / "data" / "known.jsonl"
SHIPPED = files("denv.instruments") / "data" / "answers" / "derivations.jsonl"
KNOWN = [
    json.loads(line)
    for place in (HERE, SHIPPED)
    for line in place.read_text("utf-8").split("\n")
    if line
]
"""Those that the package ships for its self-check, and more of the same."""


def _scored(known):
    item = Item(known["id"], "any", "any", "", known["truth"], form_of(known["form"]))
    return score([item], {item.id: extract_final(known["text"])}, oracle=compare)[0]


@pytest.mark.parametrize("known", KNOWN, ids=lambda one: one["id"])
def test_known_answers(known):
    """Each known answer is read and judged as its line says."""
    found, right = _scored(known), known["right"]
    assert (found.outcome, found.reason) == (right["outcome"], found.reason), known["about"]
    if "final" in right:
        assert found.final == right["final"]


def test_there_are_many_of_each():
    """All forms and all outcomes have known answers, and no outcome is right for most."""
    outcomes = Counter(known["right"]["outcome"] for known in KNOWN)
    assert {known["form"]["kind"] for known in KNOWN} == set(KINDS)
    assert outcomes.keys() == {"right", "wrong", "absent", "unreadable", "undecided"}
    assert len(KNOWN) >= 150
    assert outcomes["right"] <= 0.75 * len(KNOWN)
    assert len({known["id"] for known in KNOWN}) == len(KNOWN)
