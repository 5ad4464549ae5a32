"""``denv parity measure derivations``: problems of several steps, to both sides."""

from __future__ import annotations

from typing import Any

import click

from denv.cli.judging import read_rule, rule_options
from denv.cli.measureoptions import measure_options, page_option
from denv.cli.naming import check_named
from denv.cli.texts import check_texts
from denv.errors import UsageError
from denv.records import Side

MOST_OF_A_TEMPLATE = 20
MOST_TOKENS = 1_000_000


@click.command()
@measure_options
@page_option
@click.option(
    "--per-template",
    type=click.IntRange(1, MOST_OF_A_TEMPLATE),
    default=3,
    show_default=True,
    metavar="N",
    help="Problems of each template, the same for both sides.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=20_250,
    show_default=True,
    metavar="N",
    help="Draws the problems.",
)
@click.option("--fields", metavar="A,B,…", help="Take problems of these fields alone.")
@click.option(
    "--max-tokens",
    type=click.IntRange(1, MOST_TOKENS),
    default=4096,
    show_default=True,
    metavar="N",
    help="Of each answer; one that it cuts off is not wrong.",
)
@rule_options
def derivations(**options: Any) -> int:
    """Ask both sides the same derivations and compare what they get right.

    Exit codes: 0 faithful, 1 different, 2 usage error, 3 undecided, 4 error, 130 cancelled.
    """
    context = click.get_current_context()
    check_texts(context)
    check_named(context, *Side)
    return derivations_command(options)


def derivations_command(options: dict[str, Any]) -> int:
    """Build the instrument from the options, and measure with an oracle that can be killed."""
    from denv.cli.measuring import measure_command
    from denv.instruments.derivations.instrument import Derivations
    from denv.report.derivations import page, render
    from denv.runner.proving import KillableOracle

    fields = _fields(options["fields"])
    with KillableOracle() as oracle:
        instrument = Derivations(
            oracle,
            per_template=options["per_template"],
            seed=options["seed"],
            fields=fields,
            max_tokens=options["max_tokens"],
            **read_rule(options),
        )
        try:
            instrument.items()
        except ValueError as error:
            raise UsageError(f"--per-template: {error}") from None
        return measure_command(instrument, options, render=render, page=page)


def _fields(text: str | None) -> tuple[str, ...]:
    """Give the fields in the bank's order, whatever order they are named in."""
    from denv.instruments.derivations import FIELDS

    if text is None:
        return FIELDS
    names = {name.strip() for name in text.split(",")}
    for name in sorted(names):
        if name not in FIELDS:
            raise UsageError(f"--fields: no field {name!r}; there are {', '.join(FIELDS)}")
    return tuple(field for field in FIELDS if field in names)
