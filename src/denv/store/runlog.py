"""The log of ended runs: each entry holds the hash of the one before, so that none can be left out.

The log says how often a suite was run against a stage, whichever of the runs is shown to others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from denv.records import Json

FIRST = "0" * 64
"""What the first entry holds as the hash of the one before."""

TAG = "denv.run-log/1"
STAGE_TAG = b"denv.run-log-stage/1\0"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One run that ended; ``entry`` is the hash of all else but its ``number``.

    ``suite`` and ``stage`` are digests, ``report`` one of the head and the results as they are
    kept. A run that was resumed has an entry each time that it ended.
    """

    number: int
    run: str
    finished: float
    suite: str
    stage: str
    verdict: str
    report: str
    previous: str
    entry: str


@dataclass(frozen=True, slots=True)
class LogPlace:
    """Where a run stands: it is run ``position`` of ``runs`` with its suite against its stage.

    ``cancelled`` of these were interrupted; ``last`` is the run's last entry in the log, and
    ``entries`` how many the whole log has.
    """

    position: int
    runs: int
    cancelled: int
    last: LogEntry
    entries: int


class RunLog(Protocol):
    """The log as others read it; a run writes its entry together with its report's head."""

    def entries(self) -> Iterator[LogEntry]:
        """Stream the log from its beginning."""

    def place(self, run: str) -> LogPlace | None:
        """Tell where a run stands; None where it has not ended, or ended before there was a log."""

    def fault(self, run: str) -> str | None:
        """Tell what of a run's report or of the log was changed; None where all is as written.

        Of a run that ended before there was a log nothing can be told but the log's own faults.
        """


def hash_of(previous: str, content: Mapping[str, Json]) -> str:
    """Give an entry's hash: SHA-256 of canonical JSON (sorted keys, no spaces, ASCII)."""
    whole = {"tag": TAG, "previous": previous, **content}
    return hashlib.sha256(canonical(whole)).hexdigest()


def content_of(entry: LogEntry) -> dict[str, Json]:
    """Give what an entry's hash covers beside the hash of the one before."""
    names = ("run", "finished", "suite", "stage", "verdict", "report")
    return {name: getattr(entry, name) for name in names}


def stage_digest(identity: Mapping[str, Any]) -> str:
    """Give which stage was asked: its URL and model; another header or field makes no other."""
    asked = {name: identity.get(name) for name in ("url", "model")}
    return hashlib.sha256(STAGE_TAG + canonical(asked)).hexdigest()


def stage_column(settings: Mapping[str, Any]) -> str:
    """Give the digest of the stage in a run's identity, ``""`` where that names none."""
    found = settings.get("stage")
    return stage_digest(found) if isinstance(found, dict) and found.get("url") else ""


def canonical(value: Json) -> bytes:
    """Write JSON in the one way that hashes are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def report_digest(head: str, documents: Iterable[str]) -> str:
    """Give the digest of a run's head and results, as the texts that are kept."""
    digest = hashlib.sha256(head.encode("utf-8", "surrogatepass"))
    for document in documents:
        digest.update(b"\n" + document.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def place_of(run: str, alike: Iterable[LogEntry], *, entries: int) -> LogPlace | None:
    """Find a run among the entries of its suite and stage, which come in the log's order."""
    last: dict[str, LogEntry] = {}
    for entry in alike:
        last[entry.run] = entry  # an earlier key keeps its place
    if run not in last:
        return None
    return LogPlace(
        position=list(last).index(run) + 1,
        runs=len(last),
        cancelled=sum(entry.verdict == "cancelled" for entry in last.values()),
        last=last[run],
        entries=entries,
    )


def chain_faults(entries: Iterable[LogEntry]) -> Iterator[str]:
    """Tell where the log was changed: an entry that is gone, was added, or says something else."""
    previous = FIRST
    for place, entry in enumerate(entries, start=1):
        if entry.number != place:
            yield f"the log of runs lacks entry {place}: the next is number {entry.number}"
            return
        if entry.previous != previous:
            yield f"entry {place} of the log of runs does not follow the one before"
        if entry.entry != hash_of(entry.previous, content_of(entry)):
            yield f"entry {place} of the log of runs (run {entry.run}) was changed"
        previous = entry.entry
