"""Advice on suites that are valid and could be better."""

import json

import pytest

from denv.suite import advise, load_suite
from tests.suite.rules import CALL, TOOL, line


def advice(tmp_path, *values):
    path = tmp_path / "core.jsonl"
    path.write_text(
        "\n".join(json.dumps({**value, "id": f"c{n}"}) for n, value in enumerate(values))
    )
    return advise(load_suite(path))


def test_a_good_suite_needs_none(tmp_path):
    """Thirty plain cases of a kind are left in peace."""
    assert advice(tmp_path, *[line(expect={"contains": "391"})] * 30) == []


def test_few_cases(tmp_path):
    """With 20 cases of a kind one failure is 5 points, and that is said."""
    (said,) = advice(tmp_path, *[line(expect={"contains": "391"})] * 20)
    assert said.startswith("exact: 20 cases, so one failure moves its pass rate by 5.0 points")


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (line(tools=[TOOL], tool_choice="required", expect=CALL), "force the call"),
        (line(expect={"equals": "x" * 201}), "more than 200 characters"),
        (line(expect={"equals": "391\n"}), "white space"),
        (line(expect={"contains": "1"}), "single character"),
        (line(expect={"regex": ".*391"}), "begin or end their regex"),
        (line(expect={"logprobs-close": {"tolerance": 1}}, max_tokens=7), "max_tokens below 8"),
        (
            line(messages=[{"role": "assistant", "content": "So"}], expect={"contains": "ab"}),
            "end in",
        ),
        (line(stop=["a"] * 5, expect={"contains": "ab"}), "more than 4 stops"),
    ],
)
def test_habits(tmp_path, value, what):
    """Each habit is told once, with how many cases have it and the first of them."""
    (said,) = [
        one
        for one in advice(tmp_path, line(expect={"contains": "ab"}), value, value)
        if "one failure" not in one
    ]
    assert said.startswith("2 cases ")
    assert what in said
    assert said.endswith('(first: "c1")')
