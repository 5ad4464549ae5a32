"""All that the doctor looks at, as one document from which every secret is cut out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from denv.client import Masker
from denv.doctor.data import examine_data
from denv.doctor.engine import examine_engine
from denv.doctor.finding import Area, Finding, Level
from denv.doctor.installed import OWN, examine_installed
from denv.doctor.machine import examine_machine
from denv.doctor.release import examine_release, read_release, secrets_of, variables_of
from denv.errors import UsageError
from denv.records import Json, Secret
from denv.report.text import visible
from denv.store.engines import database_url

if TYPE_CHECKING:  # Temporal's client is an extra
    from denv.rollout.engine.connection import Connection

SCHEMA = "denv.doctor/1"

Found = Sequence[tuple[Area, Finding]]


@dataclass(frozen=True, slots=True)
class Subject:
    """What is to be looked at; ``temporal`` is a server of one's own."""

    folder: Path
    release: Path | None = None
    concurrency: int = 8
    temporal: Connection | None = None


async def examine(subject: Subject) -> Found:
    """Look at everything, and give what was found in the order in which it is told."""
    read = None if subject.release is None else read_release(subject.release)
    release = None if read is None else read.release
    named = frozenset[str]() if release is None else variables_of(release)
    machine = examine_machine(concurrency=subject.concurrency, named=named)
    found = [
        *_in(Area.INSTALLED, examine_installed()),
        *_in(Area.MACHINE, machine),
        *_in(Area.DATA, examine_data(subject.folder)),
    ]
    found += [
        (Area.ENGINE, each) async for each in examine_engine(subject.folder, subject.temporal)
    ]
    if read is not None:
        found.append((Area.RELEASE, read.finding))
    if release is not None:
        found += [(Area.RELEASE, each) async for each in examine_release(release)]
    hidden = [*_database_secret(), *(secrets_of(release) if release is not None else ())]
    return _masked(found, hidden)


def _in(area: Area, findings: Iterable[Finding]) -> list[tuple[Area, Finding]]:
    return [(area, finding) for finding in findings]


def _database_secret() -> list[Secret]:
    try:
        url = database_url()
    except UsageError:
        return []  # told as the database's own fault, without the URL
    return [Secret(str(url.password))] if url is not None and url.password else []


def _masked(found: Found, hidden: Sequence[Secret]) -> Found:
    masker = Masker(hidden)

    def clean(text: str) -> str:
        return visible(masker.text(text), keep="\n")

    return [
        (
            area,
            replace(each, text=clean(each.text), advice=each.advice and clean(each.advice)),
        )
        for area, each in found
    ]


def document_of(found: Found) -> dict[str, Json]:
    """Write what was found as ``denv.doctor/1``."""
    counts = Counter(finding.level for _, finding in found)
    worst = max((finding.level for _, finding in found), key=list(Level).index)
    return {
        "schema": SCHEMA,
        "denv": version(OWN),
        "worst": worst.value,
        "counts": {level.value: counts[level] for level in Level},
        "findings": [
            {
                "area": area.value,
                "name": finding.name,
                "level": finding.level.value,
                "text": finding.text,
                "advice": finding.advice,
            }
            for area, finding in found
        ],
    }
