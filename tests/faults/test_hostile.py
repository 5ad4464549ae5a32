"""Hostile answers and patterns: one case costs bounded time, and reports show text as text."""

from __future__ import annotations

import io
import json
import time
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from denv.errors import SuiteError
from denv.observe import observe
from denv.records import Side
from denv.report import print_report, write_html, write_junit, write_markdown
from denv.suite import load_suite
from tests import suites
from tests.faults.rows import exchange, faults, tries
from tests.faults.serving import by_messages
from tests.stubs import answers

FAULTS = faults()
HOSTILE = [one for one in tries() if one.id.startswith("d-hostile-eval/")]


async def test_run_goes_on_after_a_pattern_without_end(serve, run):
    """A pattern that backtracks without end costs its own case a second, and no other."""
    endless = [one for one in tries() if one.id == "d-redos/without end"]
    after = [json.dumps(line) for line in suites.numbered(20)]
    stuck, echo = by_messages(endless, Side.STAGE), answers.echo()
    calm = by_messages(endless, Side.REFERENCE)

    def side(first):
        def handler(request, n):
            asked = request["messages"] == endless[0].line["messages"]
            return first(request, n) if asked else echo(request, n)

        return handler

    started = time.monotonic()
    _, document = await run(
        [endless[0].suite_line, *after], await serve(side(stuck)), await serve(side(calm))
    )
    assert time.monotonic() - started < 30
    outcomes = [case["outcome"] for case in document["cases"]]
    assert outcomes == ["unmeasured"] + ["pass"] * 20


@pytest.mark.parametrize(
    "unit",
    ["<tool_call>{}</tool_call>", '{"name":', "<think>", "[TOOL_CALLS]", "{" * 50, '{"a":{"b":'],
)
def test_our_own_patterns_are_linear(unit):
    """Reading two megabytes of half-finished markers takes no more than a moment."""
    text = unit * (2_000_000 // len(unit)) + "<tool_call>{"
    message = {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}
    given = exchange({"body": message}, streamed=False)
    started = time.process_time()
    assert observe(given).text == text
    assert time.process_time() - started < 3


@pytest.mark.parametrize("number", FAULTS["d-tiny-relative"]["suite_numbers"])
def test_suites_hold_no_number_that_is_none(tmp_path, number):
    """What is not finite, or beyond what can be sent, is refused with its line."""
    line = json.dumps(
        suites.line("n", "?", {"tool-call": {"name": "f", "arguments": {"x": "@"}}}, tools=[])
    )
    path = tmp_path / "suite.jsonl"
    path.write_text(line.replace('"@"', number) + "\n", "utf-8")
    with pytest.raises(SuiteError, match=r"suite\.jsonl:1"):
        load_suite(path)


# ---------------------------------------------------------------- reports


@pytest.fixture
async def report(serve, run):
    """Report a run with hostile answers that fail, and the same ones expected."""
    stage = await serve(by_messages(HOSTILE, Side.STAGE))
    reference = await serve(by_messages(HOSTILE, Side.REFERENCE))
    found, document = await run([one.suite_line for one in HOSTILE], stage, reference)
    assert document["kinds"]["exact"]["pass"] == document["kinds"]["exact"]["fail"] == 4
    return found


def written(write, report):
    stream = io.StringIO()
    write(report, stream)
    return stream.getvalue()


async def test_no_report_obeys_an_answer(report):
    """No script reaches the page, no control character a terminal; templates stay text."""
    shown = io.StringIO()
    print_report(report, Console(file=shown, width=200, force_terminal=True))
    page = written(write_html, report)
    assert "<script>alert(1)" not in page
    assert "{{7*7}}" in page
    texts = [shown.getvalue(), page, written(write_junit, report)]
    texts.append(written(write_markdown, report))
    assert not any("\x1b[2J" in text for text in texts)


async def test_junit_stays_xml(report):
    """Control characters and markup in answers leave the JUnit file well formed."""
    root = ET.fromstring(written(write_junit, report))
    assert int(root.attrib["failures"]) >= 4
