"""``denv parity report``: a stored run again in every form, and as a public report."""

from __future__ import annotations

from typing import Any

import click

from denv.cli.completing import RUNS
from denv.cli.parity import FILE, FOLDER
from denv.cli.texts import check_texts


@click.command()
@click.argument("run", required=False, shell_complete=RUNS)
@click.option("--json", "json_file", metavar="F", help="Write the report as JSON (- for stdout).")
@click.option("--html", "html_file", type=FILE, metavar="F", help="Write it as one web page.")
@click.option("--junit", "junit_file", type=FILE, metavar="F", help="Write it as JUnit XML.")
@click.option(
    "--markdown", "markdown_file", type=FILE, metavar="F", help="Write a CI step summary."
)
@click.option(
    "--step-summary", is_flag=True, help="Append that to the step's summary in GitHub Actions."
)
@click.option("--public", is_flag=True, help="Make what anybody may see: served, or in --out.")
@click.option("--out", type=FOLDER, metavar="DIR", help="Where the public files go.")
@click.option("--key", type=FILE, metavar="F", help="Sign with it instead of the data folder's.")
@click.option("--with-suite", is_flag=True, help="Put the suite beside the public report.")
@click.option("--suite", type=FILE, metavar="S.jsonl", help="The run's suite, if it was moved.")
@click.option(
    "--stale-after", metavar="30d", help="How long the public report is fresh; left out: 30d."
)
@click.option("--expires", metavar="30d", help="Serve the public report no longer than this.")
@click.option("--revoke", metavar="ID", help="Take a published report back.")
@click.option("--published", is_flag=True, help="List the reports that were published.")
@click.option("--index", "indexed", is_flag=True, help="Let search engines list the public page.")
@click.option("--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME.")
def report(**options: Any) -> int:
    """Show a run that has ended, the latest if none is named; write and publish its report.

    Exit codes: 0 done, 2 usage error, 4 error. The verdict stands in the report.
    """
    from denv.cli.reporting import report_command

    check_texts(click.get_current_context())
    report_command(options)
    return 0
