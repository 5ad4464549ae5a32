"""The bytes of a suite file as lines: bounded, digested, and from a file that can be read twice."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from denv.errors import UsageError

MAX_LINE_BYTES = 16 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"
_SNIFFED = 4096
_NOT_TEXT = {
    b"\x1f\x8b": "compressed (gzip); unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed (zstd); unpack it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"BZh": "compressed (bzip2); unpack it first",
    b"\xfd7zXZ": "compressed (xz); unpack it first",
    b"PAR1": "a Parquet file; a suite is JSONL",
    b"\xff\xfe": "UTF-16; save it as UTF-8",
    b"\xfe\xff": "UTF-16; save it as UTF-8",
}


class Lines:
    """The lines of a suite that are not blank, with their numbers, and the digest of all bytes.

    A line that is too long comes as None. ``sha256`` is that of the file once the iteration has
    come to its end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """The hexadecimal digest of the bytes read so far."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        number = 0
        with open_suite(self._path) as file:
            while raw := file.readline(MAX_LINE_BYTES + 2):
                number += 1
                self._hash.update(raw)
                if number == 1:
                    raw = raw.removeprefix(_BOM)
                if _too_long(raw):
                    self._skip_rest(file, raw)
                    yield number, None
                elif raw.strip(_BLANK):
                    yield number, raw.rstrip(b"\r\n")

    def _skip_rest(self, file: BinaryIO, raw: bytes) -> None:
        while raw and not raw.endswith(b"\n"):
            raw = file.readline(1 << 20)
            self._hash.update(raw)


def _too_long(raw: bytes) -> bool:
    if raw.endswith(b"\n"):
        return len(raw.rstrip(b"\r\n")) > MAX_LINE_BYTES
    return len(raw) > MAX_LINE_BYTES


def open_suite(path: Path) -> BinaryIO:
    """Open a suite's file, and refuse what cannot be read twice or is no text."""
    if str(path) == "-":
        raise UsageError(
            "a suite is read twice, so it cannot come from standard input: name a file"
        )
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UsageError(f"{path}: a folder; name the suite's file")
        if not stat.S_ISREG(mode):
            raise UsageError(f"{path}: not a regular file; a suite is read twice: name a file")
        file = path.open("rb")
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read: {_why(error)}") from None
    problem = _not_text(file.read(_SNIFFED))
    if problem is not None:
        file.close()
        raise UsageError(f"{path}: {problem}")
    file.seek(0)
    return file


def _why(error: OSError | ValueError) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)


def _not_text(head: bytes) -> str | None:
    for magic, what in _NOT_TEXT.items():
        if head.startswith(magic):
            return what
    looks_like_a_suite = head.removeprefix(_BOM).lstrip(_BLANK).startswith(b"{")
    if b"\0" in head and not looks_like_a_suite:
        return "a binary file; a suite is JSONL in UTF-8"
    return None
