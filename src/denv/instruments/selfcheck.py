"""The self-check: every instrument tried on known cases before it may judge a deployment.

The known cases are data (``data/*.jsonl``); what is right in them is argued from the contract,
not from the code. A run starts only where all of them are read right.

The cases of answers, FINAL lines and derivations are tried apart, since SymPy alone takes a second
to import: before what asks questions is measured, and for the gates.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import denv
from denv import strictjson
from denv.errors import HarnessError, SelfCheckError
from denv.instruments.known import Known, load_answers, load_known
from denv.instruments.trials import find
from denv.records import Json

RECORD = "selfcheck.json"
ANSWERS_RECORD = "selfcheck-answers.json"
SCHEMA = "denv.selfcheck/1"

_PARTS = frozenset({"reason", "message", "refused", "error"})
"""Texts of which ``right`` gives a part."""

_JUDGES = ("jsonschema", "regex", "scipy", "sympy")
"""Libraries whose findings are the instruments' own."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A known case that was not read right: what is right, and what was found, as JSON."""

    id: str
    about: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class SelfCheck:
    """How many known cases there are, how many were read right, and those that were not."""

    total: int
    passed: int
    failures: tuple[Failure, ...]


def run_whole_selfcheck() -> SelfCheck:
    """Try everything, what reads answers to questions too.

    Raises
    ------
    HarnessError
        As :func:`run_selfcheck`.
    """
    return run_selfcheck([*load_known(), *load_answers()])


def run_selfcheck(known: Sequence[Known] | None = None) -> SelfCheck:
    """Try instruments on known cases, by default on all that :func:`load_known` gives.

    Raises
    ------
    HarnessError
        Where the packaged cases are missing or not well formed.
    """
    known = load_known() if known is None else known
    failures = tuple(failed for one in known if (failed := _try(one)) is not None)
    return SelfCheck(len(known), len(known) - len(failures), failures)


def require_selfcheck(folder: Path) -> SelfCheck | None:
    """Let nothing pass that has not read every known case right.

    A success is recorded in ``folder`` for the package's very files; while they stay as they
    are, the cases are not tried again and None comes back. A record that cannot be read or
    written only means that they are.

    Raises
    ------
    SelfCheckError
        Where a known case is not read right.
    """
    return _required(folder / RECORD, run_selfcheck, "denv parity selfcheck")


def require_answers_selfcheck(folder: Path) -> SelfCheck | None:
    """Do the same for what reads answers to questions.

    Raises
    ------
    SelfCheckError
        As :func:`require_selfcheck`.
    """

    def check() -> SelfCheck:
        return run_selfcheck(load_answers())

    return _required(folder / ANSWERS_RECORD, check, "denv parity selfcheck --all")


def _required(path: Path, check: Callable[[], SelfCheck], command: str) -> SelfCheck | None:
    state = package_state()
    if state is not None and _is_recorded(path, state):
        return None
    found = check()
    if found.failures:
        first = found.failures[0]
        raise SelfCheckError(
            f"self-check: {found.passed}/{found.total}; first failing: {first.id}"
            f" ({first.about}); run `{command}`"
        )
    if state is not None:
        # A full or read-only disk must not stop a run: the next one tries the cases again.
        with contextlib.suppress(OSError):
            _record(path, found, state)
    return found


# ---------------------------------------------------------------- comparing


def _try(known: Known) -> Failure | None:
    try:
        return _compare(known, find(known))
    except HarnessError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever an instrument raises is its failure
        crash = f"{type(error).__name__}: {error}"
        return Failure(known.id, known.about, _shown(known.right), f"crashed with {crash}"[:500])


def _compare(known: Known, found: Mapping[str, Json]) -> Failure | None:
    wrong = [name for name, right in known.right.items() if not _agrees(name, right, found[name])]
    if not wrong:
        return None
    expected = {name: known.right[name] for name in wrong}
    got = {name: found[name] for name in wrong}
    return Failure(known.id, known.about, _shown(expected), _shown(got))


def _agrees(name: str, right: Json, found: Json) -> bool:
    """Whether a finding is as it should be; a number is no boolean and 1 is not 1.0."""
    if name == "warnings":
        return len(right) == len(found) and all(any(r in f for f in found) for r in right)
    if name in _PARTS and isinstance(right, str) and isinstance(found, str):
        return right in found
    if isinstance(right, dict) and isinstance(found, Mapping):
        exact = name in {"arguments", "unwrapped", "value"}
        same_keys = not exact or right.keys() == found.keys()
        return same_keys and all(
            k in found and _agrees(name if exact else k, v, found[k]) for k, v in right.items()
        )
    if isinstance(right, list) and isinstance(found, (list, tuple)):
        return len(right) == len(found) and all(
            _agrees(name, r, f) for r, f in zip(right, found, strict=True)
        )
    if isinstance(right, Decimal) and isinstance(found, float):
        return float(right) == found
    return type(right) is type(found) and right == found


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, default=str)


# ---------------------------------------------------------------- the record


def package_state() -> str | None:
    """Digest what the findings depend on: the package's files, Python and some libraries.

    None where the files cannot be seen, as inside an archive: then no record can be trusted.
    """
    digest = hashlib.sha256(sys.version.encode())
    for name in _JUDGES:
        digest.update(f"\0{name} {version(name)}".encode())
    try:
        contents = [(relative, path.read_bytes()) for relative, path in _package_files()]
    except OSError:
        return None
    for relative, content in contents:
        digest.update(f"\0{relative}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest() if contents else None


def _package_files() -> list[tuple[str, Path]]:
    root = Path(denv.__path__[0])
    found = {
        path.relative_to(root).as_posix(): path
        for path in root.rglob("*")
        if path.suffix != ".pyc" and path.is_file()
    }
    return sorted(found.items())


def _is_recorded(path: Path, state: str) -> bool:
    try:
        record = strictjson.loads(path.read_bytes())
    except (OSError, strictjson.StrictJsonError):
        return False  # no record, or none that can be believed: the cases are tried again
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        return False
    total, passed = record.get("total"), record.get("passed")
    whole = type(total) is int and total > 0 and passed == total
    return whole and record.get("state") == state


def _record(path: Path, found: SelfCheck, state: str) -> None:
    record = {"schema": SCHEMA, "state": state, "total": found.total, "passed": found.passed}
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(record, file)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
