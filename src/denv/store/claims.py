"""One process at a time carries out a run: a lock file beside the data, gone with its process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from denv.errors import ResumeError, StoreError


@contextmanager
def claimed(lock: Path, run: str) -> Iterator[None]:
    """Hold a run's lock file for the length of the block.

    Raises
    ------
    ResumeError
        Another process holds it.
    StoreError
        The file cannot be made.
    """
    descriptor = _locked(lock, run)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(lock: Path, run: str) -> int:
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"{lock}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise ResumeError(f"run {run} is being carried out by another process") from None
        # Its last holder may have removed the file between our opening and our locking it.
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)
