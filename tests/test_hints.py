"""What only many cases show together: hints that lead a report's advice."""

from __future__ import annotations

import pytest

from denv.hints import Prompts


def said(*prompts):
    """Give the hint on prompts, each (stage, reference, has a system message, has tools)."""
    counted = Prompts()
    for stage, reference, system, tools in prompts:
        counted.add({"stage": stage, "reference": reference, "system": system, "tools": tools})
    return counted.hint()


def test_equal_prompts_need_no_hint():
    """Where all prompts have the same length nothing is said, nor where no length is known."""
    assert said((30, 30, True, False), (118, 118, False, True)) is None
    unknown = Prompts()
    unknown.add(None)
    assert unknown.hint() is None


def test_one_more_token_everywhere_points_at_bos():
    """31 against 30 and 118 against 117 is +1 in all: a beginning token that is doubled."""
    hint = said((31, 30, False, False), (118, 117, True, False))
    assert "2 of 2 cases" in hint
    assert "+1 in all" in hint
    assert "BOS" in hint


def test_offset_without_system_message_points_at_a_default_one():
    """37 against 22 without a system message and 60 against 60 with one: one side adds its own."""
    hint = said((37, 22, False, False), (41, 26, False, False), (60, 60, True, False))
    assert "2 of 3 cases" in hint
    assert "+15" in hint
    assert "a system prompt that one side adds where there is none" in hint


def test_offset_with_tools_points_at_their_rendering():
    """A prompt that is shorter only where there are tools lacks their text."""
    hint = said((25, 140, False, True), (40, 160, False, True), (22, 22, False, False))
    assert "2 of 3 cases" in hint
    assert "how tools are rendered" in hint


@pytest.mark.parametrize("offset", [4, -4])
def test_sides_and_signs(offset):
    """The sign is the stage's count less the reference's."""
    hint = said((30 + offset, 30, False, False), (50 + offset, 50, True, True))
    assert f"{'+' if offset > 0 else '-'}4 in all" in hint.replace("−", "-")
