"""The files of a public report, for any host of static files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from denv.errors import HarnessError, UsageError
from denv.publish.badge import draw
from denv.publish.document import SCHEMA
from denv.publish.keys import CryptoSigner
from denv.publish.page import render
from denv.publish.statement import sign, statement
from denv.report import Report
from denv.report.model import Document
from denv.report.output import opened
from denv.report.text import escaped, without_surrogates
from denv.suite import Suite

REPORT, PAGE, BADGE = "report.json", "index.html", "badge.svg"
SUITE, ENVELOPE = "suite.jsonl", "report.intoto.json"
_BLOCK = 1 << 20


def write_folder(
    report: Report, folder: Path, *, signer: CryptoSigner | None, suite: Suite | None = None
) -> dict[str, Path]:
    """Write the files, and sign them where there is a key; give where each is.

    ``suite`` is copied beside the report where it is given. What an earlier report left in the
    folder under these names is replaced, or taken away where this one has no such file.

    Raises
    ------
    UsageError
        The folder has files of these names that are no earlier report.
    HarnessError
        Something cannot be written.
    """
    _check_free(folder, suite)
    files = {name: folder / name for name in (REPORT, PAGE, BADGE)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Whoever looks meanwhile finds an unsigned report, never a signature of other files.
        (folder / ENVELOPE).unlink(missing_ok=True)
        (folder / SUITE).unlink(missing_ok=True)
        write_json(report, files[REPORT])
        report = _written(report, files[REPORT])
        _write(files[PAGE], render(report))
        _write(files[BADGE], draw(report.head))
        if suite is not None:
            files[SUITE] = folder / SUITE
            files[SUITE].write_bytes(suite.path.read_bytes())
        if signer is not None:
            digests = {name: digest(path) for name, path in files.items()}
            outcomes = ((case["id"], case["outcome"]) for case in report.cases())
            files[ENVELOPE] = folder / ENVELOPE
            content = statement(report.head, digests, outcomes=outcomes)
            _write(files[ENVELOPE], sign(content, signer))
    except OSError as error:
        raise HarnessError(f"{error.filename or folder}: {error.strerror}") from error
    return files


def _check_free(folder: Path, suite: Suite | None) -> None:
    """Refuse a folder in which something of the user's own would be lost."""
    there = [n for n in (REPORT, PAGE, BADGE, SUITE, ENVELOPE) if (folder / n).exists()]
    if there and not _is_report(folder / REPORT):
        raise UsageError(f"{folder} has its own {there[0]}: name another folder")
    if suite is not None and SUITE in there and suite.path.samefile(folder / SUITE):
        raise UsageError(f"{suite.path} would be replaced by itself: name another folder")


def _is_report(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return SCHEMA.encode() in file.read(200)
    except OSError:
        return False


def write_json(report: Report, path: Path) -> None:
    """Write the public document, one case a line, ``cases`` last."""
    with opened(path) as stream:
        stream.write("{\n")
        for key, value in report.head.items():
            stream.write(f'"{key}": {_json(value)},\n')
        stream.write('"cases": [')
        between = "\n"
        for case in report.cases():
            stream.write(between + _json(case))
            between = ",\n"
        stream.write("\n]}\n")


def _written(report: Report, path: Path) -> Report:
    """Give the report with its cases read from the file, which takes a tenth of making them."""

    def cases() -> Iterator[Document]:
        with path.open(encoding="utf-8") as file:
            for line in file:
                if line == '"cases": [\n':
                    break
            for line in file:
                if line == "]}\n":
                    return
                yield json.loads(line.removesuffix("\n").removesuffix(","))

    return Report(report.head, cases)


def _json(value: object) -> str:
    return escaped(without_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False)))


def _write(path: Path, content: str) -> None:
    with opened(path) as stream:
        stream.write(content)


def digest(path: Path) -> str:
    """Give a file's SHA-256."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
