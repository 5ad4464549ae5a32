"""``denv parity measure all``: gates, tokens, answers and derivations as one document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from denv.cli.measureoptions import measure_options, page_option
from denv.cli.naming import check_named
from denv.cli.sides import read
from denv.cli.texts import check_texts
from denv.errors import UsageError
from denv.records import Side

MOST_TOKENS = 1_000_000


@click.command("all")
@measure_options
@page_option
@click.option(
    "--texts",
    type=click.IntRange(1, 10_000),
    default=40,
    show_default=True,
    metavar="N",
    help="Prompts that tokens asks.",
)
@click.option(
    "--items",
    type=click.IntRange(1, 1000),
    default=240,
    show_default=True,
    metavar="N",
    help="Questions that answers asks.",
)
@click.option(
    "--per-template",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    metavar="N",
    help="Problems of each template that derivations asks.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1, MOST_TOKENS),
    metavar="N",
    help="Of each answer of answers and derivations, instead of 1024 and 4096.",
)
@click.option(
    "--confidence", default="95%", show_default=True, metavar="95%", help="Of the whole; 95% on."
)
@click.option("--force", is_flag=True, help="Measure even what the gates do not admit.")
def measure_all(**options: Any) -> int:
    """Ask the gates, then measure tokens, answers and derivations; one verdict for all.

    Exit codes: 0 faithful, 1 different, 2 usage error, 3 undecided, 4 error, 130 cancelled.
    """
    context = click.get_current_context()
    check_texts(context)
    check_named(context, *Side)
    return measure_all_command(options)


def measure_all_command(options: Mapping[str, Any]) -> int:
    """Build the instruments from the options, and measure."""
    from denv.cli.measuring import measure_command
    from denv.instruments.gates import Gates
    from denv.instruments.measure_all import All
    from denv.instruments.selfcheck import run_whole_selfcheck
    from denv.report.measure_all import page, render
    from denv.runner.proving import KillableOracle

    with KillableOracle() as oracle:
        instrument = All(
            gates=Gates(run_whole_selfcheck()),
            looks=_looks(options, oracle),
            alpha=_alpha(options["confidence"]),
            force=options["force"],
        )
        return measure_command(instrument, options, render=render, page=page)


def _looks(options: Mapping[str, Any], oracle: Any) -> dict[str, Any]:
    from denv.instruments.answers import Answers
    from denv.instruments.derivations.instrument import Derivations
    from denv.instruments.tokens import Tokens

    limit = {} if options["max_tokens"] is None else {"max_tokens": options["max_tokens"]}
    looks: dict[str, Any] = {
        "tokens": Tokens(texts=options["texts"], force=options["force"]),
        "answers": Answers(items=options["items"], force=options["force"], **limit),
        "derivations": Derivations(
            oracle, per_template=options["per_template"], force=options["force"], **limit
        ),
    }

    def admitted(name: str) -> Any:
        return lambda gates, alpha: replace(looks[name], gates=gates, alpha=alpha)

    return {name: admitted(name) for name in looks}


def _alpha(text: str) -> float:
    from denv.release import parse_share

    confidence = read("--confidence", parse_share, text)
    if not 0 < confidence < 1:
        raise UsageError("--confidence: must lie between 0 % and 100 %")
    if 1 - confidence > 0.05:
        raise UsageError(f"--confidence {text}: must be at least 95 %")
    return float(1 - confidence)
