"""Runs against scripted servers: a recipe's right answers pass whole, its wrong ones fail."""

import pytest

from denv.recipes import load
from denv.report import validate
from tests.recipes.folders import make_recipe
from tests.recipes.scripted import run_scripted


async def test_right_answers_pass_and_name_the_recipe(tmp_path):
    """Every case of the lab's own recipe passes; the report names recipe and digest."""
    recipe = load("smollm2")
    report = await run_scripted(recipe, tmp_path)
    validate(report)
    assert report["verdict"] == "pass"
    assert {case["outcome"] for case in report["cases"]} == {"pass"}
    assert report["recipe"] == recipe.label


async def test_one_wrong_answer_fails_one_case(tmp_path):
    """What is answered wrongly fails, and nothing else."""
    recipe = make_recipe(tmp_path / "small")
    report = await run_scripted(recipe, tmp_path / "home", wrong={"blue"})
    assert [case["id"] for case in report["cases"] if case["outcome"] == "fail"] == ["blue"]


async def test_unknown_cases_are_a_slip_of_the_test(tmp_path):
    """A wrong answer for a case that has none is refused."""
    with pytest.raises(AssertionError, match="no answers for"):
        await run_scripted(make_recipe(tmp_path / "small"), tmp_path, wrong={"none"})
