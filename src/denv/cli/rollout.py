"""``denv rollout``: start, status, list, promote, rollback, cancel, override."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from denv.cli.completing import ROLLOUTS
from denv.cli.lazy import LazyGroup
from denv.cli.parity import FILE, FOLDER
from denv.cli.temporal import temporal_options
from denv.cli.texts import check_texts

STORE = click.option(
    "--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME."
)
BY = click.option("--by", metavar="NAME", help="Who says so; left out: the user's name.")
ID = click.argument("rollout", required=False, metavar="[ID]", shell_complete=ROLLOUTS)


@click.group(cls=LazyGroup)
def rollout() -> None:
    """Take a release to its stage batch by batch; take it back when it is not faithful."""


@rollout.command()
@click.argument("release", type=FILE, metavar="R.yaml")
@click.option("--wait", is_flag=True, help="Wait for the end and show the way there.")
@click.option("--json", "json_file", metavar="F", help="Write the rollout as JSON (- for stdout).")
@temporal_options
@STORE
def start(**options: Any) -> int:
    """Start the rollout of a release; one that is under way on the stage is taken back first.

    Exit codes: 0 started (with --wait: promoted), 1 rolled back or refused, 2 usage error, 3 not
    proven, 4 error, 130 cancelled or superseded. When --wait is interrupted the rollout goes on.
    """
    from denv.cli.rolling import start_command

    check_texts(click.get_current_context())
    return start_command(options)


@rollout.command()
@ID
@click.option("--follow", is_flag=True, help="Go on until the rollout ends.")
@click.option("--json", "as_json", is_flag=True, help="Write it as JSON.")
@STORE
def status(rollout: str | None, *, follow: bool, as_json: bool, store: Path | None) -> int:
    """Show where a rollout stands, what it waits for, and each decision; the latest without ID.

    Reads the data alone, so it answers while the engine is down.

    Exit codes: 0 promoted or under way, 1 rolled back or refused, 2 usage error, 3 held or not
    proven, 4 error, 130 cancelled or superseded.
    """
    from denv.cli.rolling import status_command

    return status_command(rollout, follow=follow, as_json=as_json, store=store)


@rollout.command("list")
@click.option("--stage", metavar="URL", help="Only those of this stage.")
@click.option("--active", is_flag=True, help="Only those that have not ended.")
@click.option("--json", "as_json", is_flag=True, help="Write them as JSON.")
@STORE
def list_(*, stage: str | None, active: bool, as_json: bool, store: Path | None) -> int:
    """List the rollouts, the newest first.

    Exit codes: 0 listed, 2 usage error, 4 error.
    """
    from denv.cli.rolling import list_command

    return list_command(stage=stage, active=active, as_json=as_json, store=store)


@rollout.command()
@ID
@BY
@temporal_options
@STORE
def promote(**options: Any) -> int:
    """End the bake of a proven batch now; nothing is promoted without its proof.

    Exit codes: 0 the rollout was told, 2 usage error, 4 error.
    """
    from denv.cli.rolling import word_command

    check_texts(click.get_current_context())
    return word_command("promote", options)


@rollout.command()
@ID
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is shown in the log.")
@BY
@temporal_options
@STORE
def rollback(**options: Any) -> int:
    """Take the release back, or try an incomplete rollback again.

    Exit codes: 0 the rollout was told, 2 usage error, 4 error.
    """
    from denv.cli.rolling import word_command

    check_texts(click.get_current_context())
    return word_command("rollback", options)


@rollout.command()
@ID
@BY
@temporal_options
@STORE
def cancel(**options: Any) -> int:
    """Cancel a rollout; what it has changed is taken back.

    Exit codes: 0 the rollout was told, 2 usage error, 4 error.
    """
    from denv.cli.rolling import word_command

    check_texts(click.get_current_context())
    return word_command("cancel", options)


@rollout.command()
@click.argument("rollout", metavar="ID", shell_complete=ROLLOUTS)
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is shown in the log.")
@BY
@STORE
def override(**options: Any) -> int:
    """Let what failed in a rollout be tried once more, by the next start of the same release.

    A failure is remembered by the digests of release, suite, reference and settings.

    Exit codes: 0 written down, 2 usage error, 4 error.
    """
    from denv.cli.rolling import override_command

    check_texts(click.get_current_context())
    return override_command(options)


@rollout.command()
@click.option(
    "--out",
    type=FOLDER,
    default=Path("out"),
    show_default=True,
    metavar="DIR",
    help="Where the files go.",
)
@click.option("--wheel", type=FILE, metavar="F", help="The model's wheel, if it is on disk.")
def demo(*, out: Path, wheel: Path | None) -> int:
    """Roll out one good release and two that are not, on real servers with a real Alertmanager.

    Exit codes: 0 each ended as it must, 4 one did not, 130 cancelled.
    """
    from denv.cli.rollout_demo import rollout_demo_command

    return rollout_demo_command(out, wheel=wheel)
