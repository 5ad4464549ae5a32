"""Measurements in the database, with the journal of their probes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, insert, select, update

from denv.records import Json, Side
from denv.store import tables
from denv.store.database import Database
from denv.store.forms import dump, exchange_from_text, exchange_to_text
from denv.store.protocol import MeasureRecord, StoredProbe
from denv.store.runlog import stage_column


class SqlMeasures:
    """Measurements in one database."""

    def __init__(self, database: Database) -> None:
        self._write, self._read = database.write, database.read
        self._insert_probes = database.replacing(tables.probes)

    def create_measure(self, record: MeasureRecord) -> None:
        """Add a new measurement."""
        with self._write() as connection:
            connection.execute(
                insert(tables.measures),
                {
                    "measure": record.measure,
                    "instrument": record.instrument,
                    "started": record.started,
                    "state": record.state,
                    "settings": dump(record.settings),
                    "notes": dump(record.notes),
                    "document": None if record.document is None else dump(record.document),
                    "finished": record.finished,
                    "stage": stage_column(record.settings),
                    "verdict": _verdict(record.document),
                },
            )

    def get_measure(self, measure: str) -> MeasureRecord | None:
        """Give one measurement, or None."""
        with self._read() as connection:
            row = connection.execute(
                select(tables.measures).where(tables.measures.c.measure == measure)
            ).one_or_none()
            return None if row is None else _measure(row)

    def update_measure(
        self,
        measure: str,
        *,
        state: str | None = None,
        notes: Mapping[str, Json] | None = None,
        document: Mapping[str, Json] | None = None,
        finished: float | None = None,
    ) -> None:
        """Change what is given of a measurement."""
        values: dict[str, Any] = {"state": state, "finished": finished}
        values["notes"] = None if notes is None else dump(notes)
        values["document"] = None if document is None else dump(document)
        values["verdict"] = _verdict(document)
        given = {name: value for name, value in values.items() if value is not None}
        columns = tables.measures.c
        with self._write() as connection:
            connection.execute(
                update(tables.measures).where(columns.measure == measure).values(given)
            )

    def keep_probe(self, measure: str, probe: StoredProbe) -> None:
        """Journal one answer; what is there already is replaced."""
        exchange = probe.exchange
        row = (
            measure,
            probe.key,
            probe.side.value,
            probe.answered,
            exchange_to_text(exchange),
            exchange.body,
        )
        with self._write() as connection:
            connection.exec_driver_sql(self._insert_probes, row)

    def find_probe(self, measure: str, key: bytes) -> StoredProbe | None:
        """Give the journaled answer of a probe, or None."""
        columns = tables.probes.c
        with self._read() as connection:
            row = connection.execute(
                select(tables.probes).where(columns.measure == measure).where(columns.key == key)
            ).one_or_none()
            return None if row is None else _probe(row)


def _verdict(document: Mapping[str, Json] | None) -> str | None:
    """Give a document's verdict; those of gates and of speed have none."""
    found = None if document is None else document.get("verdict")
    return found if isinstance(found, str) else None


def _measure(row: Row[Any]) -> MeasureRecord:
    return MeasureRecord(
        measure=row.measure,
        instrument=row.instrument,
        started=row.started,
        state=row.state,
        settings=json.loads(row.settings),
        notes=json.loads(row.notes),
        document=None if row.document is None else json.loads(row.document),
        finished=row.finished,
    )


def _probe(row: Row[Any]) -> StoredProbe:
    exchange = exchange_from_text(row.exchange, row.body)
    return StoredProbe(row.key, Side(row.side), exchange, row.answered)
