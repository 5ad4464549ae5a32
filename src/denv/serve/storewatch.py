"""Whether the data folder can be written: tried now and then, and said when that changes."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from denv.errors import StoreError
from denv.store import SqlStore

TRY_EVERY_S = 10.0
TRIED = ".write-test"
TRIED_BYTES = 256 * 1024
"""More than a database's own files may have left of room that is theirs already."""

LONGEST_TRY_S = 2.0
"""A store that takes longer counts as one that cannot be written; the try itself goes on."""

_log = logging.getLogger("denv.serve")


@dataclass
class StoreWatch:
    """Tries to write to a store and beside it, at most once in ``every_s``."""

    store: SqlStore
    folder: Path
    clock: Callable[[], float] = time.monotonic
    every_s: float = TRY_EVERY_S
    longest_s: float = LONGEST_TRY_S
    _well: bool = True
    _tried: float | None = None
    _trying: asyncio.Task[None] | None = None

    async def writes(self) -> bool:
        """Tell whether the store can be written now, or could a moment ago; soon in any case."""
        if self._trying is None and self._is_due():
            self._trying = asyncio.create_task(self._try())
        if self._trying is not None:
            # Whoever else locks the database may hold up a write for as long as that waits.
            done, _ = await asyncio.wait({self._trying}, timeout=self.longest_s)
            for each in done:
                each.result()
        if self._trying is not None:
            self._note(StoreError(f"a write takes longer than {self.longest_s:g} s"))
        return self._well

    def _is_due(self) -> bool:
        return self._tried is None or self.clock() - self._tried >= self.every_s

    async def watch(self) -> None:
        """Try for ever, so that the log says it where nobody asks."""
        while True:
            await self.writes()
            await asyncio.sleep(self.every_s)

    async def _try(self) -> None:
        try:
            await asyncio.to_thread(self._write)
        except StoreError as error:
            self._note(error)
        else:
            self._note(None)
        finally:
            self._tried, self._trying = self.clock(), None

    def _note(self, error: StoreError | None) -> None:
        """Take down whether it is well; say so where that has changed."""
        if error is not None and self._well:
            _log.warning("the store cannot be written", exc_info=error)
        if error is None and not self._well:
            _log.warning("the store can be written again")
        self._well = error is None

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
