"""Whether a public report is what its publisher signed: each check, and what it found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from denv.errors import UsageError
from denv.publish.badge import draw
from denv.publish.document import SCHEMA
from denv.publish.folder import BADGE, ENVELOPE, PAGE, REPORT, SUITE, digest
from denv.publish.gathering import MOST_OTHERS, Gathered
from denv.publish.keys import SSlibKey
from denv.publish.page import render
from denv.publish.reading import read_document
from denv.publish.statement import RESULTS, StatementError, opened
from denv.report import Report
from denv.report.model import Document

State = Literal["holds", "fails", "skipped"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    says: str


@dataclass(frozen=True, slots=True)
class Verified:
    """All that was looked at; ``head`` is the report without its cases, where it can be read."""

    checks: tuple[Check, ...]
    key: str
    head: Document | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing fails."""
        return all(check.state != "fails" for check in self.checks)

    @property
    def document(self) -> dict[str, Any]:
        """What was found, as JSON."""
        head = self.head
        return {
            "schema": "denv.parity.verify/1",
            "verified": self.holds,
            "key": self.key,
            "checks": [
                {"name": one.name, "state": one.state, "says": one.says} for one in self.checks
            ],
            # What an edited report says is worth nothing: it is not repeated.
            "report": None if head is None or not self.holds else _summary(head),
        }


def _summary(head: Document) -> dict[str, Any]:
    names = ("run", "verdict", "finished", "published", "stale_after")
    return {**{name: head[name] for name in names}, "suite": head["suite"]["sha256"]}


def verify(
    gathered: Gathered, key: SSlibKey, *, suite: Path | None = None, now: datetime | None = None
) -> Verified:
    """Check a report against a key, and against a suite where one is given.

    Raises
    ------
    UsageError
        The suite cannot be read.
    """
    files = gathered.files
    if ENVELOPE not in files:
        why = gathered.unread.get(ENVELOPE)
        says = f"it is not signed: there is no {ENVELOPE}" if why is None else f"{ENVELOPE} {why}"
        unsigned = Check("signature", "fails", says)
        return Verified((unsigned,), key.keyid)
    try:
        signed = opened(files[ENVELOPE], key)
    except StatementError as error:
        return Verified((Check("signature", "fails", str(error)),), key.keyid)
    checks = [Check("signature", "holds", f"it is signed by key {key.keyid[:16]}…")]
    try:
        document = _document(gathered)
    except UsageError as error:
        checks += _files(gathered, signed["subjects"])
        checks.append(Check("form", "fails", str(error)))
        return Verified(tuple(checks), key.keyid)
    gathered = _fresh(gathered, document)
    files = gathered.files
    checks += _files(gathered, signed["subjects"])
    checks += _said(document, signed)
    if gathered.whole:
        checks += _drawn(document, files)
    checks += _suite(document, files, suite)
    checks.append(_age(document, now or datetime.now(UTC)))
    head = {name: value for name, value in document.items() if name != "cases"}
    return Verified(tuple(checks), key.keyid, head)


def _fresh(gathered: Gathered, document: Document) -> Gathered:
    """Take the badge of a server, which says that it is stale, for the one that was signed."""
    stale = draw(document, today=date.max).encode()
    if gathered.files.get(BADGE) != stale:
        return gathered
    return replace(gathered, files={**gathered.files, BADGE: draw(document).encode()})


def _files(gathered: Gathered, subjects: Mapping[str, str]) -> Iterator[Check]:
    """Hold each signed file against its digest, and find files that nobody signed."""
    wanted = subjects if gathered.whole else {n: d for n, d in subjects.items() if n == REPORT}
    if REPORT not in wanted:
        yield Check(REPORT, "fails", "the signed statement does not name it")
    for name, signed in wanted.items():
        content = gathered.files.get(name)
        if name in gathered.unread:
            yield Check(name, "fails", f"it {gathered.unread[name]}")
        elif content is None:
            yield Check(name, "fails", "it is missing, and the signed statement names it")
        elif hashlib.sha256(content).hexdigest() != signed:
            yield Check(name, "fails", "it was changed after it was signed")
        else:
            yield Check(name, "holds", "it is as it was signed")
    there = (*gathered.files, *gathered.unread) if gathered.whole else ()
    for name in there:
        if name != ENVELOPE and name not in subjects:
            yield Check(name, "fails", "nobody signed it")
    for name in gathered.others:
        yield Check(name, "fails", "nobody signed it: take it away, or ask the publisher")
    if len(gathered.others) == MOST_OTHERS:
        yield Check("other files", "fails", f"no more than {MOST_OTHERS} of them are told")


def _document(gathered: Gathered) -> Document:
    if REPORT in gathered.unread:
        raise UsageError(f"{REPORT} {gathered.unread[REPORT]}")
    if REPORT not in gathered.files:
        raise UsageError(f"there is no {REPORT}")
    return read_document(gathered.files[REPORT], name=REPORT, only=SCHEMA)


def _said(document: Document, signed: Mapping[str, Any]) -> Iterator[Check]:
    """Hold what the statement says against what the report says."""
    if signed["result"] != RESULTS[document["verdict"]]:
        yield Check(
            "verdict",
            "fails",
            f"the statement says {signed['result']}, the report {document['verdict']}",
        )
    else:
        yield Check("verdict", "holds", f"{document['verdict']}, as the statement says")
    if document["suite"]["sha256"] not in signed["suites"]:
        yield Check("suite", "fails", "the report names another suite than the statement")


def _drawn(document: Document, files: Mapping[str, bytes]) -> Iterator[Check]:
    """Make page and badge again: their figures must be those of the report."""
    made_by, here = document["denv"], version("denv-parity")
    for name in (PAGE, BADGE):
        what = f"figures of {name}"
        if name not in files:
            continue
        if made_by != here:
            says = f"it was made by denv {made_by}; denv {here} cannot make it again to compare"
            yield Check(what, "skipped", says)
        elif _made_again(name, document).encode() == files[name]:
            yield Check(what, "holds", "they are those of the report")
        else:
            yield Check(what, "fails", "they are not those of the report")


def _made_again(name: str, document: Document) -> str:
    report = Report.of(document)
    return render(report) if name == PAGE else draw(report.head)


def _suite(document: Document, files: Mapping[str, bytes], suite: Path | None) -> Iterator[Check]:
    asked = document["suite"]["sha256"]
    found = {}
    if SUITE in files:
        found[SUITE] = hashlib.sha256(files[SUITE]).hexdigest()
    if suite is not None:
        try:
            found[str(suite)] = digest(suite)
        except OSError as error:
            raise UsageError(f"--suite {suite}: {error.strerror}") from None
    for name, sha256 in found.items():
        if sha256 == asked:
            yield Check("suite", "holds", f"{name} is the suite that was asked")
        else:
            yield Check(
                "suite",
                "fails",
                f"{name} is another suite than was asked: {sha256[:16]}… and not {asked[:16]}…",
            )
    if not found:
        yield Check("suite", "skipped", f"not compared; its SHA-256 is {asked}")


def _age(document: Document, now: datetime) -> Check:
    """Tell whether it is stale; an old report is no edited one."""
    until = document["stale_after"]
    if now.strftime("%Y-%m-%d") > until:
        return Check("age", "skipped", f"it is as signed, but stale since {until}")
    return Check("age", "holds", f"it is fresh until {until}")
