"""Where a report goes: a path, replaced whole or not at all, or an open text stream."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TextIO

Target = str | PathLike[str] | TextIO

MOST_LINKS = 40
"""As many the system follows."""


@contextmanager
def opened(target: Target) -> Iterator[TextIO]:
    """Open a target for UTF-8 text.

    A path is written beside itself and renamed at the end, so that a reader never finds half a
    report and a failure leaves the older one. Devices and pipes are written directly, and so is
    an open file of this process (``/dev/stdout``, ``/dev/fd/3``), whoever redirected it where.
    """
    if not isinstance(target, str | PathLike):
        yield target
        return
    handle = descriptor_of(target)
    if handle is not None:
        _flush_standard_streams()
        with os.fdopen(os.dup(handle), "w", encoding="utf-8", newline="\n") as stream:
            yield stream
        return
    path = Path(target).resolve()
    if path.exists() and not (path.is_file() and os.access(path.parent, os.W_OK)):
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
        return
    # Names have at most 255 bytes, not characters.
    name = os.fsencode(path.name)[:200].decode("utf-8", "ignore")
    beside = path.with_name(f".{name}.{secrets.token_hex(4)}.part")
    try:
        # not tempfile, whose mode of 600 would hide the report from other users
        with beside.open("x", encoding="utf-8", newline="\n") as stream:
            yield stream
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def descriptor_of(target: str | PathLike[str]) -> int | None:
    """Give the open file of this process that a path names, also through links; else None.

    Opened by its path it would be another one, which begins at its start and may be cut there.
    """
    path = Path(target)
    for _ in range(MOST_LINKS):
        folder = path.parent.resolve()
        if str(folder) in {"/dev/fd", f"/proc/{os.getpid()}/fd"}:
            return int(path.name) if path.name.isdecimal() else None
        if not path.is_symlink():
            return None
        path = folder / path.readlink()
    return None


def _flush_standard_streams() -> None:
    """Let what was printed before stand before the report."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
