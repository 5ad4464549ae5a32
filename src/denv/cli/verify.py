"""``denv parity verify``: whether a public report is as it was signed, and of which suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from denv.cli.parity import FILE

if TYPE_CHECKING:
    from denv.publish.verify import Verified


@click.command()
@click.argument("report", metavar="FILE|FOLDER|URL")
@click.option("--key", type=FILE, required=True, metavar="F", help="The publisher's public key.")
@click.option("--suite", type=FILE, metavar="S.jsonl", help="Must be the suite that was asked.")
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
def verify(*, report: str, key: Path, suite: Path | None, as_json: bool) -> int:
    """Check a public report: its signature, its files, its page, and its suite.

    Nothing is sent where a file or folder is named. FILE is report.json or its envelope, of which
    the other lies beside it; a folder is checked with all that lies in it, an URL with all files
    of the report.

    Exit codes: 0 it is as it was signed, 1 it is not, 2 usage error, 4 it cannot be fetched.
    """
    from denv.publish.gathering import gather
    from denv.publish.keys import load_public
    from denv.publish.verify import verify as check

    public = load_public(key)
    found = check(gather(report), public, suite=suite)
    click.echo(json.dumps(found.document, ensure_ascii=False) if as_json else _told(found))
    return 0 if found.holds else 1


def _told(found: Verified) -> str:
    signs = {"holds": "ok  ", "fails": "FAIL", "skipped": "-   "}
    lines = [f"{signs[one.state]}  {one.name}: {one.says}" for one in found.checks]
    end = "verified" if found.holds else "NOT verified"
    return "\n".join([*lines, end])
