"""A run's page: what it says of the verdict, and its cases by filter and page."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import Engine, event
from starlette.testclient import TestClient

from denv.report import Report
from tests.report import samples
from tests.serve.pages.keeping import keep
from tests.serve.pages.showing import app_of
from tests.serve.pages.site import Someone

FAILING = "/runs/20261201-000000-ab12cd"


def cases_of(page) -> list[str]:
    """Give the ids of the cases that are listed."""
    return re.findall(r'<code class="id">([^<]+)</code>', page.text)


def test_the_verdict_comes_with_its_reasons_and_what_to_do(ask):
    """The page says what the report says, in its words."""
    page = ask.get(FAILING)
    assert "The stage does not hold its thresholds." in page.text
    assert "exact: 73 of 77 pass (94.8 %), below the threshold of 95 %" in page.text
    assert "compare the chat templates first" in page.text
    assert "run 7 of 7 with this suite against this stage" in page.text


def test_every_part_of_the_report_is_there(ask):
    """Rates, causes, tool calls, endpoints, settings and limits have their sections."""
    page = ask.get(FAILING).text
    for name in ("rates", "causes", "cases", "tools", "endpoints", "settings", "limits"):
        assert f'<h2 id="{name}">' in page


def test_downloads_are_those_of_the_api(ask):
    """The forms of the report lead to the API."""
    page = ask.get(FAILING).text
    for end in ("json", "html", "xml", "md"):
        assert f'href="/api/v1{FAILING}/report.{end}"' in page


def test_only_who_may_act_is_shown_how_to_publish(kept):
    """A caller who may only read sees no action."""
    for role, shown in (("run", True), ("read", False)):
        page = TestClient(app_of(kept[0], Someone(role))).get(FAILING)
        assert ("/published/new?run=" in page.text) is shown


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["arithmetic-17x23", "weather-paris", "long-summary", "logprobs-haiku",
              "timeouts-under-load", "système-français"]),
        ("?outcome=unmeasured", ["case-0041", "case-0043"]),
        ("?outcome=reference-error", ["case-0042"]),
        ("?cause=parser", ["weather-paris"]),
        ("?outcome=fail&cause=unknown&check=contains", ["arithmetic-17x23"]),
        ("?outcome=pass&check=regex", []),
    ],
)  # fmt: skip
def test_cases_are_filtered(ask, query, expected):
    """Outcome, cause and check narrow the list; without any the failing ones are shown."""
    assert cases_of(ask.get(FAILING + query)) == expected


def test_all_cases_come_in_pages(ask):
    """121 cases are three pages in the suite's order, none twice."""
    found: list[int] = []
    path: str | None = f"{FAILING}?outcome=all"
    while path:
        page = ask.get(path)
        found.append(len(cases_of(page)))
        following = re.search(r'<a href="([^"]+)" rel="next"', page.text)
        path = following and FAILING + following[1].replace("&amp;", "&")
    assert found == [50, 50, 21]


@pytest.mark.parametrize(
    "query", ["outcome=x", "cause=x", "after=-1", "after=x", "check=" + "x" * 65]
)
def test_what_no_case_can_be_is_refused(ask, query):
    """A filter of no meaning is a page of 400."""
    assert ask.get(f"{FAILING}?{query}").status_code == 400


def test_a_run_under_way_shows_its_progress(ask):
    """There is no verdict, and the bar says how many cases have a result."""
    page = ask.get("/runs/going-1").text
    assert "47 of 120 cases have a result" in page
    assert re.search(r'<progress id="progress" max="120" value="47">', page)
    assert "/published/new" not in page


def test_a_stopped_run_says_how_to_go_on(ask):
    """The command's option names the run."""
    assert "--resume stopped-1" in ask.get("/runs/stopped-1").text


def test_an_unknown_run_is_not_there(ask):
    """It is a page of 404, for an odd name too."""
    assert ask.get("/runs/none").status_code == 404
    assert ask.get("/runs/%00").status_code == 404


def test_hostile_answers_act_on_nothing(ask):
    """No tag and no control character of an answer is in the page."""
    page = ask.get("/runs/hostile-1?outcome=all").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_a_page_reads_as_much_of_a_long_run_as_of_a_short_one(context):
    """The number of queries, and of cases that are read, does not grow with the run."""
    read = {}
    for number in (60, 600):
        cases = [samples.case(index, "fail" if index % 2 else "pass") for index in range(number)]
        keep(context.store, _of(cases), run=f"of-{number}")
        client = TestClient(app_of(context, Someone()))
        client.get(f"/runs/of-{number}")
        statements: list[str] = []

        def note(connection, cursor, statement, *_, said=statements):
            said.append(statement)

        event.listen(Engine, "before_cursor_execute", note)
        page = client.get(f"/runs/of-{number}")
        event.remove(Engine, "before_cursor_execute", note)
        read[number] = len(statements)
        assert len(cases_of(page)) == min(50, number // 2)
    assert read[60] == read[600] <= 15


def _of(cases):
    return Report(samples.failing().head, lambda: iter(cases))
