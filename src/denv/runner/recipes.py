"""A recipe checked whole, without a server: its files, its answers, and what it can prove."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from denv.errors import UsageError
from denv.instruments.rehearsal import Rehearsed, rehearse
from denv.power import power_of
from denv.recipes import Answers, Recipe, load_answers
from denv.records import Case, Json, Kind, Thresholds
from denv.runner.searching import KillableSearch
from denv.runner.settings import Settings
from denv.suite import Suite, load_suite
from denv.suite.twins import find_twins
from denv.verdict import check_thresholds, effective_rates

MIN_GOLDEN = 10


@dataclass(frozen=True, slots=True)
class RecipeCheck:
    """What a check found: sentences of what is wrong, and how each case went."""

    recipe: Recipe
    cases: int
    golden: int
    rehearsed: tuple[Rehearsed, ...] = ()
    problems: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def check_recipe(recipe: Recipe) -> RecipeCheck:
    """Check that a recipe is complete, and that each case tells right from wrong.

    Raises
    ------
    UsageError
        A file of it cannot be read as what it is; the message names file, line and field.
    """
    suite = load_suite(recipe.suite)
    golden = None if recipe.golden is None else load_suite(recipe.golden)
    answers = {} if recipe.answers is None else load_answers(recipe.answers)
    cases, problems = _all_cases(suite, golden)
    problems += _golden_problems(golden)
    problems += _twin_problems(cases)
    problems += _threshold_problems(recipe, suite)
    problems += _answer_problems(recipe, cases, answers)
    rehearsed = _rehearsed(recipe, cases, answers)
    problems += [f"{each.id}: {what}" for each in rehearsed for what in each.problems]
    return RecipeCheck(
        recipe, suite.cases, golden.cases if golden else 0, rehearsed, tuple(problems)
    )


def thresholds_of(recipe: Recipe) -> Thresholds:
    """Give what a run of the recipe is held to."""
    return Thresholds(rates=recipe.thresholds, confidence=recipe.confidence)


def powers_of(recipe: Recipe, suite: Suite) -> Mapping[Kind, Mapping[str, Json]]:
    """Say of each kind with a threshold what the suite's number of cases can show of it."""
    thresholds = thresholds_of(recipe)
    rates = effective_rates(thresholds, suite.kinds)
    return {
        kind: power_of(count, rates[kind], confidence=thresholds.confidence)
        for kind, count in suite.kinds.items()
        if kind in rates
    }


def _all_cases(suite: Suite, golden: Suite | None) -> tuple[list[Case], list[str]]:
    """Give every case once; a golden prompt with the id of a case must be that case."""
    known = {case.id: case for case in suite}
    problems = []
    for case in golden or ():
        first = known.setdefault(case.id, case)
        if (first.fields, first.check) != (case.fields, case.check):
            problems.append(f"{case.id}: stands in the suite too, but is another case there")
    return list(known.values()), problems


def _golden_problems(golden: Suite | None) -> Iterator[str]:
    found = golden.cases if golden else 0
    if found < MIN_GOLDEN:
        yield f"{found} golden prompts, at least {MIN_GOLDEN} are needed"


def _twin_problems(cases: list[Case]) -> Iterator[str]:
    for twin in find_twins(cases):
        how = "asks the same as" if twin.same else "differs in numbers alone from"
        hint = "" if twin.same else ', and not both are tagged "generated"'
        yield f"{twin.id}: {how} {twin.first}{hint}"


def _threshold_problems(recipe: Recipe, suite: Suite) -> Iterator[str]:
    thresholds = thresholds_of(recipe)
    if not recipe.thresholds:
        yield "no thresholds: write pass: { … }"
    try:
        check_thresholds(thresholds, suite.kinds)
    except UsageError as error:
        yield str(error)
        return
    for kind, power in powers_of(recipe, suite).items():
        needed = power["cases_for_confidence"]
        if needed is not None and power["cases"] < needed:
            yield (
                f"{kind}: {power['cases']} cases cannot prove the threshold at this confidence, "
                f"not even with every case passed: {needed} are needed"
            )


def _answer_problems(
    recipe: Recipe, cases: list[Case], answers: Mapping[str, Answers]
) -> Iterator[str]:
    if recipe.answers is None:
        yield "no answers: write answers: answers.jsonl, with a right and a wrong one a case"
        return
    ids = {case.id for case in cases}
    yield from (f"{case.id}: no answers" for case in cases if case.id not in answers)
    name = Path(recipe.answers).name
    yield from (f"{name}: no case has the id {each!r}" for each in answers if each not in ids)


def _rehearsed(
    recipe: Recipe, cases: list[Case], answers: Mapping[str, Answers]
) -> tuple[Rehearsed, ...]:
    limit = recipe.max_tokens or Settings().max_tokens
    with closing(KillableSearch()) as search:
        return tuple(
            rehearse(case, answers[case.id], search=search, max_tokens=limit)
            for case in cases
            if case.id in answers
        )
