"""What ``denv parity report`` does with a report that anybody may read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from denv.errors import UsageError
from denv.release import parse_duration
from denv.report import Report
from denv.report.text import line
from denv.store import Publication, RunRecord, SqlStore

_DAY_S = 86_400
_UNSIGNED = (
    "not signed, so that nobody can tell whether it was edited: make a key with `denv key new`, "
    "then publish again"
)


def publish(
    options: Mapping[str, Any],
    *,
    store: SqlStore,
    record: RunRecord,
    report: Report,
    folder: Path,
) -> None:
    """Make the public report, and write it to its folder, or keep it to be served.

    Raises
    ------
    UsageError
        The run, its suite, its key or a span of time cannot be used as asked.
    """
    from denv.publish.folder import write_folder
    from denv.publish.issuing import Wanted, issue_of

    span = None if options["expires"] is None else parse_duration(options["expires"])
    wanted = Wanted(
        stale_days=_days(options["stale_after"]),
        indexed=options["indexed"],
        with_suite=options["with_suite"],
        key=options["key"],
        suite=options["suite"],
    )
    issue = issue_of(report, record, wanted, store=store, folder=folder, now=time.time())
    if options["out"] is not None:
        for path in write_folder(
            issue.report, options["out"], signer=issue.signer, suite=issue.suite
        ).values():
            _say(f"wrote {path}")
    else:
        kept = issue.keep(store, expires_s=span)
        Console().print(_address(kept, folder), markup=False, highlight=False, soft_wrap=True)
    if issue.signer is None:
        _say(_UNSIGNED)


def _address(publication: Publication, folder: Path) -> str:
    """Give the address at the server of this folder, or only its path where none runs."""
    from denv.rollout.engine.address import find_serving

    path = f"/r/{publication.publication}/"
    serving = find_serving(folder)
    if serving is None:
        _say("it is served while `denv serve` runs, under this path:")
        return path
    return f"{serving.pages}{path}"


def revoke(store: SqlStore, publication: str) -> None:
    """Take a published report back.

    Raises
    ------
    UsageError
        There is none of this id that is not taken back already.
    """
    if not store.publications.revoke(publication, at=time.time()):
        raise UsageError(f"there is no published report {publication!r} to take back")
    _say(f"taken back: {publication}")


def list_published(store: SqlStore) -> None:
    """Print each published report, the latest first."""
    now = time.time()
    for each in store.publications.all():
        day = datetime.fromtimestamp(each.created, UTC).strftime("%Y-%m-%d")
        state = "served" if each.is_open(now) else "taken back" if each.revoked else "expired"
        told = f"{day}  {each.publication}  {each.head['verdict']}  run {each.run}  {state}"
        Console().print(line(told), markup=False, highlight=False, soft_wrap=True)


def _say(text: str) -> None:
    Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)


def _days(text: str | None) -> int:
    days = 30 if text is None else parse_duration(text) / _DAY_S
    if days < 1 or days != int(days) or days > 3650:
        raise UsageError(f"--stale-after {text}: whole days from 1d to 3650d")
    return int(days)
