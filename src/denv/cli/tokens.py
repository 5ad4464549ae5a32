"""``denv parity measure tokens``: texts of the reference, forced through the stage."""

from __future__ import annotations

from typing import Any

import click

from denv.cli.judging import read_gates
from denv.cli.measureoptions import measure_options, page_option
from denv.cli.naming import check_named
from denv.cli.parity import FILE
from denv.cli.texts import check_texts
from denv.errors import UsageError
from denv.records import Side

MOST_TEXTS = 10_000
MOST_TOKENS = 100_000
MOST_ALTERNATIVES = 1000
PATHS = ("auto", "prompt-logprobs", "stepwise", "assistant-prefill")


@click.command()
@measure_options
@page_option
@click.option(
    "--texts",
    type=click.IntRange(1, MOST_TEXTS),
    default=40,
    show_default=True,
    metavar="N",
    help="Prompts of the bank that are asked.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1, MOST_TOKENS),
    default=64,
    show_default=True,
    metavar="N",
    help="Tokens of each answer that are looked at.",
)
@click.option("--categories", metavar="A,B,…", help="Take prompts of these alone.")
@click.option(
    "--path",
    type=click.Choice(PATHS),
    default="auto",
    show_default=True,
    help="How texts are forced.",
)
@click.option(
    "--top",
    type=click.IntRange(2, MOST_ALTERNATIVES),
    default=100,
    show_default=True,
    metavar="N",
    help="Alternatives of each token, where the server gives so many.",
)
@click.option("--margin-kl", type=float, metavar="NATS", help="What KL counts as a difference.")
@click.option("--margin-tv", type=float, metavar="SHARE", help="The same for total variation.")
@click.option("--confidence", default="95%", show_default=True, metavar="95%", help="Of intervals.")
@click.option("--gates", type=FILE, metavar="F.json", help="A document of denv parity gates.")
@click.option("--force", is_flag=True, help="Measure even where the gates do not admit it.")
def tokens(**options: Any) -> int:
    """Force the reference's greedy texts through the stage and compare each next token.

    Exit codes: 0 faithful, 1 different, 2 usage error, 3 undecided, 4 error, 130 cancelled.
    """
    context = click.get_current_context()
    check_texts(context)
    check_named(context, *Side)
    return tokens_command(options)


def tokens_command(options: dict[str, Any]) -> int:
    """Build the instrument from the options, and measure."""
    from denv.cli.measuring import measure_command
    from denv.cli.sides import read
    from denv.instruments.tokens import Margins, Tokens
    from denv.release import parse_share
    from denv.report.tokens import page, render

    confidence = read("--confidence", parse_share, options["confidence"])
    if not 0 < confidence < 1:
        raise UsageError("--confidence: must lie between 0 % and 100 %")
    margins = Margins(
        kl=_positive("--margin-kl", options["margin_kl"], most=None),
        total_variation=_positive("--margin-tv", options["margin_tv"], most=1.0),
    )
    instrument = Tokens(
        texts=options["texts"],
        max_tokens=options["max_tokens"],
        categories=_categories(options["categories"]),
        path=options["path"],
        top=options["top"],
        margins=margins,
        alpha=float(1 - confidence),
        gates=None if options["gates"] is None else read_gates(options["gates"]),
        force=options["force"],
    )
    return measure_command(instrument, options, render=render, page=page)


def _categories(text: str | None) -> tuple[str, ...] | None:
    from denv.instruments.bank import CATEGORIES

    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in CATEGORIES:
            raise UsageError(
                f"--categories: no category {name!r}; there are {', '.join(CATEGORIES)}"
            )
    return names


def _positive(option: str, value: float | None, *, most: float | None) -> float | None:
    if value is None:
        return None
    if not 0 < value < float("inf") or (most is not None and value > most):
        limit = "" if most is None else f", at most {most:g}"
        raise UsageError(f"{option} is {value:g}, it must be a number above 0{limit}")
    return value
