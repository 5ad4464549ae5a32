"""The two forms of an Inspect log: one JSON document, or a zip archive of several."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, BinaryIO

from denv.errors import UsageError

MAX_ENTRY_BYTES = 256 * 1024 * 1024
_HEADERS = ("header.json", "_journal/start.json", "start.json")
_SAMPLE = re.compile(r"samples/(.+)_epoch_([0-9]{1,9})\.json")


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

Log = tuple[Mapping[str, Any], Iterable[Mapping[str, Any]]]
"""What a log says of all its samples, and the samples."""


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
    return log, [each for each in samples if isinstance(each, Mapping)]


def open_archive(file: BinaryIO, *, source: str) -> Log:
    """Read a log that is a zip archive; samples come one after the other.

    Raises
    ------
    UsageError
        It is no such archive, is compressed in a way that this Python cannot read, or holds an
        entry that is too large.
    """
    try:
        archive = _ZIP.ZipFile(file)
    except (_ZIP.BadZipFile, NotImplementedError, ValueError, OverflowError) as error:
        raise UsageError(f"{source}: not a zip archive: {error}") from None
    names = set(archive.namelist())
    found = next((name for name in _HEADERS if name in names), None)
    if found is None:
        raise UsageError(f"{source}: no log of Inspect: it has none of {', '.join(_HEADERS)}")
    return _entry(archive, found, source), _samples(archive, source)


def _samples(archive: zipfile.ZipFile, source: str) -> Iterator[Mapping[str, Any]]:
    with archive:
        for name in sorted(filter(_SAMPLE.fullmatch, archive.namelist()), key=_place):
            yield _entry(archive, name, source)


def _place(name: str) -> tuple[int, str]:
    """Sort by epoch, and numbered samples by their number."""
    sample, _, epoch = name.removesuffix(".json").rpartition("_epoch_")
    number = sample.removeprefix("samples/")
    return int(epoch), number.zfill(20) if number.isdecimal() else number


def _entry(archive: zipfile.ZipFile, name: str, source: str) -> Mapping[str, Any]:
    if archive.getinfo(name).file_size > MAX_ENTRY_BYTES:
        size = MAX_ENTRY_BYTES // 1024**2
        raise UsageError(f"{source}: {name} is larger than {size} MiB")
    try:
        text = archive.read(name)
    except NotImplementedError:
        raise UsageError(
            f"{source}: {name} is compressed in a way that cannot be read here: for zstd install "
            "backports.zstd, or convert the log first: inspect log convert --to json"
        ) from None
    except Exception as error:  # noqa: BLE001 - each compression has an error of its own kind
        raise UsageError(f"{source}: {name} cannot be read: {error}") from None
    return _object(text, f"{source}: {name}")


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
