"""The examples of the page on suites are what it says they are."""

import re
from pathlib import Path

import pytest

from denv.errors import SuiteError
from denv.suite import load_suite

PAGE = (Path(__file__).parents[2] / "docs" / "suites.md").read_text("utf-8")
GOOD = re.findall(r"^```jsonl\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
BAD = re.findall(r"^```jsonl-error\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_has_examples():
    """There is a good and a bad example of each of the five checks."""
    assert len(GOOD) >= 6
    assert len(BAD) >= 5


@pytest.mark.parametrize("example", GOOD)
def test_good_examples_load(tmp_path, example):
    """Every good example is a valid suite."""
    (tmp_path / "s.jsonl").write_text(example, "utf-8")
    assert load_suite(tmp_path / "s.jsonl").cases == example.count("\n")


@pytest.mark.parametrize("example", BAD)
def test_bad_examples_are_refused(tmp_path, example):
    """Every bad example has exactly one thing wrong."""
    (tmp_path / "s.jsonl").write_text(example, "utf-8")
    with pytest.raises(SuiteError) as caught:
        load_suite(tmp_path / "s.jsonl")
    assert len(caught.value.problems) == 1


def test_figures_of_the_page():
    """At 95 % confidence 299 cases without a failure show 99 %, 59 show 95 %, and no fewer do."""
    assert 0.99**299 < 0.05 <= 0.99**298
    assert 0.95**59 < 0.05 <= 0.95**58
