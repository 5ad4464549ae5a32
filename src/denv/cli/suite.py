"""``denv suite``: make suites out of what other tools have, and vary those that there are."""

from __future__ import annotations

import click

from denv.cli.lazy import LazyGroup


@click.group(
    cls=LazyGroup,
    lazy={"import": "denv.cli.importing:import_", "vary": "denv.cli.varying:vary"},
)
def suite() -> None:
    """Make a suite out of another tool's file, or other cases of the same families."""
