"""Gates that were asked for, a file each in the data folder, for whoever asks how one ended."""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from denv.errors import StoreError, UsageError
from denv.report.gate import RUNNING, broken

GATE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
GONE = "the process that ran the gate is gone"


@dataclass(frozen=True, slots=True)
class GateFolder:
    """The gates of one data folder."""

    data: Path

    def begin(self, document: Mapping[str, Any]) -> None:
        """Keep a new gate. One that was refused before anything was sent gives its id free.

        Raises
        ------
        UsageError
            There is one with this id.
        """
        path = self._path(document["gate"])
        earlier = self.get(document["gate"])
        if earlier is not None and earlier["exit_code"] == UsageError.exit_code:
            self.keep(document)
            return
        try:
            self._make()
            path.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            raise UsageError(f"there is a gate {document['gate']!r} already") from None
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror}") from error
        self.keep(document)

    def keep(self, document: Mapping[str, Any]) -> None:
        """Put a gate's document in the place of the earlier one, whole or not at all."""
        path = self._path(document["gate"])
        record = {"document": document, "host": socket.gethostname(), "pid": os.getpid()}
        fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            self._make()
            fresh.touch(mode=0o600)
            fresh.write_text(json.dumps(record, allow_nan=False), "utf-8")
            fresh.replace(path)
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror}") from error

    def get(self, gate: str) -> dict[str, Any] | None:
        """Give a gate's document, or None. One whose process is gone has ended in an error."""
        if not GATE_ID.fullmatch(gate):
            return None
        try:
            record = json.loads(self._path(gate).read_text("utf-8") or "null")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(f"{self._path(gate)}: {error}") from error
        if record is None:  # just begun
            return None
        document: dict[str, Any] = record["document"]
        if document["state"] == RUNNING and _is_gone(record):
            return broken(document, GONE, exit_code=4, finished=now())
        return document

    def of_release(self, name: str) -> Iterator[dict[str, Any]]:
        """Give a release's gates, the one that was started last first."""
        folder = self._path("x").parent
        found = [self.get(path.stem) for path in folder.glob("[!.]*.json")]
        mine = [each for each in found if each and (each["release"] or {}).get("name") == name]
        yield from sorted(mine, key=lambda each: str(each["started"]), reverse=True)

    def _make(self) -> None:
        self._path("x").parent.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _path(self, gate: str) -> Path:
        return self.data / "gates" / f"{gate}.json"


def new_gate_id() -> str:
    """Give an id by which gates sort in the order of their beginning."""
    return f"gate-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def now() -> str:
    """Give the time as documents write it, to the millisecond: two gates may share a second."""
    moment = datetime.fromtimestamp(time.time(), UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_gone(record: Mapping[str, Any]) -> bool:
    """Whether the process has ended; of another machine's nothing can be said."""
    if record["host"] != socket.gethostname():
        return False
    with suppress(PermissionError):
        try:
            os.kill(int(record["pid"]), 0)
        except ProcessLookupError:
            return True
    return False
