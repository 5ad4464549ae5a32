"""Look for planted secrets in all that was written, however it is spelt or packed."""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq


def spellings(secret: str) -> set[bytes]:
    """Give the forms in which a secret would still be one: quoted, escaped, in base64, in hex."""
    raw = secret.encode()
    forms = {
        secret,
        quote(secret),
        quote(secret, safe=""),
        html.escape(secret),
        json.dumps(secret)[1:-1],
        raw.hex(),
        raw.hex().upper(),
        "".join(f"%{byte:02X}" for byte in raw),
    }
    found = {form.encode() for form in forms}
    # In base64 a text looks otherwise at each of three places; its ends hang on what is beside it.
    for shift in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found.add(encode(b"\0" * shift + raw)[4 if shift else 0 : -4])
    return found


def planted_in(data: bytes, secrets: Mapping[str, str]) -> list[str]:
    """Name the secrets that stand in the data."""
    return [
        name for name, secret in secrets.items() if any(form in data for form in spellings(secret))
    ]


def layers(path: Path) -> Iterator[tuple[str, bytes]]:
    """Give a file's bytes, and what is packed in it: cells of tables, columns, zipped bytes."""
    data = path.read_bytes()
    yield path.name, data
    if data.startswith(b"SQLite format 3\0"):
        yield from _cells(path)
    elif path.suffix == ".parquet":
        for column in pq.read_table(path).to_pydict().values():
            yield f"{path.name}, a column", "\n".join(map(str, column)).encode()
            yield f"{path.name}, bytes", b"\n".join(c for c in column if isinstance(c, bytes))
    elif data.startswith(b"\x1f\x8b"):
        yield f"{path.name}, unzipped", gzip.decompress(data)


def _cells(path: Path) -> Iterator[tuple[str, bytes]]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        names = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        for name in names:
            held = io.BytesIO()
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                for cell in row:
                    held.write(cell if isinstance(cell, bytes) else str(cell).encode())
                    held.write(b"\n" + _inflated(cell))
            yield f"{path.name}, table {name}", held.getvalue()


def _inflated(cell: object) -> bytes:
    if not isinstance(cell, bytes):
        return b""
    try:
        return zlib.decompress(cell, wbits=47)  # zlib or gzip, told by its head
    except zlib.error:
        return b""


def search(folder: Path, secrets: Mapping[str, str]) -> list[str]:
    """Say of each file below a folder which secrets stand in it, and where."""
    return [
        f"{name} in {path.relative_to(folder).parent}/{where}"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
        for where, data in layers(path)
        for name in planted_in(data, secrets)
    ]
