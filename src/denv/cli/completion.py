"""``denv completion``: the script that has a shell complete denv's commands."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_DENV_COMPLETE"
"""What the script sets when it asks; click's own name for it."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> int:
    """Print the script that completes commands, options, runs, rollouts, schedules and recipes.

    Exit codes: 0 printed, 2 usage error.
    """
    from click.shell_completion import get_completion_class

    from denv.cli import denv
    from denv.errors import HarnessError

    made = get_completion_class(shell)
    if made is None:
        raise HarnessError(f"this version of click has no script for {shell}")
    click.echo(made(denv, {}, "denv", VARIABLE).source())
    return 0
