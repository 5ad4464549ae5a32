"""A case's own page: both answers, what was asked, and the failing cases beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

FAILING, SUITE = "/runs/20261201-000000-ab12cd/cases", "/runs/with-suite-1/cases"


def test_both_answers_stand_side_by_side(ask):
    """The words that differ are marked on each side."""
    page = ask.get(f"{FAILING}/0").text
    assert "<mark>381</mark>" in page
    assert "<mark>391</mark>" in page


def test_answers_are_whole(ask):
    """A text that the list of cases cuts is here to its end."""
    cut = "characters are equal and left out"
    assert cut in ask.get("/runs/20261201-000000-ab12cd?cause=limit").text
    page = ask.get(f"{FAILING}/2").text
    assert cut not in page
    assert page.count("ferries leave on the hour") == 40 + 52


def test_the_failing_cases_beside_it_are_linked(ask):
    """The first has only a next one, the last only a previous; one that passed has both near it."""

    def beside(index):
        page = ask.get(f"{FAILING}/{index}").text
        return [int(each) for each in re.findall(r'class="button" href="[^"]*/cases/(\d+)"', page)]

    assert beside(0) == [1]
    assert beside(3) == [2, 4]
    assert beside(5) == [4]
    assert beside(60) == [5]


def test_what_was_asked_comes_from_the_suite(ask):
    """The case's line of the suite is shown: its message and what it expects."""
    page = ask.get(f"{SUITE}/3").text
    assert "number 3;" in page
    assert json.dumps({"contains": "number 3;"}, indent=2).replace('"', "&#34;") in page


def test_a_suite_that_has_changed_shows_nothing(ask, kept):
    """Another file at the place is not what the run asked."""
    path = Path(kept[0].store.get_run("with-suite-1").settings["options"]["suite"])
    asked = path.read_bytes()
    path.write_bytes(asked + b"\n")
    try:
        assert "The suite was changed since this run" in ask.get(f"{SUITE}/3").text
    finally:
        path.write_bytes(asked)


def test_a_run_that_names_no_suite_says_so(ask):
    """Runs over the Python API may say nothing of where their suite is."""
    assert "The run does not say where its suite is." in ask.get(f"{FAILING}/0").text


@pytest.mark.parametrize("index", ["121", "999999999", "9999999999", "x", "-1", "%31%00"])
def test_a_case_that_is_not_there_is_a_page_of_404(ask, index):
    """Beyond the suite, too large for any, and no number at all."""
    assert ask.get(f"{FAILING}/{index}").status_code == 404


def test_no_case_of_an_unknown_run(ask):
    """Without the run there is no case."""
    assert ask.get("/runs/none/cases/0").status_code == 404
