"""Every known kind of fault is tried, or it is said why one pair of exchanges cannot decide it."""

from __future__ import annotations

from collections import Counter

from tests.faults.rows import faults, tries

KNOWN = 56
"""Kinds of fault that were collected from the reports of servers' users."""

NOT_DECIDED_HERE = {
    "b-moe-run-to-run": (
        "A mixture of experts answers alike while its process lives, and otherwise after a"
        " restart: repeats of one pair cannot show that, only runs against several processes,"
        " with a tolerance taken from the reference against itself."
    ),
}

KINDS = {"a": 27, "b": 8, "c": 7, "d": 6, "e": 8}
"""Answers, settings, prompts, numbers and patterns, the wire."""


def test_every_fault_is_tried_or_said_not_to_be():
    """No kind of fault is forgotten, and none is both tried and set aside."""
    tried = faults()
    assert not tried.keys() & NOT_DECIDED_HERE.keys()
    every = [*tried, *NOT_DECIDED_HERE]
    assert len(every) == KNOWN
    assert Counter(name[0] for name in every) == KINDS
    assert all(NOT_DECIDED_HERE.values())


def test_every_fault_has_something_to_try():
    """A fault is tried by pairs of exchanges or, on the wire, by what its row lists."""
    without = {name for name, row in faults().items() if not row.get("tries")}
    assert without == {"e-retry-after-forms", "e-redirect"}


def test_tries_have_names_of_their_own():
    """Each pair has one name, and each names its outcome and cause."""
    names = [one.id for one in tries()]
    assert len(set(names)) == len(names)
    assert all({"outcome", "cause"} <= one.right.keys() for one in tries())
