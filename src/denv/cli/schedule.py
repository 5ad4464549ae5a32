"""``denv parity schedule``: add, list, show, pause, resume, trigger, remove."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from denv.cli.completing import SCHEDULES
from denv.cli.lazy import LazyGroup
from denv.cli.parity import FILE, FOLDER
from denv.cli.temporal import temporal_options
from denv.cli.texts import check_texts
from denv.rollout.schedules.timing import FailAlarm, Overlap

STORE = click.option(
    "--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME."
)
NAME = click.argument("name", metavar="NAME", shell_complete=SCHEDULES)
JSON = click.option("--json", "as_json", is_flag=True, help="Write it as JSON.")


@click.group(cls=LazyGroup)
def schedule() -> None:
    """Run parity again and again, and tell drift of the stage from drift of the reference."""


@schedule.command()
@NAME
@click.option("--release", type=FILE, required=True, metavar="R.yaml", help="What is run.")
@click.option("--cron", metavar="'M H D M W'", help="When, in five fields.")
@click.option("--timezone", metavar="ZONE", help="Of --cron, as Europe/Berlin; left out: UTC.")
@click.option("--every", metavar="6h", help="How often, instead of --cron.")
@click.option("--jitter", metavar="5m", help="Begin up to so much later, at random.")
@click.option(
    "--overlap",
    type=click.Choice([each.value for each in Overlap]),
    default=Overlap.SKIP.value,
    show_default=True,
    help="What a slot does while the run before it goes on.",
)
@click.option(
    "--catch-up",
    metavar="1h",
    default="1h",
    show_default=True,
    help="How late a slot may still begin after an outage.",
)
@click.option("--sentinel-every", metavar="30m", help="A cheap look so often between full runs.")
@click.option(
    "--sentinel-tokens",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    metavar="N",
    help="What each side may write for such a look.",
)
@click.option(
    "--false-alarm-every",
    metavar="365d",
    default="365d",
    show_default=True,
    help="Mean time between two alarms that chance alone raises.",
)
@click.option(
    "--fail-alarm",
    type=click.Choice([each.value for each in FailAlarm]),
    default=FailAlarm.POOLED.value,
    show_default=True,
    help="Alarm when all runs together fail a threshold, or with each failing run.",
)
@JSON
@temporal_options
@STORE
def add(**options: Any) -> int:
    """Begin a schedule. The release, its suite and golden prompts are fixed now.

    Exit codes: 0 begun, 2 usage error, 4 error.
    """
    from denv.cli.scheduling import add_command

    check_texts(click.get_current_context())
    return add_command(options)


@schedule.command("list")
@JSON
@STORE
def list_(*, as_json: bool, store: Path | None) -> int:
    """List the schedules with their last runs.

    Exit codes: 0 listed, 4 error.
    """
    from denv.cli.scheduling import list_command

    return list_command(as_json=as_json, store=store)


@schedule.command()
@NAME
@click.option("--picture", type=FILE, metavar="F.svg", help="Draw the history to a file.")
@click.option(
    "--most",
    type=click.IntRange(1, 100_000),
    default=20,
    show_default=True,
    metavar="N",
    help="How many of the latest firings are shown; a picture has all full runs.",
)
@JSON
@temporal_options
@STORE
def show(**options: Any) -> int:
    """Show the next times, the history, what the detectors know, and the last drift.

    Exit codes: 0 shown, 2 usage error, 4 error.
    """
    from denv.cli.scheduling import show_command

    check_texts(click.get_current_context())
    return show_command(options)


@schedule.command()
@NAME
@click.option("--note", required=True, metavar="TEXT", help="Why; it is shown.")
@temporal_options
@STORE
def pause(**options: Any) -> int:
    """Let a schedule rest. Slots of a pause are not missed.

    Exit codes: 0 it rests, 2 usage error, 4 error.
    """
    from denv.cli.scheduling import pause_command

    check_texts(click.get_current_context())
    return pause_command(options)


@schedule.command()
@NAME
@temporal_options
@STORE
def resume(**options: Any) -> int:
    """Let a paused schedule go on with its next slot.

    Exit codes: 0 it goes on, 2 usage error, 4 error.
    """
    from denv.cli.scheduling import resume_command

    check_texts(click.get_current_context())
    return resume_command(options)


@schedule.command()
@NAME
@click.option(
    "--new-baseline", is_flag=True, help="What both sides say now is what later runs compare with."
)
@temporal_options
@STORE
def trigger(**options: Any) -> int:
    """Make a full run now, out of turn.

    Exit codes: 0 the run is asked for, 2 usage error, 4 error.
    """
    from denv.cli.scheduling import trigger_command

    check_texts(click.get_current_context())
    return trigger_command(options)


@schedule.command()
@NAME
@temporal_options
@STORE
def remove(**options: Any) -> int:
    """Remove a schedule; its runs and its history stay.

    Exit codes: 0 removed, 2 usage error, 4 error.
    """
    from denv.cli.scheduling import remove_command

    check_texts(click.get_current_context())
    return remove_command(options)
