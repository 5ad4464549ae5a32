"""Whether the data folder can be written: tried now and then, and said when that changes."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from denv.errors import StoreError
from denv.store import SqlStore

TRY_EVERY_S = 10.0
TRIED = ".write-test"
TRIED_BYTES = 256 * 1024
"""More than a database's own files may have left of room that is theirs already."""

_log = logging.getLogger("denv.serve")


@dataclass
class StoreWatch:
    """Tries to write to a store and beside it, at most once in ``every_s``."""

    store: SqlStore
    folder: Path
    clock: Callable[[], float] = time.monotonic
    every_s: float = TRY_EVERY_S
    _well: bool = True
    _tried: float | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def writes(self) -> bool:
        """Tell whether the store can be written now, or could a moment ago."""
        async with self._lock:
            if self._tried is None or self.clock() - self._tried >= self.every_s:
                await self._try()
                self._tried = self.clock()
            return self._well

    async def watch(self) -> None:
        """Try for ever, so that the log says it where nobody asks."""
        while True:
            await self.writes()
            await asyncio.sleep(self.every_s)

    async def _try(self) -> None:
        try:
            await asyncio.to_thread(self._write)
        except StoreError as error:
            if self._well:
                _log.warning("the store cannot be written", exc_info=error)
            self._well = False
            return
        if not self._well:
            _log.warning("the store can be written again")
        self._well = True

    def _write(self) -> None:
        _fill(self.folder / TRIED)
        self.store.try_writing()


def _fill(path: Path) -> None:
    """Write a file to the disk and take it away again."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(os.urandom(TRIED_BYTES))  # nothing that a file system leaves out
                file.flush()
                os.fsync(file.fileno())
        finally:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path.parent}: {error.strerror}") from None
