"""The list of runs: its filters, its pages, and runs that have no end."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from tests.report import samples
from tests.serve.pages.keeping import BEGAN, keep
from tests.serve.pages.showing import app_of
from tests.serve.pages.site import Someone


def runs_of(page) -> list[str]:
    """Give the runs of a list, in its order."""
    return re.findall(r'<th scope="row"><a href="/runs/([^"]+)"', page.text)


def test_the_newest_comes_first(ask):
    """Runs stand by when they began, whatever became of them."""
    found = runs_of(ask.get("/runs"))
    assert found[:3] == ["going-1", "stopped-1", "20261201-000000-ab12cd"]
    assert found[-1] == "daily-0"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("verdict=inconclusive", ["limited-1"]),
        ("state=running", ["going-1"]),
        ("state=stopped", ["stopped-1"]),
        ("verdict=fail&suite=" + "ab" * 32, ["20261201-000000-ab12cd"]),
        ("stage=unknown", []),
    ],
)
def test_filters_narrow_the_list(ask, query, expected):
    """Each filter is an address of its own, and they add up."""
    found = runs_of(ask.get(f"/runs?{query}"))
    assert [run for run in found if run != "hostile-1"] == expected


@pytest.mark.parametrize("query", ["verdict=fine", "state=x", "stage=" + "a" * 65, "before=x"])
def test_what_no_run_can_be_is_refused(ask, query):
    """A filter of no meaning is a page of 400 with a sentence, and no empty list."""
    page = ask.get(f"/runs?{query}")
    assert page.status_code == 400
    assert "This cannot be asked" in page.text


def test_unfinished_runs_show_how_far_they_are(ask):
    """A run that goes on, and one that was stopped, count what is done."""
    page = re.sub(r"<[^>]+>", " ", ask.get("/runs").text)
    said = " ".join(page.split())
    assert re.search(r"going-1 release chat-r8 running .* 47 of 120 ", said)
    assert re.search(r"stopped-1 release chat-r8 stopped .* 12 of 120 ", said)


def test_only_runs_that_ended_can_be_compared(ask):
    """What has no result yet cannot be chosen."""
    chosen = re.findall(r'name="run" value="([^"]+)"', ask.get("/runs").text)
    assert "daily-0" in chosen
    assert not {"going-1", "stopped-1"} & set(chosen)


def test_pages_of_the_list_neither_repeat_nor_leave_out(context):
    """Following “Older” gives every run once, also where many began at the same time."""
    for number in range(112):
        started = BEGAN + number // 4
        keep(context.store, _short(), run=f"r{number:03}", started=started)
    client = TestClient(app_of(context, Someone()))
    found: list[list[str]] = []
    path: str | None = "/runs?verdict=pass"
    while path:
        page = client.get(path)
        found.append(runs_of(page))
        following = re.search(r'<a href="([^"]+)" rel="next"', page.text)
        path = following and following[1].replace("&amp;", "&")
    assert [len(each) for each in found] == [50, 50, 12]
    everything = [run for each in found for run in each]
    assert sorted(everything) == [f"r{number:03}" for number in range(112)]
    assert everything[0] == "r111"


def _short():
    report = samples.passing()
    return type(report)(report.head, lambda: iter([samples.case(0)]))


def test_an_empty_list_says_how_to_begin(context):
    """Without any run there is no filter, and the command that makes one."""
    page = TestClient(app_of(context, Someone())).get("/runs")
    assert "No run was made yet." in page.text
    assert "<select" not in page.text
