"""A recipe's check finds what is missing, and cases that do not tell right from wrong."""

import pytest

from denv.errors import UsageError
from denv.records import Cause, Outcome
from denv.runner.recipes import check_recipe
from tests.recipes.folders import YAML, answers_of, colours, make_recipe
from tests.suites import line


def problems(folder, **parts):
    return check_recipe(make_recipe(folder / "small", **parts)).problems


def test_a_complete_recipe_has_no_problem(tmp_path):
    """Each case passes its right answer and fails its wrong one."""
    found = check_recipe(make_recipe(tmp_path / "small"))
    assert found.passed
    assert (found.cases, found.golden, len(found.rehearsed)) == (12, 10, 12)
    assert {each.right.outcome for each in found.rehearsed} == {Outcome.PASS}
    assert {each.failure for each in found.rehearsed} == {Cause.UNKNOWN}


def test_a_right_answer_that_fails_is_told(tmp_path):
    """The outcome is told with its reason."""
    answers = answers_of(colours())
    answers[0]["right"] = {"content": "rot"}
    (told,) = problems(tmp_path, answers=answers)
    assert told.startswith("red: the right answer does not pass: reference-fail")


def test_a_wrong_answer_that_passes_is_told(tmp_path):
    """A wrong answer must fail: one that passes or is not measured is a problem."""
    answers = answers_of(colours())
    answers[1]["wrong"] = answers[1]["right"]
    assert problems(tmp_path, answers=answers) == ("blue: the wrong answer does not fail: pass",)


def test_answers_and_cases_match(tmp_path):
    """A case without answers, and answers without a case, are told by their ids."""
    answers = answers_of(colours())
    answers[0]["id"] = "rde"
    assert problems(tmp_path, answers=answers) == (
        "red: no answers",
        "answers.jsonl: no case has the id 'rde'",
    )


def test_a_recipe_without_answers_or_enough_golden_prompts_is_told(tmp_path):
    """Answers and ten golden prompts belong to a recipe."""
    yaml = YAML.replace("answers: answers.jsonl\n", "").replace("golden: golden.jsonl\n", "")
    assert [each.partition(",")[0].partition(":")[0] for each in problems(tmp_path, yaml=yaml)] == [
        "0 golden prompts",
        "no answers",
    ]


def test_twins_are_told(tmp_path):
    """Cases that ask the same, or the same but for numbers, are told with the first of them."""
    cases = [
        *colours(),
        line("red-again", "Say red.", {"equals": "red"}),
        line("sum-1", "Add 1 and 2.", {"equals": "3"}),
        line("sum-2", "Add 11 and 2.", {"equals": "13"}),
    ]
    assert problems(tmp_path, cases=cases) == (
        "red-again: asks the same as red",
        'sum-2: differs in numbers alone from sum-1, and not both are tagged "generated"',
    )
    for case in cases[-2:]:
        case["tags"] = ["generated"]
    assert problems(tmp_path, cases=cases) == ("red-again: asks the same as red",)


def test_a_golden_prompt_is_the_case_of_its_id(tmp_path):
    """The same id in both files must be the same case."""
    golden = colours()[:10]
    golden[0] = {**golden[0], "max_tokens": 9}
    assert problems(tmp_path, golden=golden) == (
        "red: stands in the suite too, but is another case there",
    )


@pytest.mark.parametrize(
    ("yaml", "told"),
    [
        (YAML.replace("pass: {exact: 90%}\n", ""), "no thresholds"),
        (YAML + "confidence: 95%\n", "exact: 12 cases cannot prove the threshold"),
        (YAML.replace("exact", "tool-calls"), "tool-calls"),
    ],
)
def test_thresholds_must_be_there_and_provable(tmp_path, yaml, told):
    """No thresholds, too few cases for the confidence, and a kind that is not there are told."""
    assert any(told in each for each in problems(tmp_path, yaml=yaml))


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    """What is wrong within a file is no finding but a usage error with its line."""
    with pytest.raises(UsageError, match=r"suite\.jsonl:1: expect: missing"):
        problems(tmp_path, cases=[{"id": "a", "messages": []}], answers=[])
