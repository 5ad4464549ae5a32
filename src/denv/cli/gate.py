"""``denv gate``: one call for other deployers, which answers with exit code and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from denv.cli.naming import check_named
from denv.cli.parity import FILE
from denv.cli.parity import run as parity_run
from denv.cli.texts import check_texts
from denv.records import Side


@click.command()
@click.argument("release_file", type=FILE, metavar="[R.yaml]", required=False)
@click.option(
    "--inconclusive-as",
    type=click.Choice(["0", "1", "3"]),
    default="3",
    show_default=True,
    help="Exit code of an inconclusive verdict.",
)
@click.option("--id", "gate_id", metavar="ID", help="Name the gate, for who asks how it ended.")
def gate(release_file: Path | None, **options: Any) -> int:
    """Run parity once and print one JSON document (denv.gate/1) on standard output.

    Takes a release, or the options of ``denv parity run``.

    Exit codes: 0 pass, 1 fail, 2 usage error, 3 inconclusive (see --inconclusive-as), 4 error,
    130 cancelled.
    """
    context = click.get_current_context()
    check_texts(context)
    check_named(context, "suite", *Side)
    from denv.cli.gating import gate_command

    return gate_command(release_file, options)


# Whatever a run takes, a gate takes: the options are the very same objects.
gate.params.extend(parity_run.params)
