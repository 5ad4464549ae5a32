"""``denv suite``: make suites out of what other tools have, and vary those that there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from denv.cli.completing import recipes
from denv.cli.lazy import LazyGroup
from denv.cli.texts import check_texts

FILE = click.Path(path_type=Path, dir_okay=False)


@click.group(cls=LazyGroup)
def suite() -> None:
    """Make a suite out of another tool's file, or other cases of the same families."""


@suite.command("import")
@click.argument("file", type=FILE, metavar="FILE")
@click.option(
    "--from",
    "form",
    required=True,
    type=click.Choice(["kvv", "promptfoo", "openai-evals", "inspect"]),
    help="What the file is.",
)
@click.option(
    "--out", required=True, metavar="S.jsonl", help="Where the suite goes (- for stdout)."
)
@click.option(
    "--compare",
    type=click.Choice(["match", "includes"]),
    help="How openai-evals compares ideals, as the eval's class says (default: match).",
)
@click.option("--json", "as_json", is_flag=True, help="Write what was left behind as JSON.")
def import_(file: Path, **options: Any) -> int:
    """Turn another tool's file into a suite, and list what could not be carried over.

    Exit codes: 0 something was carried over, 2 usage error, or nothing was.
    """
    from denv.cli.importing import import_command

    check_texts(click.get_current_context())
    import_command(file, **options)
    return 0


@suite.command("vary")
@click.option(
    "--recipe",
    required=True,
    metavar="NAME",
    shell_complete=recipes,
    help="Whose cases are varied.",
)
@click.option(
    "--seed-file",
    required=True,
    type=FILE,
    metavar="F",
    help="File of mode 600 that holds the secret seed.",
)
@click.option(
    "--out", required=True, metavar="P.jsonl", help="Where the private part goes (- for stdout)."
)
def vary(recipe: str, *, seed_file: Path, out: str) -> int:
    """Make other cases of a recipe's families, which nobody can know without the seed.

    The same seed gives the same cases. The file is readable by its owner alone.

    Exit codes: 0 made, 2 usage error, 4 error.
    """
    from denv.cli.varying import vary_command

    check_texts(click.get_current_context())
    vary_command(recipe, seed_file=seed_file, out=out)
    return 0
