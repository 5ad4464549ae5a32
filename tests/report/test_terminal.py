"""The report on a terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from denv.report import Report, print_report
from tests.report import samples


def printed(report: Report, *, terminal: bool = False, width: int = 100) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=terminal)
    print_report(report, console, {"json": "out/[red]report.json"})
    return stream.getvalue()


@pytest.mark.parametrize("name", ["passing", "failing", "inconclusive", "hostile"])
def test_nothing_but_text_where_there_is_no_terminal(name):
    """Redirected output holds no colour, no control character and no change of direction."""
    text = printed(getattr(samples, name)())
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text
    )


def test_texts_are_no_markup_and_no_escapes_on_a_terminal():
    """On a terminal the only escapes are colours of our own."""
    text = printed(samples.hostile(), terminal=True, width=200)
    assert set(re.findall("\x1b[^m]*m", text)) <= {
        "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[3m",
    }  # fmt: skip
    plain = re.sub("\x1b[^m]*m", "", text)
    assert "[red]markup[/red] :smile:" in plain
    assert r"\x1b[31mred\x1b[0m \x07 \x00 \x9b2J" in plain
    assert r"\u202eevil\u2066 \u200b" in plain
    assert "out/[red]report.json" in plain


def test_verdict_and_reasons_come_first():
    """The first lines say the verdict and what decided."""
    lines = printed(samples.failing()).splitlines()
    assert lines[0].startswith("FAIL  The stage does not hold its thresholds.")
    assert "exact: 73 of 77 pass" in lines[1]
    text = "\n".join(lines)
    row = next(each for each in lines if each.split()[:1] == ["exact"])
    assert row.split() == [
        "exact",
        "80",
        "73",
        "4",
        "3",
        "94.8",
        "%",
        "89.3",
        "–",
        "98.7",
        "%",
        "95",
        "%",
        "fail",
    ]
    assert "Tool arguments come as an object" in text
    assert "One answer a case says nothing" in text
    assert "out/[red]report.json" in text


def test_only_the_first_ten_failing_cases_are_listed():
    """A long list is cut, and its title says how many there are."""
    kinds = {"exact": samples.kind(30, 0, 30, verdict="fail")}
    head = samples.head(verdict="fail", kinds=kinds, causes={"unknown": 30})
    text = printed(Report(head, lambda: (samples.case(i, "fail") for i in range(30))))
    assert "Failing cases (10 of 30)" in text
    assert "case-0009" in text
    assert "case-0010" not in text


@pytest.mark.parametrize("width", [40, 60, 80])
def test_narrow_terminals_lose_no_figure(width):
    """At any usual width no line is wider than the terminal, and the verdict is whole."""
    text = printed(samples.failing(), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert text.startswith("FAIL")
    joined = " ".join(text.split())
    for figure in ("94.8 %", "89.3 – 98.7 %", "99 %", "ungated"):
        assert figure in joined
