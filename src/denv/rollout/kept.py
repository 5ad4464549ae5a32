"""Copies of suites under their digest, so that edits during a rollout do not move the goal."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from denv.errors import StoreError, SuiteError
from denv.records import Kind
from denv.store import kept_suite
from denv.suite import Suite, load_suite

_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class KeptSuite:
    """A suite's copy: ``name`` is the original file's, ``path`` that of the copy."""

    path: str
    name: str
    sha256: str
    cases: int
    kinds: Mapping[Kind, int]

    def load(self) -> Suite:
        """Load the copy, under the name of the original.

        Raises
        ------
        StoreError
            The copy is gone, or is no longer what was kept.
        """
        path = Path(self.path)
        if not path.is_file():
            raise StoreError(f"the copy of {self.name} is gone: {path}")
        if _sha256(path) != self.sha256:
            raise StoreError(f"the copy of {self.name} was changed: {path}")
        return replace(load_suite(path), name=self.name)


def keep_suite(path: Path, data_folder: Path) -> KeptSuite:
    """Validate a suite and copy its bytes to ``suites/<sha256>.jsonl`` in the data folder.

    Raises
    ------
    SuiteError
        The suite is wrong, or changes while it is read.
    StoreError
        The copy cannot be written.
    """
    suite = load_suite(path)
    target = kept_suite(data_folder, suite.sha256)
    try:
        if not target.is_file() or _sha256(target) != suite.sha256:
            _copy(path, target, suite.sha256)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror}") from None
    return KeptSuite(
        path=str(target),
        name=suite.name,
        sha256=suite.sha256,
        cases=suite.cases,
        kinds=dict(suite.kinds),
    )


def _copy(source: Path, target: Path, sha256: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    digest = hashlib.sha256()
    try:
        with source.open("rb") as read, draft.open("wb") as written:
            while chunk := read.read(_CHUNK):
                digest.update(chunk)
                written.write(chunk)
            written.flush()
            os.fsync(written.fileno())
        if digest.hexdigest() != sha256:
            raise SuiteError([f"{source}: changed while it was read"])
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
