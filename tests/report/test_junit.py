"""The report as JUnit XML."""

from __future__ import annotations

import io
from xml.etree import ElementTree as ET

import pytest

from denv.report import Report, write_junit
from tests.report import samples


def written(report: Report) -> ET.Element:
    stream = io.StringIO()
    write_junit(report, stream)
    return ET.fromstring(stream.getvalue().encode())


@pytest.mark.parametrize("name", ["passing", "inconclusive", "hostile"])
def test_counts_known_up_front_match_the_test_cases(name):
    """The attributes of a suite and of the whole are the numbers of elements in it."""
    root = written(getattr(samples, name)())
    for element in [root, *root.iter("testsuite")]:
        assert int(element.get("tests", "")) == len(list(element.iter("testcase")))
        assert int(element.get("failures", "")) == len(list(element.iter("failure")))
        assert int(element.get("errors", "")) == len(list(element.iter("error")))
        assert int(element.get("skipped", "")) == len(list(element.iter("skipped")))


def test_outcomes_become_what_ci_understands():
    """A failure is one with cause and reason; what was not counted is skipped, with its reason."""
    root = written(samples.failing())
    cases = {case.get("name"): case for case in root.iter("testcase")}
    failure = cases["weather-paris"].find("failure")
    assert failure is not None
    assert failure.get("type") == "parser"
    assert failure.get("message", "").startswith("the arguments are a JSON string")
    assert cases["weather-paris"].get("classname") == "core.jsonl.tool-calls"
    skipped = {name: case.find("skipped") for name, case in cases.items()}
    messages = {name: s.get("message") for name, s in skipped.items() if s is not None}
    assert messages == {
        "case-0040": 'reference-fail: the reference\'s text does not contain "Bern"',
        "case-0041": "unmeasured: regex timed out",
        "case-0042": "reference-error: HTTP 500 after 4 retries",
        "case-0043": "unmeasured: regex timed out",
    }
    assert [suite.get("name") for suite in root.iter("testsuite")] == [
        "core.jsonl.exact",
        "core.jsonl.tool-calls",
        "core.jsonl.logprobs",
    ]


@pytest.mark.parametrize("verdict", ["inconclusive", "fail", "error", "cancelled"])
def test_a_verdict_other_than_pass_is_never_green(verdict):
    """Without a failed case, the verdict itself is an error that names the first reason."""
    report = samples.inconclusive()
    root = written(Report({**report.head, "verdict": verdict}, report.cases))
    error = root.find(".//testcase[@name='verdict']/error")
    assert error is not None
    assert error.get("type") == verdict
    assert "fewer than the coverage" in error.get("message", "")
    assert root.get("errors") == "1"


def test_a_run_that_could_not_start_is_an_error():
    """Without any kind there is still a test case, and it is an error."""
    root = written(Report(samples.head(verdict="error", kinds={}, reasons=[]), lambda: iter(())))
    assert root.get("tests") == root.get("errors") == "1"


def test_a_pass_is_green():
    """A passed run has no failure, error or skipped test."""
    root = written(samples.passing())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("80", "0", "0")
    verdict = root.find(".//property[@name='verdict']")
    assert verdict is not None
    assert verdict.get("value") == "pass"


def test_hostile_texts_stay_texts():
    """No element, attribute or forbidden character comes from the texts."""
    root = written(samples.hostile())
    assert {element.tag for element in root.iter()} == {
        "testsuites", "testsuite", "properties", "property", "testcase",
        "failure", "skipped", "system-out",
    }  # fmt: skip
    names = [case.get("name", "") for case in root.iter("testcase")]
    assert names[0] == "<script>alert(1)</script> 0"
    assert names[3] == "]]></failure><error/> 3"
    assert names[4].startswith(r"\x1b[31mred\x1b[0m \x07 \x00 \x9b2J")
    assert names[5].startswith(r"\u202eevil\u2066")


def test_a_million_characters_are_cut():
    """A long answer is cut, and the cut says how much is missing."""
    root = written(samples.hostile())
    failure = root.find(".//testcase[@name='case-0020']/failure")
    assert failure is not None
    assert "… (999,000 more characters)" in (failure.text or "")
    assert len(failure.text or "") < 3000


def test_a_failure_shows_the_calls_of_both_sides():
    """An answer that is a tool call is not one without text: its calls stand in the failure."""
    root = written(samples.failing())
    failure = root.find(".//testcase[@name='weather-paris']/failure")
    assert failure is not None
    lines = (failure.text or "").splitlines()
    assert lines[1].startswith('stage: calls get_weather "{')
    assert lines[-1] == 'reference: calls get_weather {"city": "Paris", "unit": "celsius"}'
    assert "(no text)" not in (failure.text or "")
