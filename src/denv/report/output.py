"""Where a report goes: a path, replaced whole or not at all, or an open text stream."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TextIO

Target = str | PathLike[str] | TextIO


@contextmanager
def opened(target: Target) -> Iterator[TextIO]:
    """Open a target for UTF-8 text.

    A path is written beside itself and renamed at the end, so that a reader never finds half a
    report and a failure leaves the older one; devices and pipes are written directly.
    """
    if not isinstance(target, str | PathLike):
        yield target
        return
    path = Path(target).resolve()
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
        return
    beside = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        # not tempfile, whose mode of 600 would hide the report from other users
        with beside.open("x", encoding="utf-8", newline="\n") as stream:
            yield stream
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
