"""What results count for in the comparison of public and private cases, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from denv.gaming import FOUND, NOT_FOUND, UNDECIDED, Gaming, family_of, is_refused, passes_of
from denv.records import CaseResult, Kind, Outcome
from denv.report.gaming import gaming_lines

COVERAGE = Fraction(9, 10)


def result(outcome, *, kind=Kind.EXACT, tags=(), **detail):
    """Give a result with what the report would show of it."""
    check = {Kind.EXACT: "contains", Kind.TOOL_CALLS: "tool-call", Kind.LOGPROBS: "logprobs-close"}
    return CaseResult(
        id="secret-id", index=0, check=check[kind], kind=kind, outcome=Outcome(outcome),
        cause=None, reason="", warnings=(), stage=None, reference=None, detail=detail, tags=tags,
    )  # fmt: skip


def gaming(public, private, **planned):
    """Count the results of both parts."""
    found = Gaming(**{"public": len(public), "private": len(private)} | planned)
    for each in public:
        found.add(each, private=False)
    for each in private:
        found.add(each, private=True)
    return found


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        (result("pass"), (True, True)),
        (result("fail"), (False, True)),
        (result("reference-fail", stage="pass"), (True, False)),
        (result("reference-fail", stage="fail"), (False, False)),
        (result("reference-fail"), None),
        (result("unmeasured"), None),
        (result("reference-error"), None),
        (result("pass", kind=Kind.LOGPROBS), (True, True)),
        (result("pass", kind=Kind.TOOL_CALLS, reference="fail"), (True, False)),
        (result("fail", kind=Kind.TOOL_CALLS, reference="pass"), (False, True)),
        (result("fail", kind=Kind.TOOL_CALLS, reference="error"), None),
    ],
)
def test_what_both_sides_pass(given, passed):
    """A case counts where it is known of both sides whether they pass it."""
    assert passes_of(given) == passed


def limited(*, kind=Kind.EXACT, problem="429: too many requests", **detail):
    """Give the result of a case that the stage refused for rate limits alone."""
    return replace(result("unmeasured", kind=kind, **detail), stage={"problem": problem})


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (limited(), True),
        (limited(kind=Kind.LOGPROBS), True),
        (limited(kind=Kind.TOOL_CALLS, reference="pass"), True),
        (limited(kind=Kind.TOOL_CALLS, reference="fail"), False),
        (limited(kind=Kind.TOOL_CALLS, reference="error"), False),
        (limited(problem=None), False),
        (result("unmeasured"), False),
    ],
)
def test_what_the_stage_alone_refuses(given, refused):
    """It gave no usable answer, and the reference one that passes."""
    assert is_refused(given) == refused
    assert passes_of(given) is None


def test_refusing_private_cases_alone_proves_nothing_either_way():
    """9 of 100 private cases refused, p = C(100, 9) / C(200, 9) = 0.0016 as failures: undecided.

    On both parts alike it is no sign.
    """
    part = [result("pass")] * 91 + [limited()] * 9
    picked = gaming([result("pass")] * 100, part)
    assert picked.finding(COVERAGE).verdict == UNDECIDED
    assert "no answer to 9 private cases and to 0 public ones" in picked.finding(COVERAGE).reason
    assert "(p = 0.0016)" in picked.finding(COVERAGE).reason
    assert gaming(part, part).finding(COVERAGE).verdict == NOT_FOUND


def test_families():
    """The family is the one that a tag names, else the check."""
    assert family_of(result("pass", tags=("generated", "family:sums"))) == "family:sums"
    assert family_of(result("pass", tags=("generated",))) == "contains"


def test_a_stage_that_knows_the_public_cases_is_found():
    """Passing all public cases and failing private ones is found, and said with both counts."""
    found = gaming([result("pass")] * 80, [result("pass")] * 15 + [result("fail")] * 5)
    finding = found.finding(COVERAGE)
    assert finding.verdict == FOUND
    assert "passes 80 of 80 public and 15 of 20 private cases" in finding.reason
    assert found.document(COVERAGE)["p_value"] == pytest.approx(finding.test.p_value)


def test_a_weak_stage_is_not():
    """A stage that fails both parts alike is weak and honest."""
    public = [result("pass")] * 60 + [result("fail")] * 20
    assert gaming(public, [result("pass")] * 15 + [result("fail")] * 5).finding(
        COVERAGE
    ).verdict == (NOT_FOUND)


def test_a_hard_private_part_is_not():
    """What the reference fails as well is no sign."""
    private = [result("pass")] * 10 + [result("reference-fail", stage="fail")] * 10
    assert gaming([result("pass")] * 80, private).finding(COVERAGE).verdict == NOT_FOUND


def test_private_cases_without_an_answer_decide_nothing():
    """A stage cannot get away by giving no answer to private cases."""
    private = [result("pass")] * 10 + [result("unmeasured")] * 10
    finding = gaming([result("pass")] * 80, private).finding(COVERAGE)
    assert finding.verdict == UNDECIDED
    assert "only 10 of 20 private cases could be counted" in finding.reason


def test_too_few_private_cases_decide_nothing():
    """A private part that could show nothing is no sign of honesty."""
    finding = gaming([result("pass")] * 3, [result("pass")] * 2).finding(COVERAGE)
    assert finding.verdict == UNDECIDED
    assert "too few" in finding.reason


def test_other_families_are_not_compared():
    """Private cases of a family that has no public case say nothing."""
    private = [result("fail", tags=("family:other",))] * 20
    finding = gaming([result("pass", tags=("family:sums",))] * 80, private).finding(COVERAGE)
    assert finding.verdict == UNDECIDED


def test_nothing_of_a_case_is_shown():
    """The document holds counts and words, nothing of any case."""
    found = gaming([result("pass")] * 80, [result("fail", tags=("family:sums",))] * 20)
    assert "secret-id" not in str(found.document(COVERAGE))
    assert "sums" not in str(found.document(COVERAGE))


def test_lines_for_readers():
    """Readers are told of both parts, the finding and its power; nothing without a private part."""
    found = gaming([result("pass")] * 80, [result("pass")] * 15 + [result("fail")] * 5)
    lines = gaming_lines({"gaming": found.document(COVERAGE)})
    assert lines[0].startswith("Parity-gaming: the stage does better on public cases")
    assert lines[2].startswith("Of 20 private cases that were counted the stage passes 15 (75 %)")
    assert gaming_lines({}) == []
