"""The lab's cache folder: files that appear whole or not at all, made by one process at a time."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from denv.errors import HarnessError


def cache_dir() -> Path:
    """Give ``$DENV_HOME/lab``, else the platform's cache folder for the lab."""
    home = os.environ.get("DENV_HOME")
    if home:
        return Path(home) / "lab"
    return Path(platformdirs.user_cache_dir("denv")) / "lab"


def sha256_of(path: Path) -> str:
    """Give the SHA-256 digest of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Hold the lock that belongs to ``target``; it goes with the process, whatever ends it."""
    lock = target.with_name(target.name + ".lock")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle = lock.open("ab")
    except OSError as error:
        raise HarnessError(f"the lab's cache cannot be written: {error}") from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Give a path beside ``target`` that replaces it when the block ends well."""
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    except OSError as error:
        raise HarnessError(f"the lab's cache cannot be written: {error}") from error
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        part.replace(target)
    except OSError as error:
        raise HarnessError(f"{target} cannot be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)
