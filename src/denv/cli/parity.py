"""``denv parity``: run, plan, check, measure, selfcheck, demo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from denv.cli.completing import RUNS, recipes
from denv.cli.lazy import LazyGroup
from denv.cli.sides import side_options
from denv.cli.texts import check_texts
from denv.records import Pacing, Side, Verdict

EXIT_CODES = {
    Verdict.PASS.value: 0,
    Verdict.FAIL.value: 1,
    Verdict.INCONCLUSIVE.value: 3,
    Verdict.ERROR.value: 4,
    Verdict.CANCELLED.value: 130,
}

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)

MOST_TOKENS = 2**31 - 1
"""More than any server counts."""

Command = Callable[..., Any]


@click.group(
    cls=LazyGroup,
    lazy={
        "compare": "denv.cli.compare:compare",
        "gates": "denv.cli.gates:gates",
        "report": "denv.cli.report:report",
        "schedule": "denv.cli.schedule:schedule",
        "verify": "denv.cli.verify:verify",
    },
)
def parity() -> None:
    """Compare a stage with a reference, case by case."""


def suite_options(function: Command) -> Command:
    """Add what names a suite and the thresholds that it is held to."""
    for option in reversed(
        (
            click.option("--suite", type=FILE, metavar="S.jsonl", help="The suite's file."),
            click.option(
                "--recipe",
                metavar="NAME|PATH",
                shell_complete=recipes,
                help="Take all from a recipe instead.",
            ),
            click.option("--release", type=FILE, metavar="R.yaml", help="Take all from a release."),
            click.option(
                "--pass",
                "pass_rates",
                metavar="KIND=RATE,…",
                help="Share of each kind that must pass, as tool-calls=99%,exact=95%.",
            ),
            click.option("--confidence", metavar="95%", help="Ask for proof of the threshold."),
            click.option("--coverage", metavar="90%", help="Least share that must be counted."),
            click.option("--max-retried", metavar="2%", help="Most requests that may be retried."),
            click.option("--repeats", type=click.IntRange(1), metavar="N", help="Ask N times."),
            click.option(
                "--max-tokens",
                type=click.IntRange(1, MOST_TOKENS),
                metavar="N",
                help="For cases without one.",
            ),
            click.option(
                "--stream",
                type=click.Choice(["no", "yes", "both"]),
                help="Compare streamed answers; both: tool cases both ways.",
            ),
        )
    ):
        function = option(function)
    return function


def pace_options(function: Command) -> Command:
    """Add what says how fast and how patiently both sides are asked."""
    for option in reversed(
        (
            click.option(
                "--concurrency",
                type=click.IntRange(1),
                metavar="N",
                help="Requests at once, each side.",
            ),
            click.option("--rate", metavar="N/s", help="Most requests a second, each side."),
            click.option(
                "--retries", type=click.IntRange(0), metavar="N", help="Retries of a request."
            ),
            click.option("--timeout", type=float, metavar="S", help="Seconds for a whole answer."),
        )
    ):
        function = option(function)
    return function


@parity.command()
@suite_options
@side_options(Side.STAGE)
@side_options(Side.REFERENCE)
@pace_options
@click.option(
    "--stage-replica",
    multiple=True,
    metavar="NAME=URL",
    help="Ask the stage's replicas in turn instead of its URL (repeatable).",
)
@click.option(
    "--pace",
    type=click.Choice([each.value for each in Pacing]),
    help="Even gaps at --rate, or gaps of chance, as customers' requests have them.",
)
@click.option(
    "--private",
    type=FILE,
    metavar="P.jsonl",
    help="Ask these cases among the suite's, to see whether the stage knows those.",
)
@click.option(
    "--shapes",
    metavar="FILE|URL",
    help="Give private cases the parameters of traffic, from a router's table of shapes.",
)
@click.option(
    "--stage-permit-file",
    type=click.Path(path_type=Path),
    metavar="F",
    help="The stage is a router: sign permits with this file's secret, for --stage-replica NAME.",
)
@click.option(
    "--stage-permit-env",
    metavar="NAME",
    help="The same, with the secret in an environment variable.",
)
@click.option(
    "--reference-max-age", metavar="24h", help="Use the reference's earlier answers up to this old."
)
@click.option("--fail-fast", is_flag=True, help="Stop when no remaining case could save the run.")
@click.option(
    "--resume",
    metavar="RUN",
    shell_complete=RUNS,
    help="Continue a run; asks only what was not answered.",
)
@click.option("--offline", is_flag=True, help="Send nothing: answers come from earlier runs.")
@click.option("--json", "json_file", metavar="F", help="Write the report as JSON (- for stdout).")
@click.option("--html", "html_file", type=FILE, metavar="F", help="Write it as one web page.")
@click.option("--junit", "junit_file", type=FILE, metavar="F", help="Write it as JUnit XML.")
@click.option(
    "--markdown", "markdown_file", type=FILE, metavar="F", help="Write a CI step summary."
)
@click.option(
    "--step-summary", is_flag=True, help="Append that to the step's summary in GitHub Actions."
)
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def run(**options: Any) -> int:
    """Ask both sides every case of a suite and give a verdict.

    Exit codes: 0 pass, 1 fail, 2 usage error, 3 inconclusive, 4 error, 130 cancelled.
    """
    from denv.cli.running import run_command

    check_texts(click.get_current_context())
    return EXIT_CODES[run_command(options)]


def price_options(function: Command) -> Command:
    """Add the prices of both sides, for what a run would cost."""
    for side in (Side.REFERENCE, Side.STAGE):
        function = click.option(
            f"--{side}-price", metavar="IN/OUT", help=f"Price of a million tokens of the {side}."
        )(function)
    return function


@parity.command()
@suite_options
@price_options
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
def plan(**options: Any) -> int:
    """Say what a run would ask, cost, and be able to show; send nothing."""
    from denv.cli.checking import check_command

    check_texts(click.get_current_context())
    return check_command(options, plan=True)


@parity.command()
@suite_options
@price_options
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
def check(**options: Any) -> int:
    """Validate a suite (or a release and its suite) and say what would run; send nothing."""
    from denv.cli.checking import check_command

    check_texts(click.get_current_context())
    return check_command(options)


@parity.command()
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
@click.option("--all", "whole", is_flag=True, help="Answers and derivations too; takes seconds.")
def selfcheck(*, as_json: bool, whole: bool) -> int:
    """Try every scorer, extractor and normaliser on cases whose right result is known."""
    from denv.cli.checking import selfcheck_command

    return selfcheck_command(as_json=as_json, whole=whole)


@parity.command()
@click.option(
    "--out",
    type=FOLDER,
    default=Path("out"),
    show_default=True,
    metavar="DIR",
    help="Where the pages go.",
)
@click.option("--wheel", type=FILE, metavar="F", help="The model's wheel, if it is on disk.")
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def demo(*, out: Path, wheel: Path | None, store: Path | None) -> int:
    """Run the lab's servers: a faithful stage passes, a damaged one fails.

    Exits 0 when both verdicts are as they must be.
    """
    from denv.cli.demo import demo_command

    return demo_command(out, wheel=wheel, store=store)


@parity.group(
    cls=LazyGroup,
    lazy={
        "all": "denv.cli.measure_all:measure_all",
        "answers": "denv.cli.answers:answers",
        "derivations": "denv.cli.derivations:derivations",
        "tokens": "denv.cli.tokens:tokens",
    },
)
def measure() -> None:
    """Measure both sides more finely than cases can: tokens, answers, derivations."""
