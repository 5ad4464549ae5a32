"""How other commands find the engine of a data folder: a lock and a file beside the data."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from denv.errors import HarnessError, StoreError

LOCK = "serve.lock"
ADDRESS = "serve.json"
OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class Serving:
    """Where a running ``denv serve`` has its engine; ``pages`` is its own HTTP address."""

    temporal: str
    namespace: str
    queue: str
    pages: str
    pid: int


@contextmanager
def serving_lock(folder: Path) -> Iterator[None]:
    """Hold a data folder as its only server for the length of the block.

    Raises
    ------
    HarnessError
        Another process serves this folder.
    StoreError
        The folder cannot be written.
    """
    descriptor = _opened(folder / LOCK)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HarnessError(_taken(folder)) from None
        yield
        # The lock's file stays: removing it would let two servers lock two files of one name.
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from error


def _taken(folder: Path) -> str:
    serving = _read(folder)
    who = f" (process {serving.pid}, {serving.pages})" if serving else ""
    return f"{folder} is served by another denv serve already{who}"


@contextmanager
def announced(folder: Path, serving: Serving) -> Iterator[None]:
    """Write where the engine is for the length of the block."""
    path = folder / ADDRESS
    fresh = path.with_suffix(".new")
    text = json.dumps({name: getattr(serving, name) for name in Serving.__slots__})
    try:
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        fresh.replace(path)
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def find_serving(folder: Path) -> Serving | None:
    """Give the engine that serves a data folder; a file left by a dead process counts as none."""
    serving = _read(folder)
    return serving if serving is not None and _is_locked(folder / LOCK) else None


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _read(folder: Path) -> Serving | None:
    try:
        data: Mapping[str, Any] = json.loads((folder / ADDRESS).read_text("utf-8"))
        return Serving(**{name: data[name] for name in Serving.__slots__})
    except (OSError, ValueError, KeyError, TypeError):
        return None
