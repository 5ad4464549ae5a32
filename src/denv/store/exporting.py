"""The tables as Parquet files, for whoever looks at them with other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, Connection, Float, Integer, LargeBinary, Table, select

from denv.errors import StoreError, UsageError
from denv.store import tables
from denv.store.database import Database

_ROWS = 2_000
"""Rows of one row group, so that a large journal is never in memory as a whole."""

_NEVER = (tables.meta, tables.tokens, tables.sessions)
"""What says who may ask is no data to look at."""

NAMES = tuple(table.name for table in tables.metadata.sorted_tables if table not in _NEVER)


def export(
    database: Database,
    folder: Path,
    *,
    names: Sequence[str] = NAMES,
    on_table: Callable[[str, int], None] = lambda _name, _rows: None,
) -> None:
    """Write a file a table, and tell of each how many rows it has.

    All tables are read in one transaction, so that they belong together.

    Raises
    ------
    UsageError
        The extra is not installed, or there is a file of that name.
    StoreError
        Something cannot be read or written.
    """
    _require_pyarrow()
    files = {name: folder / f"{name}.parquet" for name in names}
    for path in files.values():
        if path.exists():
            raise UsageError(f"{path} is there already: export into an empty folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _all_or_none(files.values()), database.read() as connection:
            if not database.is_sqlite:
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for name, path in files.items():
                on_table(name, _write(connection, tables.metadata.tables[name], path))
    except OSError as error:
        raise StoreError(f"{error.filename or folder}: {error.strerror}") from error


@contextmanager
def _all_or_none(files: Iterable[Path]) -> Iterator[None]:
    """Leave no file of an export that broke off: a table's first rows look like all of it."""
    try:
        yield
    except BaseException:
        for path in files:
            path.unlink(missing_ok=True)
        raise


def _require_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415 - slow, and an extra
    except ImportError:
        raise UsageError(
            "Parquet needs the extra `export`: pip install 'denv-parity[export]'"
        ) from None


def _write(connection: Connection, table: Table, path: Path) -> int:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    schema = pa.schema([(column.name, _kind(column.type)) for column in table.columns])
    ordered = select(table).order_by(*table.primary_key)
    written = 0
    path.touch(mode=0o600)  # prompts and answers are their owner's
    with (
        parquet.ParquetWriter(path, schema, compression="zstd") as writer,
        connection.execution_options(yield_per=_ROWS).execute(ordered) as rows,
    ):
        for part in rows.mappings().partitions():
            batch = pa.RecordBatch.from_pylist(list(map(dict, part)), schema=schema)
            writer.write_batch(batch)
            written += batch.num_rows
    return written


def _kind(kind: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    match kind:
        case Integer() | BigInteger():
            return pa.int64()
        case Float():
            return pa.float64()
        case LargeBinary():
            return pa.binary()
        case _:
            return pa.string()
