"""Two runs side by side: as the command compares them, chosen from the list."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from tests.serve.pages.showing import app_of
from tests.serve.pages.site import Someone

A, B = "daily-5", "20261201-000000-ab12cd"


def said(page) -> str:
    """Give what a page says."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


def test_it_says_what_the_command_says(ask):
    """The finding and the counts are those of the comparison; what changed is named."""
    words = said(ask.get(f"/compare?a={A}&b={B}"))
    assert "The runs do not differ by more than chance explains (p = 1)" in words
    assert "32 cases are in both runs" in words
    assert "case-0040 equals pass reference-fail" in words


def test_a_changed_case_leads_to_its_page(ask):
    """The link is to the case in run B, by its place there."""
    page = ask.get(f"/compare?a={A}&b={B}").text
    address = re.findall(r'href="([^"]+)">case-0040<', page)[0]
    assert "case-0040" in ask.get(address).text


def test_two_runs_chosen_from_the_list_are_a_and_b_by_age(ask):
    """The list has the newest first: the older run is A."""
    page = ask.get(f"/compare?run={B}&run={A}")
    assert page.text == ask.get(f"/compare?a={A}&b={B}").text


@pytest.mark.parametrize("query", [f"run={A}", f"run={A}&run={B}&run=daily-1"])
def test_another_number_of_runs_is_refused(ask, query):
    """One or three chosen runs are a page of 400 that says how many it takes."""
    page = ask.get(f"/compare?{query}")
    assert page.status_code == 400
    assert "Choose two runs" in page.text


def test_other_suites_are_compared_when_asked_for(ask):
    """Runs of two suites are first told apart; their common cases are compared at a click."""
    page = ask.get(f"/compare?a=with-suite-1&b={B}")
    assert "different suites" in page.text
    link = re.findall(r'href="(/compare[^"]+common=1)"', page.text)[0].replace("&amp;", "&")
    assert "121 cases are in both runs" in said(ask.get(link))


def test_nothing_chosen_asks_for_two_runs(ask):
    """Without runs the page is the form alone; one can be chosen ahead."""
    page = ask.get(f"/compare?a={A}").text
    assert f'<option value="{A}" selected>' in page
    assert "Cases that changed" not in page


@pytest.mark.parametrize(("run", "status"), [("none", 404), ("going-1", 409), ("%00", 404)])
def test_runs_that_cannot_be_compared(ask, run, status):
    """An unknown run, and one that has not ended."""
    assert ask.get(f"/compare?a={A}&b={run}").status_code == status


def test_an_empty_folder_has_nothing_to_choose(context):
    """It takes two runs that have ended."""
    page = TestClient(app_of(context, Someone())).get("/compare")
    assert "It takes two runs that have ended." in page.text
