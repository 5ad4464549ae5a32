"""A file that a person wrote, read as text within bounds; every fault names the file."""

from __future__ import annotations

from pathlib import Path

from denv.errors import UsageError

_UNITS = ((1024**2, "MiB"), (1024, "KiB"), (1, "bytes"))


NOT_REGULAR = "cannot be read: not a regular file"


def is_special(path: Path) -> bool:
    """Whether it is a pipe or a device, which may be read for ever, or be waited for."""
    return path.exists() and not (path.is_file() or path.is_dir())


def read_text(path: Path, *, most: int, error: type[UsageError] = UsageError) -> str:
    """Read a file of at most so many bytes of UTF-8, without a byte order mark.

    Raises
    ------
    UsageError
        Of the class ``error``: it cannot be read, is larger, or is not UTF-8, with its line.
    """
    try:
        if is_special(path):
            raise error(f"{path}: {NOT_REGULAR}")
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except OSError as fault:
        raise error(f"{path}: cannot be read: {fault.strerror}") from None
    except ValueError:
        raise error(f"{str(path)!r}: cannot be read: no file has such a name") from None
    if len(raw) > most:
        unit, name = next((unit, name) for unit, name in _UNITS if most >= unit)
        raise error(f"{path}: larger than {most // unit} {name}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw.count(b"\n", 0, fault.start) + 1
        raise error(f"{path}:{line}: not UTF-8") from None
