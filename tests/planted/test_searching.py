"""The search finds what is there, however it is spelt or packed."""

from __future__ import annotations

import base64
import gzip
import html
import json
import sqlite3
from contextlib import closing
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.planted.searching import search

SECRET = 'sk-pl/anted+0123&<>"456789'
SECRETS = {"key": SECRET, "other": "never-written-anywhere"}


@pytest.mark.parametrize(
    "written",
    [
        SECRET.encode(),
        quote(SECRET).encode(),
        html.escape(f"Bearer {SECRET}").encode(),
        json.dumps({"a": SECRET}).encode(),
        base64.b64encode(f"u:{SECRET}".encode()),
        base64.b64encode(f"us:{SECRET}@".encode()),
        base64.urlsafe_b64encode(f"use:{SECRET} more".encode()),
        SECRET.encode().hex().encode(),
        gzip.compress(SECRET.encode(), mtime=0),
    ],
)
def test_spellings(tmp_path, written):
    """Each form is found, and told with its file."""
    (tmp_path / "a.txt").write_bytes(b"x" * 100 + b" " if written[:1] != b"\x1f" else b"")
    with (tmp_path / "a.txt").open("ab") as file:
        file.write(written)
    found = search(tmp_path, SECRETS)
    assert found
    assert all(line.startswith("key in ./a.txt") for line in found)


def test_tables(tmp_path):
    """Cells of databases are looked into, packed ones too, and columns of Parquet."""
    with closing(sqlite3.connect(tmp_path / "a.sqlite3")) as connection, connection:
        connection.execute("CREATE TABLE t (a TEXT, b BLOB)")
        connection.execute(
            "INSERT INTO t VALUES ('x', ?)", (gzip.compress(SECRET.encode(), mtime=0),)
        )
    pq.write_table(pa.table({"a": [SECRET] * 3}), tmp_path / "a.parquet", compression="zstd")
    assert "key in ./a.sqlite3, table t" in search(tmp_path, SECRETS)
    assert "key in ./a.parquet, a column" in search(tmp_path, SECRETS)


def test_nothing_where_there_is_nothing(tmp_path):
    """A part of a secret is none."""
    (tmp_path / "a").write_bytes(SECRET[:-6].encode())
    assert search(tmp_path, SECRETS) == []
