"""Who carries out a run, or a part of it: lock files beside the data, gone with their process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from denv.errors import ResumeError, StoreError


@contextmanager
def claimed(lock: Path, run: str, *, shared: bool = False) -> Iterator[None]:
    """Hold a run's lock file for the length of the block.

    ``shared`` lets others hold it too that share it; nobody then has it for himself.

    Raises
    ------
    ResumeError
        Another process holds it.
    StoreError
        The file cannot be made.
    """
    descriptor = _locked(lock, run, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
    try:
        yield
    finally:
        # A file that others may hold keeps its name; who next holds it alone removes it.
        if not shared:
            lock.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(lock: Path, run: str, how: int) -> int:
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreError(f"{lock}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise ResumeError(f"run {run} is being carried out by another process") from None
        # Its last holder may have removed the file between our opening and our locking it.
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)
