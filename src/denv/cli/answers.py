"""``denv parity measure answers``: integer questions whose truth is known, to both sides."""

from __future__ import annotations

from typing import Any

import click

from denv.cli.judging import read_rule, rule_options
from denv.cli.measureoptions import measure_options, page_option
from denv.cli.naming import check_named
from denv.cli.texts import check_texts
from denv.errors import UsageError
from denv.records import Side

MOST_ITEMS = 1000
MOST_TOKENS = 1_000_000


@click.command()
@measure_options
@page_option
@click.option(
    "--items",
    type=click.IntRange(1, MOST_ITEMS),
    default=240,
    show_default=True,
    metavar="N",
    help="Questions of the bank, the same for both sides.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=20_250,
    show_default=True,
    metavar="N",
    help="Draws the questions.",
)
@click.option(
    "--condition",
    type=click.Choice(["both", "forced", "unsure"]),
    default="both",
    show_default=True,
    help="Ask for an integer, or allow UNSURE too.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1, MOST_TOKENS),
    default=1024,
    show_default=True,
    metavar="N",
    help="Of each answer; one that it cuts off is not wrong.",
)
@rule_options
def answers(**options: Any) -> int:
    """Ask both sides the same integer questions and compare what they get right.

    Exit codes: 0 faithful, 1 different, 2 usage error, 3 undecided, 4 error, 130 cancelled.
    """
    context = click.get_current_context()
    check_texts(context)
    check_named(context, *Side)
    return answers_command(options)


def answers_command(options: dict[str, Any]) -> int:
    """Build the instrument from the options, and measure."""
    from denv.cli.measuring import measure_command
    from denv.instruments.answers import Answers, Condition, items
    from denv.report.answers import page, render

    chosen = options["condition"]
    try:
        items(options["seed"], count=options["items"])
    except ValueError as error:
        raise UsageError(f"--items: {error}") from None
    instrument = Answers(
        items=options["items"],
        seed=options["seed"],
        conditions=tuple(Condition) if chosen == "both" else (Condition(chosen),),
        max_tokens=options["max_tokens"],
        **read_rule(options),
    )
    return measure_command(instrument, options, render=render, page=page)
