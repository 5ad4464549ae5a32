"""The report as one page."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tracemalloc
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from denv.report import Report, write_html
from denv.report.chart import rows
from denv.report.html import Bounds
from tests.report import samples

VOID = {"meta", "link", "input", "br", "hr", "img"}
DRAWN = {"path", "line", "circle", "rect"}


class Page(HTMLParser):
    """Elements, attributes and texts of a page, and whether it is well nested."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID | DRAWN:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def text(self, *inside: str) -> str:
        return "".join(text for tag, text in self.texts if not inside or tag in inside)

    def names(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    def attributes(self) -> set[str]:
        return {name for _, attributes in self.elements for name in attributes}


def written(report: Report, **options) -> str:
    stream = io.StringIO()
    write_html(report, stream, **options)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["passing", "failing", "inconclusive", "hostile"])
def test_every_page_is_well_formed(name):
    """Every element is closed in order, ids are unique, and headings skip no level."""
    page = Page(written(getattr(samples, name)()))
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for link in (a["href"] for tag, a in page.elements if tag == "a"):
        assert (link or "")[1:] in ids


def test_nothing_is_injected():
    """The hostile page has no element and no attribute that a harmless page lacks."""
    hostile, harmless = Page(written(samples.hostile())), Page(written(samples.failing()))
    assert hostile.names() <= harmless.names()
    assert hostile.attributes() <= harmless.attributes()
    assert [tag for tag, _ in hostile.elements].count("script") == 1
    assert hostile.text("script") == harmless.text("script")
    assert not {name for name in hostile.attributes() if name.startswith("on")}
    shown = hostile.text()
    for text in ("<script>alert(1)</script>", "{{7*7}} {% raw %} {# x #}", "]]></failure><error/>"):
        assert text in shown
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown
    )


def test_the_page_needs_nothing_else_and_says_so():
    """The policy forbids every source but the page's own style and the script of this hash."""
    page = Page(written(samples.failing()))
    policy = next(a["content"] for t, a in page.elements if t == "meta" and "http-equiv" in a)
    assert policy is not None
    digest = base64.b64encode(hashlib.sha256(page.text("script").encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    for _, attributes in page.elements:
        for name in ("src", "href", "srcset", "action"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:,"))
    assert "url(" not in page.text("style")
    assert "@import" not in page.text("style")


def test_tables_and_picture_speak_to_screen_readers():
    """Each table has a caption and scopes, the picture a title and a description with figures."""
    page = Page(written(samples.failing()))
    tags = [tag for tag, _ in page.elements]
    assert tags.count("caption") == tags.count("table") > 4
    assert all(a.get("scope") in {"col", "row"} for tag, a in page.elements if tag == "th")
    (picture,) = [a for tag, a in page.elements if tag == "svg" and a.get("role") == "img"]
    assert picture["aria-labelledby"] == "chart-title chart-desc"
    assert "exact: 94.8 %, interval 89.3 – 98.7 %, threshold 95 %, fail." in page.text("desc")
    icons = [a for tag, a in page.elements if tag == "svg" and a.get("viewbox") == "0 0 24 24"]
    assert all(icon.get("aria-hidden") == "true" for icon in icons)
    assert {"header", "main", "nav", "footer"} <= set(tags)


def test_the_verdict_opens_the_page():
    """Title and first heading say the verdict; its reasons and what to do follow at once."""
    page = Page(written(samples.failing()))
    assert page.text("title").startswith("Fail · core.jsonl")
    text = page.text("span", "p", "li", "h2")
    places = [text.index(each) for each in (
        "Fail", "The stage does not hold its thresholds.", "exact: 73 of 77 pass",
        "What to do next", "Read the server's log", "Causes of the failures",
    )]  # fmt: skip
    assert places == sorted(places)


def test_everything_a_reader_may_need_is_there():
    """Cases, differences, figures of the check, endpoints, tools, settings and limits are shown."""
    page = Page(written(samples.failing()))
    text = page.text()
    for each in (
        "wavy: not in the reference", '"unit": "celsius"', "No usable answer: HTTP 503",
        "rate-limited", "fp_b7", "arguments-object", "Trigger F1 94.7 %", "SchemaMismatch",
        "llama.cpp b11549, not deterministic", "One answer a case says nothing",
        "regex timed out", "case-0043", "exact: 73 of 80 planned cases passed",
        "·lone", "·gull", "finish reason length", "1,300 + 512 tokens",
    ):  # fmt: skip
        assert each in text
    assert "381" in page.text("mark")
    assert "77" not in page.text("dd")  # what the run adds up is no figure of the check


def test_a_text_that_begins_with_a_line_break_keeps_it():
    """A parser drops the first line break of a pre element; the text's own must remain."""
    kinds = {"exact": samples.kind(1, 0, 1, verdict="fail")}
    case = samples.case(
        0, "fail", stage=samples.side("\nanswer"), reference=samples.side("\nother")
    )
    head = samples.head(verdict="fail", kinds=kinds, causes={"unknown": 1})
    assert ">\n\n<mark>answer</mark>" in written(Report(head, lambda: iter([case])))


def many(cases: int, text: str) -> Report:
    """Give a run in which three of ten cases fail and one of ten cannot be measured."""

    def walk():
        for index in range(cases):
            if index % 10 < 3:
                yield samples.case(index, "fail", stage=samples.side(f"{text}{index}"))
            elif index % 10 == 3:
                yield samples.case(index, "unmeasured", reason=f"reason {index}")
            else:
                yield samples.case(index)

    kind = samples.kind(cases, cases * 6 // 10, cases * 3 // 10, verdict="fail")
    document = samples.head(verdict="fail", kinds={"exact": kind}, causes={"unknown": kind["fail"]})
    return Report(document, walk)


@pytest.mark.slow
def test_a_hundred_thousand_cases_stay_bounded(tmp_path):
    """Memory and page do not grow with the suite; what is left out is counted."""
    path = tmp_path / "report.html"
    tracemalloc.start()
    try:
        write_html(many(100_000, "<b>& "), path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
    assert path.stat().st_size < 10_000_000
    text = path.read_text("utf-8")
    assert text.count('<details class="case"') == 500
    assert "500 of 30,000 are shown in full; the JSON report has all." in text
    named = text.count("<li>case-")
    assert named == 5000
    # 29,500 failing and 10,000 unmeasured cases are not shown in full; 5,000 of them are named
    more = sum(
        int(n.replace(",", "")) for n in re.findall(r">(?:and )?([\d,]+) (?:more|cases); the", text)
    )
    assert named + more == 39_500


def test_long_texts_do_not_swell_the_page():
    """Five hundred failing cases with long texts fit into ten megabytes."""
    report = many(1700, "<&'\"漢 " * 20_000)
    page = written(report)
    assert len(page.encode()) < 10_000_000
    shown = page.count('<details class="case"')
    assert 100 < shown < 500
    assert f"{shown} of 510 are shown in full" in page


def test_the_budget_of_the_page_is_kept():
    """Cases beyond the page's budget are named instead of shown."""
    page = written(many(100, "x"), bounds=Bounds(full=500, full_bytes=10_000))
    shown = page.count('<details class="case"')
    assert 1 <= shown < 30
    assert f"{shown} of 30 are shown in full" in page


@pytest.mark.parametrize("name", ["passing", "failing", "inconclusive"])
def test_the_picture_places_figures_in_order(name):
    """Limits surround the point, and every mark lies within the picture."""
    chart = rows(getattr(samples, name)().head["kinds"])
    for row in chart.rows:
        assert row.kind["pass_rate"] is not None
        assert 0 <= (row.low or -1) <= (row.point or -1) <= (row.high or -1) <= 100


def test_a_kind_of_which_nothing_was_counted_is_said_so():
    """Without a rate there is no mark and no number, but words."""
    kinds = {"exact": samples.kind(10, 0, 0, verdict="inconclusive")}
    page = Page(written(Report(samples.head(verdict="error", kinds=kinds), lambda: iter(()))))
    assert "not measured" in page.text("text")
    assert [
        a for t, a in page.elements if t == "circle" and "cx" in a and "%" in (a["cx"] or "")
    ] == []


def test_a_run_without_any_kind_has_a_page():
    """A run that could not start still says its verdict and reasons."""
    head = samples.head(
        verdict="error", kinds={}, checks={}, reasons=["reference: HTTP 500"], finished=None
    )
    page = Page(written(Report(head, lambda: iter(()))))
    assert "reference: HTTP 500" in page.text()
