"""Carry a weights table to its file and its webhook, and read it back from both."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from denv.release import Weights
from denv.rollout.steps.webhook import WeightsHook
from denv.rollout.weights import Table, WeightsError

NO_CARRIER = "the release names nothing that carries weights: none were set"

MAX_FILE_BYTES = 16 * 1024 * 1024

READ_BACK_PAUSE_S = 0.2


@dataclass(frozen=True, slots=True)
class WeightsOutcome:
    """Whether the table holds, read back everywhere; ``why`` says what is wrong where it does not.

    ``note`` says so where nothing carries weights.
    """

    held: bool
    why: str = ""
    note: str = ""


class _NotHeldError(Exception):
    """The table could not be set, or another is read back."""


async def set_weights(
    weights: Weights | None,
    table: Table,
    *,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> WeightsOutcome:
    """Set a table and read it back; setting the same one again changes nothing.

    An older table never replaces a newer one: that is an outcome, not an overwriting.

    Raises
    ------
    UsageError
        The webhook's secret cannot be read.
    """
    if weights is None:
        return WeightsOutcome(held=True, note=NO_CARRIER)
    try:
        if weights.file is not None:
            await asyncio.to_thread(_write_file, Path(weights.file), table)
        if weights.webhook is not None:
            await _tell(WeightsHook(weights.webhook, clock=clock), table, sleep)
    except _NotHeldError as error:
        return WeightsOutcome(held=False, why=str(error))
    return WeightsOutcome(held=True)


# ---------------------------------------------------------------- the file


async def changed_file(weights: Weights | None, table: Table) -> str:
    """Say how the file differs from the table that was set; empty where it holds it, or is none."""
    if weights is None or weights.file is None:
        return ""
    return await asyncio.to_thread(_changed, Path(weights.file), table)


def _changed(path: Path, table: Table) -> str:
    try:
        found = _read_file(path)
    except _NotHeldError as error:
        return str(error)
    if found == table:
        return ""
    if found is None:
        return f"{path}: the file is gone"
    return f"{path}: it holds other weights, version {found.version}, than were set"


def _write_file(path: Path, table: Table) -> None:
    """Replace the file in one step, durably, and read it back."""
    target = Path(os.path.realpath(path))
    try:
        with _locked(target):
            if _is_there(_read_file(target), table, str(path)):
                return
            _replace(target, table.to_json())
            if _read_file(target) != table:
                raise _NotHeldError(f"{path}: another table is read back than was written")
    except OSError as error:
        raise _NotHeldError(f"{path}: {error.strerror or error}") from None


def _read_file(path: Path) -> Table | None:
    """Read the table of a file; None where there is no file."""
    try:
        with path.open("rb") as file:
            return Table.from_json(file.read(MAX_FILE_BYTES))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _NotHeldError(f"{path}: {error.strerror or error}") from None
    except WeightsError as error:
        raise _NotHeldError(f"{path}: {error}") from None


def check_file(path: Path, *, stage: str) -> str:
    """Say why a stage's table could never be written to a file; empty where nothing is seen."""
    target = Path(os.path.realpath(path))
    if wrong := _cannot_be_replaced(target):
        return f"{path}: {wrong}"
    try:
        found = _read_file(target)
    except _NotHeldError as error:
        return str(error)
    if found is None or found.stage == stage:
        return ""
    return f"{path}: it holds the table of another stage, {found.stage}"


def _cannot_be_replaced(target: Path) -> str:
    if not target.parent.is_dir():
        return "its folder is not there"
    if target.is_dir():
        return "is a folder"
    if target.exists() and not target.is_file():
        return "is no regular file"
    return "" if os.access(target.parent, os.W_OK | os.X_OK) else "its folder cannot be written"


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Keep others out between looking and writing: an older table must not come last."""
    lock = os.open(target.with_name(f".{target.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _replace(target: Path, content: bytes) -> None:
    draft = target.with_name(f".{target.name}.draft")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


# ---------------------------------------------------------------- the webhook


async def _tell(hook: WeightsHook, table: Table, sleep: Callable[[float], Awaitable[None]]) -> None:
    async with hook:
        if _is_there(_unwrapped(await hook.get()), table, hook.url):
            return
        refused = await hook.post(table)
        if refused is not None:
            raise _NotHeldError(f"{hook.url}: {refused}")
        await _read_back(hook, table, sleep)


async def _read_back(
    hook: WeightsHook, table: Table, sleep: Callable[[float], Awaitable[None]]
) -> None:
    """Look until the table is there: a router may take a moment to hold what it accepted."""
    looks = max(1, round(hook.timeout_s / READ_BACK_PAUSE_S))
    for look in range(looks):
        if look:
            await sleep(READ_BACK_PAUSE_S)
        if _is_there(_unwrapped(await hook.get()), table, hook.url):
            return
    raise _NotHeldError(f"{hook.url}: the table was accepted, and another one is read back")


def _unwrapped(got: Table | str | None) -> Table | None:
    if isinstance(got, str):
        raise _NotHeldError(got)
    return got


def _is_there(found: Table | None, table: Table, where: str) -> bool:
    """Tell whether a carrier holds the table already; a newer or another one is an error."""
    if found is None:
        return False
    if found.stage != table.stage:
        raise _NotHeldError(f"{where}: it holds the table of another stage, {found.stage}")
    if found.version < table.version or found == table:
        return found == table
    if found.version > table.version:
        raise _NotHeldError(
            f"{where}: it holds version {found.version}, newer than {table.version}: left alone"
        )
    raise _NotHeldError(f"{where}: it holds another table of the same version {table.version}")
