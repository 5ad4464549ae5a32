"""The two forms of an Inspect log: one JSON document, or a zip archive of several."""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, BinaryIO

from denv.errors import UsageError

MAX_ENTRY_BYTES = 256 * 1024 * 1024
MAX_BYTES = 2 * 1024**3
"""Of all entries that are read, unpacked; one after the other, as many as the two that follow."""

MAX_ENTRIES = 100_000
MAX_DIRECTORY_BYTES = 64 * 1024 * 1024
"""Of the list of entries at an archive's end, which is read whole."""

MAX_RATIO = 1000
FREE_BYTES = 16 * 1024 * 1024
"""An entry may be longer than so many times its packed size as long as it is no longer than this.

Logs are packed 5 to 100 times; what is packed 1,000 times is made to fill a machine.
"""

_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93})  # 93 is zstd
_PIECE = 4096
"""Bytes that are read at once: of so few packed ones no method makes more than 150 MB."""

_END = b"PK\5\6"
_END_BYTES = 22
_MOST_COMMENT = 65_535
_HEADERS = ("header.json", "_journal/start.json", "start.json")
_SAMPLE = re.compile(r"samples/(.+)_epoch_([0-9]{1,9})\.json", re.DOTALL)


def _reader() -> Any:
    """Give the module that reads archives: with zstd, as Inspect writes them, where there is one.

    Python itself reads zstd from 3.14 on; before, the package ``backports.zstd`` does.
    """
    if hasattr(zipfile, "ZIP_ZSTANDARD"):
        return zipfile
    try:
        return import_module("backports.zstd.zipfile")
    except ImportError:
        return zipfile


_ZIP = _reader()

Log = tuple[Mapping[str, Any], Iterable[Any]]
"""What a log says of all its samples, and the samples, as they stand there."""


def open_json(text: str, *, source: str) -> Log:
    """Read a log that is one JSON document.

    Raises
    ------
    UsageError
        It is no such document.
    """
    log = _object(text, source)
    samples = log.get("samples")
    if "eval" not in log or not isinstance(samples, list):
        raise UsageError(f"{source}: no log of Inspect: it has no eval and samples")
    return log, samples


def open_archive(file: BinaryIO, *, source: str) -> Log:
    """Read a log that is a zip archive; samples come one after the other.

    Raises
    ------
    UsageError
        It is no such archive, is compressed in a way that this Python cannot read, or holds too
        many entries, or such that are too large, alone or together.
    """
    _check_directory(file, source)
    try:
        archive = _ZIP.ZipFile(file)
    except (_ZIP.BadZipFile, NotImplementedError, ValueError, OverflowError) as error:
        raise UsageError(f"{source}: not a zip archive: {error}") from None
    names = _checked_names(archive, source)
    found = next((name for name in _HEADERS if name in names), None)
    if found is None:
        raise UsageError(f"{source}: no log of Inspect: it has none of {', '.join(_HEADERS)}")
    samples = sorted(filter(_SAMPLE.fullmatch, names), key=_place)
    _check_sizes([archive.getinfo(name) for name in (found, *samples)], source)
    return _entry(archive, found, source), _samples(archive, samples, source)


def _samples(
    archive: zipfile.ZipFile, names: Iterable[str], source: str
) -> Iterator[Mapping[str, Any]]:
    with archive:
        for name in names:
            yield _entry(archive, name, source)


def _check_directory(file: BinaryIO, source: str) -> None:
    """Refuse a list of entries that is too long before all of it is read into memory.

    Where there is no end, or a 64-bit one, the size is for the module that reads it to find.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END_BYTES - _MOST_COMMENT))
    tail = file.read()
    file.seek(0)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        return
    (listed,) = struct.unpack_from("<I", tail, at + 12)
    if listed == 0xFFFF_FFFF and at >= 20 and tail[at - 20 : at - 16] == b"PK\6\7":
        (where,) = struct.unpack_from("<Q", tail, at - 12)
        file.seek(min(where, size))
        record = file.read(56)
        file.seek(0)
        listed = struct.unpack_from("<Q", record, 40)[0] if len(record) == 56 else 0
    if listed > MAX_DIRECTORY_BYTES:
        size_mib = MAX_DIRECTORY_BYTES // 1024**2
        raise UsageError(f"{source}: its list of entries is larger than {size_mib} MiB")


def _checked_names(archive: zipfile.ZipFile, source: str) -> set[str]:
    """Give the entries' names, each of which must be one entry's alone."""
    listed = archive.namelist()
    if len(listed) > MAX_ENTRIES:
        raise UsageError(f"{source}: it has more than {MAX_ENTRIES} entries")
    names = set(listed)
    if len(names) != len(listed):
        raise UsageError(f"{source}: two of its entries have the same name")
    return names


def _check_sizes(entries: Iterable[zipfile.ZipInfo], source: str) -> None:
    """Refuse what would be too much once it is unpacked, before anything is.

    An entry whose size is a lie is found when it is read: no more than its size is unpacked.
    """
    whole = 0
    for entry in entries:
        size = entry.file_size
        if size > MAX_ENTRY_BYTES:
            most = MAX_ENTRY_BYTES // 1024**2
            raise UsageError(f"{source}: {_shown(entry)} is larger than {most} MiB")
        if size > FREE_BYTES and size > MAX_RATIO * entry.compress_size:
            raise UsageError(
                f"{source}: {_shown(entry)} is packed more than {MAX_RATIO} times, as no log is"
            )
        whole += size
    if whole > MAX_BYTES:
        most = MAX_BYTES // 1024**3
        raise UsageError(f"{source}: its samples are larger than {most} GiB in all")


def _shown(entry: zipfile.ZipInfo) -> str:
    return _named(entry.filename)


def _named(name: str) -> str:
    """Write an entry's name on one line."""
    return name[:100].encode("unicode_escape").decode()


def _place(name: str) -> tuple[int, str]:
    """Sort by epoch, and numbered samples by their number."""
    sample, _, epoch = name.removesuffix(".json").rpartition("_epoch_")
    number = sample.removeprefix("samples/")
    return int(epoch), number.zfill(20) if number.isdecimal() else number


def _entry(archive: zipfile.ZipFile, name: str, source: str) -> Mapping[str, Any]:
    try:
        text = _unpacked(archive, name)
    except NotImplementedError:
        raise UsageError(
            f"{source}: {_named(name)} is compressed in a way that cannot be read here: for zstd "
            "install backports.zstd, or convert the log first: inspect log convert --to json"
        ) from None
    except Exception as error:  # noqa: BLE001 - each compression has an error of its own kind
        raise UsageError(f"{source}: {_named(name)} cannot be read: {error}") from None
    return _object(text, f"{source}: {_named(name)}")


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
    """Unpack in pieces: read whole, an entry that lies about its size would be unpacked whole."""
    if archive.getinfo(name).compress_type not in _METHODS:
        raise NotImplementedError
    with archive.open(name) as entry:
        return b"".join(iter(lambda: entry.read(_PIECE), b""))


def _object(text: str | bytes, source: str) -> Mapping[str, Any]:
    try:
        # Logs hold NaN where a metric has no value, which strict JSON has not.
        value = json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise UsageError(f"{source}: nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{source}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{source}: not a JSON object")
    return value
