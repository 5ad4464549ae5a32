"""Scoring: the oracle's results as outcomes, with what was not declared apart."""

from __future__ import annotations

import pytest

from denv.instruments.derivations import Comparison, Form, Item, score

ITEMS = [Item(f"any/{n}", "any", "any", "?", str(n), Form("number")) for n in range(5)]


def oracle(answer, truth, form):
    """Answer as the answer's text says."""
    assert form.kind == "number"
    return Comparison(answer, f"against {truth}")


def test_outcomes():
    """Each result has its outcome; without a final the oracle is not asked."""
    texts = ["equal", "different", "undecided", "unreadable", None]
    finals = {item.id: text for item, text in zip(ITEMS, texts, strict=True)}
    found = score(ITEMS, finals, oracle=oracle)
    assert [one.outcome for one in found] == [
        "right", "wrong", "undecided", "unreadable", "absent",
    ]  # fmt: skip
    assert found[0].reason == "against 0"
    assert [one.item for one in found] == [item.id for item in ITEMS]
    assert [one.final for one in found] == texts


def test_silence_about_an_item_is_an_error():
    """An item that was never asked is no absent answer."""
    with pytest.raises(ValueError, match="4 items, such as any/1"):
        score(ITEMS, {"any/0": "equal"}, oracle=oracle)
