"""What a command cannot do without: all that is missing is said at once, with an example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from denv.errors import UsageError

NAMED_BY = {"suite": ("suite", "recipe"), "stage": ("stage_url",), "reference": ("reference_url",)}
"""The options that name each thing; a release or a run to go on with may name all of them."""

WRITTEN = {"suite": "--suite FILE", "stage": "--stage URL", "reference": "--reference URL"}

EXAMPLE = {
    "suite": "--suite core.jsonl",
    "stage": "--stage http://127.0.0.1:8080/v1",
    "reference": "--reference http://127.0.0.1:8081/v1",
}


def check_named(context: click.Context, *needed: str) -> None:
    """Refuse a command line that leaves out what nothing else can name.

    Raises
    ------
    UsageError
        Names everything that is missing, and shows a line that has it.
    """
    missing = list(_missing(context.params, needed))
    if not missing:
        return
    *first, last = (WRITTEN[each] for each in missing)
    names = f"{', '.join(first)} and {last} are" if first else f"{last} is"
    example = " ".join(EXAMPLE[each] for each in needed)
    instead = "a release may name them" if first else "a release may name it"
    raise UsageError(f"{names} missing ({instead}), as in: {context.command_path} {example}")


def _missing(given: Mapping[str, Any], needed: tuple[str, ...]) -> list[str]:
    if any(given.get(name) for name in ("release", "release_file", "resume")):
        return []
    return [each for each in needed if not any(given.get(name) for name in NAMED_BY[each])]
