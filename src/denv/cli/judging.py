"""What commands share that judge pairs of answers: the margin, the level, and the gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from denv.cli.parity import FILE
from denv.cli.sides import read
from denv.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def rule_options(function: F) -> F:
    """Add what decides the verdict on pairs of answers."""
    for option in reversed(
        (
            click.option(
                "--margin",
                default="5%",
                show_default=True,
                metavar="5%",
                help="Difference of the shares of right answers that matters.",
            ),
            click.option(
                "--confidence",
                default="95%",
                show_default=True,
                metavar="95%",
                help="Of the verdict and of every interval; at least 95%.",
            ),
            click.option(
                "--gates", type=FILE, metavar="F.json", help="A document of denv parity gates."
            ),
            click.option("--force", is_flag=True, help="Measure even where they do not admit it."),
        )
    ):
        function = option(function)
    return function


def read_rule(options: Mapping[str, Any]) -> dict[str, Any]:
    """Give margin, level and gates as instruments take them.

    Raises
    ------
    UsageError
        Names the option.
    """
    from denv.instruments.paired.judging import MAX_ALPHA, MAX_MARGIN

    alpha = 1 - _share("--confidence", options["confidence"])
    if alpha > Fraction(str(MAX_ALPHA)):
        raise UsageError(f"--confidence {options['confidence']}: must be at least 95 %")
    gates = None if options["gates"] is None else read_gates(options["gates"])
    margin = _share("--margin", options["margin"])
    if margin > MAX_MARGIN:
        raise UsageError(f"--margin {options['margin']}: must be at most 10 %")
    return {
        "margin": float(margin),
        "alpha": float(alpha),
        "gates": gates,
        "force": options["force"],
    }


def read_gates(path: Path) -> Mapping[str, Any]:
    """Read a document of the gates.

    Raises
    ------
    UsageError
        Where the file is none.
    """
    from denv.cli.measuring import read_document
    from denv.instruments.admission import GATES_SCHEMA

    document = read_document("--gates", path)
    if document.get("schema") != GATES_SCHEMA:
        raise UsageError(f"--gates {path}: not a document of {GATES_SCHEMA}")
    admissible = document.get("admissible")
    if not isinstance(admissible, dict) or not all(
        isinstance(v, bool) for v in admissible.values()
    ):
        raise UsageError(f"--gates {path}: admissible: not what denv parity gates writes")
    return document


def _share(option: str, text: str) -> Fraction:
    from denv.release import parse_share

    found = read(option, parse_share, text)
    if not 0 < found < 1:
        raise UsageError(f"{option} {text}: must lie between 0 % and 100 %")
    return found
