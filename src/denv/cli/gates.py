"""``denv parity gates``: what the data of both sides can mean at all."""

from __future__ import annotations

from typing import Any

import click

from denv.cli.measureoptions import measure_options, page_option
from denv.cli.naming import check_named
from denv.cli.texts import check_texts
from denv.records import Side

MOST_CONTEXT = 10_000_000
MOST_SAMPLES = 10_000
LEAST_SAMPLES = 20
"""Fewer could not tell a sampler from a greedy choice."""


@click.command()
@measure_options
@page_option
@click.option(
    "--context-tokens",
    type=click.IntRange(100, MOST_CONTEXT),
    default=800,
    show_default=True,
    metavar="N",
    help="About how long the prompt is in which codes are hidden.",
)
@click.option(
    "--samples",
    type=click.IntRange(LEAST_SAMPLES, MOST_SAMPLES),
    default=64,
    show_default=True,
    metavar="N",
    help="One-token samples at temperature 1, each side.",
)
@click.option(
    "--top-p-samples",
    type=click.IntRange(LEAST_SAMPLES, MOST_SAMPLES),
    default=20,
    show_default=True,
    metavar="N",
    help="One-token samples with top_p 0.5, each side.",
)
def gates(**options: Any) -> int:
    """Say which measurements of both sides can mean something, and why others cannot.

    Exit codes: 0 all gates pass, 1 one fails, 2 usage error, 3 one is unknown, 4 error,
    130 cancelled.
    """
    context = click.get_current_context()
    check_texts(context)
    check_named(context, *Side)
    from denv.cli.measuring import measure_command
    from denv.instruments.gates import Gates
    from denv.instruments.selfcheck import run_whole_selfcheck
    from denv.report.gates import page, render

    instrument = Gates(
        run_whole_selfcheck(),
        context_tokens=options["context_tokens"],
        samples=options["samples"],
        top_p_samples=options["top_p_samples"],
    )
    return measure_command(instrument, options, render=render, page=page)
