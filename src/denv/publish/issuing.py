"""From a run that has ended to its public report: with its suite, its key, and what it hides."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denv.errors import AlteredError, UsageError
from denv.publish.document import Terms, public_report
from denv.publish.hiding import Hiding
from denv.publish.serving import publish
from denv.report import Report
from denv.store import LogPlace, Publication, RunRecord, SqlStore, kept_suite
from denv.suite import Suite, load_suite

if TYPE_CHECKING:
    from denv.publish.keys import CryptoSigner

KEY = "publisher.key"
"""The data folder's own key."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a report is to be made public; ``key`` and ``suite`` are files in place of its own.

    ``stale_days`` is how long it is fresh; with ``with_suite`` the suite lies beside it.
    """

    stale_days: int = 30
    indexed: bool = False
    with_suite: bool = False
    key: Path | None = None
    suite: Path | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """A public report that is ready: nothing of it is kept or written yet."""

    report: Report
    run: str
    place: LogPlace | None
    created: float
    signer: CryptoSigner | None
    suite: Suite | None

    def keep(self, store: SqlStore, *, expires_s: float | None) -> Publication:
        """Keep it to be served, for so many seconds at the most."""
        return publish(
            self.report,
            store.publications,
            run=self.run,
            place=self.place,
            created=self.created,
            expires=None if expires_s is None else self.created + expires_s,
            signer=self.signer,
            suite=self.suite,
        )


def issue_of(
    report: Report,
    record: RunRecord,
    wanted: Wanted,
    *,
    store: SqlStore,
    folder: Path,
    now: float,
) -> Issue:
    """Make a run's public report.

    Raises
    ------
    UsageError
        The run's suite or its key cannot be used.
    AlteredError
        What is kept of the run is not what was kept when it ended.
    """
    check_unaltered(store, record.run)
    suite = suite_of(record, wanted.suite, folder)
    terms = Terms(
        published=datetime.fromtimestamp(now, UTC),
        hiding=Hiding.of(record.settings["identity"], secrets=keys_of(record)),
        stale_days=wanted.stale_days,
        indexed=wanted.indexed,
    )
    signer, place = signer_of(wanted.key, folder), store.log.place(record.run)
    return Issue(
        report=public_report(report, suite, terms=terms, place=place),
        run=record.run,
        place=place,
        created=now,
        signer=signer,
        suite=suite if wanted.with_suite else None,
    )


def check_unaltered(store: SqlStore, run: str) -> None:
    """Hold a run's kept report against the log of runs before anybody vouches for it.

    Raises
    ------
    AlteredError
        The report, or the log itself, was changed afterwards.
    """
    fault = store.log.fault(run)
    if fault is not None:
        raise AlteredError(f"{fault}, so it is not published: see what `denv db check` says")


def suite_of(record: RunRecord, given: Path | None, folder: Path) -> Suite:
    """Load a run's suite, from where the run had it unless another file is given.

    Runs of rollouts and schedules have asked a copy, which the data folder keeps.

    Raises
    ------
    UsageError
        It is not there, or cannot be read.
    """
    if given is not None:
        return load_suite(given)
    path = _options(record).get("suite")
    if path is not None and Path(path).is_file():
        return load_suite(path)
    asked = record.settings["identity"]["suite"]
    kept = kept_suite(folder, asked["sha256"])
    if kept.is_file():
        return replace(load_suite(kept), name=asked["name"])
    gone = "nowhere that it says" if path is None else f"gone from {path}"
    raise UsageError(
        f"the suite of run {record.run} is {gone}: denv parity report takes one by --suite"
    )


def keys_of(record: RunRecord) -> list[str]:
    """Give the values of variables that hold the run's keys, as far as they are set."""
    names = [_options(record).get(f"{side}_key_env") for side in ("stage", "reference")]
    return [value for name in names if name and (value := os.environ.get(name))]


def _options(record: RunRecord) -> Mapping[str, Any]:
    found: Mapping[str, Any] = record.settings["options"]
    return found


def signer_of(given: Path | None, folder: Path) -> CryptoSigner | None:
    """Load the key that signs: the given one, or the data folder's where it has one."""
    from denv.publish.keys import load_signer  # noqa: PLC0415 - the pages load it when they sign

    path = given or folder / KEY
    if given is None and not path.exists():
        return None
    return load_signer(path)
