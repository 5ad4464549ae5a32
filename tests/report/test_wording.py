"""What a reader is told to do next."""

from __future__ import annotations

import pytest

from denv.report.wording import next_steps
from tests.report import samples

RESUME = "--resume 20261129-223811-ab12cd"


@pytest.mark.parametrize("verdict", ["inconclusive", "error", "cancelled"])
@pytest.mark.parametrize("unanswered", [0, 1, 1200])
def test_resume_is_advised_where_it_would_ask(verdict, unanswered):
    """Resuming is advised exactly where some case would be asked, with their number."""
    steps = next_steps(samples.head(verdict=verdict, unanswered=unanswered))
    told = [step for step in steps if RESUME in step]
    assert bool(told) is (unanswered > 0)
    number = {1: "the 1 case that has no answer", 1200: "the 1,200 cases that have no answer"}
    assert all(number[unanswered] in step for step in told)


@pytest.mark.parametrize("verdict", ["pass", "fail", "inconclusive", "error", "cancelled"])
def test_hints_come_first(verdict):
    """What many cases show stands before all else, whatever the verdict."""
    steps = next_steps(samples.head(verdict=verdict, hints=["one", "two"]))
    assert steps[:2] == ["one", "two"]
    assert "Nothing has to be done" not in " ".join(steps)


def test_a_plain_pass_needs_nothing():
    """A pass without a hint asks for nothing."""
    assert next_steps(samples.head())[0].startswith("Nothing has to be done.")


def test_failures_of_a_kind_without_a_threshold():
    """A pass names the failures that decided nothing, and the rates that would hold all kinds."""
    kinds = {
        "exact": samples.kind(80, 79, 1, threshold=0.985),
        "tool-calls": samples.kind(3, 1, 2, threshold=None, verdict="ungated"),
        "logprobs": samples.kind(5, 5, 0, threshold=None, verdict="ungated"),
    }
    steps = next_steps(samples.head(kinds=kinds))
    assert "2 of 3 tool-calls cases fail" in steps[0]
    assert "--pass exact=98.5%,tool-calls=95%" in steps[0]
    assert not any("Nothing has to be done" in step or "logprobs" in step for step in steps)


def test_no_threshold_at_all():
    """Where no kind is held to anything, the option that would do it is named."""
    ungated = samples.kind(10, 9, 1, threshold=None, verdict="ungated")
    steps = next_steps(samples.head(verdict="inconclusive", kinds={"logprobs": ungated}))
    assert steps == ["No kind has a threshold: give --pass logprobs=95%."]


def test_too_few_cases():
    """Where all were counted, only more cases can prove more; else those not counted are named."""
    assert "add cases" in next_steps(samples.head(verdict="inconclusive"))[0]
    some = samples.kind(80, 20, 0, verdict="inconclusive")
    steps = next_steps(samples.head(verdict="inconclusive", kinds={"exact": some}))
    assert "not counted" in steps[0]
