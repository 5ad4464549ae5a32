"""The weights table in use: taken from a file and from signed posts, the higher version wins."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from denv.errors import UsageError
from denv.rollout.weights import Table, WeightsError
from denv.router.fleet import Fleet, check_table
from denv.router.log import say, warn
from denv.router.metrics import Metrics

LOOK_EVERY_S = 0.5
MAX_BYTES = 16 * 1024 * 1024


class Taken(StrEnum):
    """What became of a table that was offered."""

    NEW = "new"
    SAME = "same"
    OLDER = "older"
    OTHER = "other"
    """Another one of the version that is in use."""


_NOT_TAKEN = {
    Taken.OLDER: "it is older than the table in use",
    Taken.OTHER: "it has the version of the table in use",
}


@dataclass(slots=True)
class Tables:
    """Holds the table in use; ``changed`` is told of each new one."""

    fleet: Fleet
    metrics: Metrics
    changed: Callable[[], None]
    file: Path | None = None
    table: Table | None = None
    fault: str | None = None
    """Why the file, as it is now, is not in use."""
    _seen: tuple[int, ...] | None = field(default=None)

    def offer(self, table: Table) -> Taken:
        """Use a table if it is newer than the one in use.

        Raises
        ------
        WeightsError
            Requests cannot be spread by it.
        """
        check_table(table)
        if self.table is not None:
            if table == self.table:
                return Taken.SAME
            if table.version < self.table.version:
                return Taken.OLDER
            if table.version == self.table.version:
                return Taken.OTHER
        self.fleet.use(table)
        self.table = table
        say("table", version=table.version, replicas=len(table.weights))
        self.changed()
        return Taken.NEW

    def read_first(self) -> None:
        """Read the file at the start.

        Raises
        ------
        UsageError
            It is there and holds no table.
        """
        if self.file is None:
            return
        self._seen = _signature(self.file)
        if self._seen is None:
            self.fault = "there is no such file yet"
            warn("no-table", file=str(self.file))
            return
        try:
            self.offer(_read(self.file))
        except WeightsError as error:
            raise UsageError(f"{self.file}: {error}") from None

    async def watch(self) -> None:
        """Take each new table that the file gets, for ever; a broken one changes nothing."""
        while self.file is not None:
            await asyncio.sleep(LOOK_EVERY_S)
            self.look()

    def look(self) -> None:
        """Read the file if it has changed."""
        if self.file is None:
            return
        seen = _signature(self.file)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            taken = self.offer(_read(self.file))
        except WeightsError as error:
            self._faulty(str(error))
            return
        why = _NOT_TAKEN.get(taken)
        if why is None:
            self.fault = None
        else:
            self._faulty(why)

    def _faulty(self, why: str) -> None:
        self.fault = why
        self.metrics.table_faults.add()
        warn("table-not-taken", file=str(self.file), why=why)

    def keep(self, table: Table) -> None:
        """Write a posted table to the file, in one step, so that the next start knows it.

        Raises
        ------
        OSError
            It cannot be written.
        """
        if self.file is None:
            return
        beside = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            with beside.open("wb") as file:
                file.write(table.to_json())
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.file)
        finally:
            beside.unlink(missing_ok=True)
        self._seen = _signature(self.file)
        self.fault = None


def _signature(path: Path) -> tuple[int, ...] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino, about.st_dev


def _read(path: Path) -> Table:
    try:
        # Not blocking, so that a pipe in the file's place cannot stop the router.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise WeightsError("it is no regular file")
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise WeightsError(f"it cannot be read: {error.strerror}") from None
    if len(text) > MAX_BYTES:
        raise WeightsError(f"it is longer than {MAX_BYTES} bytes")
    return read_table(text)


def read_table(text: bytes) -> Table:
    """Read a table.

    Raises
    ------
    WeightsError
        It is none, or a weight is beyond what a number holds.
    """
    try:
        return Table.from_json(text)
    except OverflowError:
        raise WeightsError("a weight is beyond measure") from None
