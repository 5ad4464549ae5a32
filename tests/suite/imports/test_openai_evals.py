"""Samples of basic evals: ``match`` is a beginning, ``includes`` is to be found."""

import json

import pytest
import regex

from denv.records import Contains, Regex
from denv.suite.imports import read_openai_evals

CHAT = [{"role": "system", "content": "One word."}, {"role": "user", "content": "2+2?"}]


def read(*samples, **options):
    text = "".join(json.dumps(each) + "\n" for each in samples)
    return read_openai_evals(text, source="s.jsonl", **options)


@pytest.mark.parametrize(
    ("ideal", "answer", "passes"),
    [
        ("four", "four.", True),
        ("four", "It is four", False),
        (["4", "four"], "four", True),
        (["4", "four"], "five", False),
        ("4.0", "4x0", False),
    ],
)
def test_match_wants_a_beginning(ideal, answer, passes):
    """The answer begins with one of the ideals, each taken as it stands."""
    (case,) = read({"input": CHAT, "ideal": ideal}).cases
    assert isinstance(case.check, Regex)
    assert (regex.search(case.check.pattern, answer) is not None) is passes


def test_includes_wants_it_anywhere():
    """One ideal is a contains case, several are a regex of either."""
    one, several = read(
        {"input": "2+2?", "ideal": "four"},
        {"input": "2+3?", "ideal": ["5", "five"]},
        comparison="includes",
    ).cases
    assert one.check == Contains("four")
    assert one.fields["messages"] == [{"role": "user", "content": "2+2?"}]
    assert regex.search(several.check.pattern, "It is five")


def test_what_is_no_basic_eval_is_listed():
    """Model-graded samples, empty ideals and lines that are not JSON are left behind."""
    found = read_openai_evals(
        '{"input": "x", "criteria": "funny"}\n{"ideal": "x"}\n{"input": "x", "ideal": []}\n{oops\n',
        source="s.jsonl",
    )
    assert found.cases == ()
    assert [each.where for each in found.leftovers] == [f"s.jsonl:{n}" for n in range(1, 5)]
    assert "it has criteria" in found.leftovers[0].why
    assert found.leftovers[1].why == "has no input"


def test_other_fields_are_counted():
    """A field that the basic evals do not read is told with its count."""
    found = read({"input": "x", "ideal": "y", "source": "me"})
    assert [each.where for each in found.leftovers] == ["s.jsonl: field source, in 1"]
