"""``denv completion``: the script that has a shell complete denv's commands."""

from __future__ import annotations

import click

from denv.cli.completionscripts import SCRIPTS


@click.command()
@click.argument("shell", type=click.Choice(list(SCRIPTS)))
def completion(shell: str) -> int:
    """Print the script that has a shell complete commands, options, and what is kept.

    What is kept: runs, measurements, rollouts, schedules, alarms; and recipes.

    Exit codes: 0 printed, 2 usage error.
    """
    click.echo(SCRIPTS[shell], nl=False)
    return 0
