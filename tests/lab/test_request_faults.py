"""What the proxy does to a chat request before the server gets it."""

from typing import Any

import pytest

from denv.lab.faults import Faults, spoil_request

BODY: dict[str, Any] = {
    "messages": [{"role": "user", "content": "abcdef"}, {"role": "assistant", "content": None}],
    "temperature": 1,
    "stop": ["x"],
    "tools": [],
    "tool_choice": "auto",
}


@pytest.mark.parametrize(
    ("faults", "changed", "gone"),
    [
        (Faults(), {}, set()),
        (Faults(set_fields={"temperature": 0, "seed": 1}), {"temperature": 0, "seed": 1}, set()),
        (Faults(default_fields={"temperature": 0, "max_tokens": 16}), {"max_tokens": 16}, set()),
        (Faults(drop_fields=frozenset({"stop"})), {}, {"stop"}),
        (Faults(drop_tools=True), {}, {"tools", "tool_choice"}),
    ],
)
def test_fields_are_set_filled_and_dropped(faults, changed, gone):
    """What is set goes over the client's, a default does not, and the rest stays as it was."""
    kept = {name: value for name, value in BODY.items() if name not in gone}
    assert spoil_request(BODY, faults) == {**kept, **changed}


def test_the_head_of_long_messages_is_cut():
    """The last characters are kept; a message without text is left alone, and so is the body."""
    spoiled = spoil_request(BODY, Faults(keep_characters=2))
    assert [one["content"] for one in spoiled["messages"]] == ["ef", None]
    assert BODY["messages"][0]["content"] == "abcdef"
