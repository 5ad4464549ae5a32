"""What only many cases show together: hints that lead a report's advice."""

from __future__ import annotations

import pytest

from denv.hints import HELP, Prompts
from denv.records import CaseResult, Kind, Outcome, Thresholds, Verdict
from denv.tally import Tally
from denv.verdict import judge


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


def test_only_what_differs_is_blamed():
    """Both halves may differ by constants of their own: then neither is named as the cause."""
    hint = said((37, 22, False, False), (64, 60, True, False), (66, 62, True, False))
    assert "3 of 3 cases (stage - reference: +15 in 1 without a system message, +4 in 2" in hint
    assert "points at" not in hint


def test_offsets_without_a_pattern_are_a_range():
    """Where nothing separates the offsets, their range is all that is said."""
    hint = said((30, 33, False, False), (42, 30, False, False), (30, 30, False, False))
    assert "2 of 3 cases (stage - reference: -3 to +12)" in hint
    assert "points at" not in hint


def result(outcome, reason="", **detail):
    """Give the result of an exact case."""
    return CaseResult(
        id="c", index=0, check="regex", kind=Kind.EXACT, outcome=Outcome(outcome), cause=None,
        reason=reason, warnings=(), stage=None, reference=None, detail=detail,
    )  # fmt: skip


def hints_of(*results):
    """Give the hints and the verdict of a run of these cases, all of which were planned."""
    tally = Tally({"regex": len(results)})
    for each in results:
        tally.add(each)
    judgement = judge(tally.kinds(), thresholds=Thresholds())
    return tally.document(judgement)["hints"], judgement.verdict


def test_a_reference_that_fails_its_own_cases():
    """More than half failing on the reference is told though the rest passes; half is not."""
    hints, verdict = hints_of(result("pass"), *[result("reference-fail")] * 99)
    assert verdict is Verdict.PASS
    assert hints == [
        "99 of 100 exact cases fail on the reference: look at the suite or the reference."
    ]
    assert hints_of(result("pass"), result("reference-fail"))[0] == []


@pytest.mark.parametrize(("requests", "retried", "told"), [(10, 2, 0), (10, 3, 1), (150, 3, 0)])
def test_many_retries(requests, retried, told):
    """At least 3 retried requests that are more than 2 % of a side's are worth a look."""
    took = {"reference": {"requests": requests, "retried": retried}}
    hints, _ = hints_of(result("pass", exchanges=took))
    assert len(hints) == told
    assert all(f"{retried} of {requests} requests to the reference" in hint for hint in hints)


def test_unmeasured_cases_are_helped_only_where_they_keep_a_run_from_its_verdict():
    """What helps is said of an inconclusive run, the most frequent first."""
    slow = result("unmeasured", "on the reference: regex timed out")
    cut = result("unmeasured", "both sides truncated at max_tokens 8: not found: 'x'")
    hints, verdict = hints_of(result("pass"), cut, slow, slow)
    assert verdict is Verdict.INCONCLUSIVE
    assert hints == [
        f"2 cases unmeasured (regex timed out): {HELP['regex timed out']}.",
        f"1 case unmeasured (both sides truncated): {HELP['both sides truncated']}.",
    ]
    assert hints_of(*[result("pass")] * 99, slow)[0] == []


def test_unanswered_cases():
    """Only cases that are not counted for want of an answer are asked again."""
    tally = Tally({"regex": 9})
    tally.add(result("pass", unanswered=["reference"]))
    tally.add(result("unmeasured", "regex timed out"))
    assert tally.unanswered == 0
    tally.add(result("reference-error", unanswered=["reference"]))
    tally.add(result("unmeasured", "rate-limited: HTTP 429", unanswered=["stage"]))
    assert tally.unanswered == 2
