"""``denv parity``: run, plan, check, measure, selfcheck, demo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from denv.cli.completing import RUNS, recipes
from denv.cli.lazy import LazyGroup
from denv.cli.naming import check_named
from denv.cli.sides import side_options
from denv.cli.texts import check_texts
from denv.encode import DEFAULT_MAX_TOKENS
from denv.records import Endpoint, Pacing, Side, Thresholds, Verdict

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

SIDE, HELD = Endpoint(url=""), Thresholds()
"""What holds where nothing else is said."""

Command = Callable[..., Any]


@click.group(
    cls=LazyGroup,
    lazy={
        "compare": (
            "denv.cli.compare:compare",
            "Set two runs side by side: which cases changed, and whether the stages differ.",
        ),
        "gates": (
            "denv.cli.gates:gates",
            "Say which measurements of both sides can mean something, and why others cannot.",
        ),
        "report": (
            "denv.cli.report:report",
            "Show a run that has ended, the latest if none is named; write and publish its report.",
        ),
        "schedule": (
            "denv.cli.schedule:schedule",
            "Run parity again and again, and tell drift of the stage from drift of the reference.",
        ),
        "verify": (
            "denv.cli.verify:verify",
            "Check a public report: its signature, its files, its page, and its suite.",
        ),
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
                help="Share of each kind that must pass, as tool-calls=99%,exact=95%; left out: "
                "all of these two.",
            ),
            click.option("--confidence", metavar="95%", help="Ask for proof of the threshold."),
            click.option(
                "--coverage",
                metavar="90%",
                help=f"Least share that must be counted; left out: {float(HELD.coverage):.0%}.",
            ),
            click.option(
                "--max-retried",
                metavar="2%",
                help=f"Most requests that may be retried; left out: {float(HELD.max_retried):.0%}.",
            ),
            click.option(
                "--repeats",
                type=click.IntRange(1),
                metavar="N",
                help="Ask each case N times; left out: 1.",
            ),
            click.option(
                "--max-tokens",
                type=click.IntRange(1, MOST_TOKENS),
                metavar="N",
                help="For cases that name none; left out: the recipe's, else "
                f"{DEFAULT_MAX_TOKENS}.",
            ),
            click.option(
                "--stream",
                type=click.Choice(["no", "yes", "both"]),
                help="Compare streamed answers; both: tool cases both ways; left out: no.",
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
                help=f"Requests at once, each side; left out: {SIDE.concurrency}.",
            ),
            click.option(
                "--rate",
                metavar="N/s",
                help="Most requests a second, each side; left out: no limit.",
            ),
            click.option(
                "--retries",
                type=click.IntRange(0),
                metavar="N",
                help=f"Retries of a request; left out: {SIDE.retries}.",
            ),
            click.option(
                "--timeout",
                type=float,
                metavar="S",
                help=f"Seconds for a whole answer; left out: {SIDE.timeouts.total_s:g}.",
            ),
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
    help="Even gaps at --rate, or gaps of chance, as customers' requests have them; "
    "left out: even.",
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

    What is left out comes from the release, then from the recipe, then is as each option says.

    Exit codes: 0 pass, 1 fail, 2 usage error, 3 inconclusive, 4 error, 130 cancelled.
    """
    context = click.get_current_context()
    check_texts(context)
    check_named(context, "suite", *Side)  # before the imports, which take longer
    from denv.cli.running import run_command

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
    """Say what a run would ask, cost, and be able to show; send nothing.

    Exit codes: 0 shown, 2 usage error.
    """
    context = click.get_current_context()
    check_texts(context)
    check_named(context, "suite")
    from denv.cli.checking import check_command

    return check_command(options, plan=True)


@parity.command()
@suite_options
@price_options
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
def check(**options: Any) -> int:
    """Validate a suite (or a release and its suite) and say what would run; send nothing.

    Exit codes: 0 all is well, 2 usage error, or something is wrong.
    """
    context = click.get_current_context()
    check_texts(context)
    check_named(context, "suite")
    from denv.cli.checking import check_command

    return check_command(options)


@parity.command()
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
@click.option("--all", "whole", is_flag=True, help="Answers and derivations too; takes seconds.")
def selfcheck(*, as_json: bool, whole: bool) -> int:
    """Try every scorer, extractor and normaliser on cases whose right result is known.

    Exit codes: 0 each is right, 4 one is not.
    """
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

    Exit codes: 0 both verdicts are as they must be, 2 usage error, 4 one is not, 130 cancelled.
    """
    from denv.cli.demo import demo_command

    return demo_command(out, wheel=wheel, store=store)


@parity.group(
    cls=LazyGroup,
    lazy={
        "all": (
            "denv.cli.measure_all:measure_all",
            "Ask the gates, then measure tokens, answers and derivations; one verdict for all.",
        ),
        "answers": (
            "denv.cli.answers:answers",
            "Ask both sides the same integer questions and compare what they get right.",
        ),
        "derivations": (
            "denv.cli.derivations:derivations",
            "Ask both sides the same derivations and compare what they get right.",
        ),
        "tokens": (
            "denv.cli.tokens:tokens",
            "Force the reference's greedy texts through the stage and compare each next token.",
        ),
    },
)
def measure() -> None:
    """Measure both sides more finely than cases can: tokens, answers, derivations."""
