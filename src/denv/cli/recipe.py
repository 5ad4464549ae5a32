"""``denv recipe``: list, show and check the bundles of model families."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from denv.cli.completing import recipes
from denv.cli.lazy import LazyGroup

AS_JSON = click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")


@click.group(cls=LazyGroup)
def recipe() -> None:
    """Look at recipes: a model family's suite, golden prompts, thresholds and settings."""


@recipe.command(name="list")
@AS_JSON
def list_recipes(*, as_json: bool) -> None:
    """Name the recipes that are shipped, and those of other installed packages.

    Exit codes: 0 listed, those that are broken on standard error.
    """
    from denv.cli.recipeview import row_of
    from denv.errors import UsageError
    from denv.recipes import load_all, named

    recipes, broken = load_all()
    problems = [each.problem for each in broken]
    rows = []
    for each in recipes:
        try:
            rows.append(row_of(each))
        except UsageError as error:
            problems.append(named(each.name, each.origin, str(error)))
    if as_json:
        _write({"recipes": rows, "broken": problems})
    else:
        for row in rows:
            _print_row(row)
    for problem in problems:
        for line in problem.split("\n"):
            click.echo(line, err=True)


@recipe.command()
@click.argument("name", metavar="NAME|PATH", shell_complete=recipes)
@AS_JSON
def show(name: str, *, as_json: bool) -> None:
    """Show all of one recipe, and what its number of cases can prove.

    Exit codes: 0 shown, 2 a file cannot be read.
    """
    from denv.cli.recipeview import lines_of, view_of
    from denv.recipes import load

    view = view_of(load(name))
    if as_json:
        _write(view)
    else:
        click.echo("\n".join(lines_of(view)))


@recipe.command()
@click.argument("name", metavar="NAME|PATH", shell_complete=recipes)
@AS_JSON
def check(name: str, *, as_json: bool) -> int:
    """Check that a recipe is complete: each case passes its right answer and fails its wrong one.

    Exit codes: 0 nothing is wrong, 1 something is, 2 a file cannot be read.
    """
    from denv.cli.recipeview import check_view
    from denv.recipes import load
    from denv.runner.recipes import check_recipe

    found = check_recipe(load(name))
    if as_json:
        _write(check_view(found))
    else:
        for problem in found.problems:
            click.echo(problem)
        verdict = "nothing is wrong" if found.passed else f"{len(found.problems)} problems"
        click.echo(
            f"{found.recipe.name}: {found.cases} cases, {found.golden} golden prompts, "
            f"{len(found.rehearsed)} answered rightly and wrongly: {verdict}"
        )
    return 0 if found.passed else 1


def _print_row(row: Mapping[str, Any]) -> None:
    extra = f", extra {row['extra']}" if row["extra"] else ""
    origin = "" if row["origin"] == "shipped" else f" ({row['origin']})"
    click.echo(
        f"{row['name']}{origin}: {row['cases']} cases, {row['golden']} golden prompts{extra}"
    )
    click.echo(f"  {row['description']}")
    if row["models"]:
        click.echo(f"  for {', '.join(row['models'])}")


def _write(document: Mapping[str, Any]) -> None:
    from denv.report.text import escaped

    click.echo(escaped(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)))
