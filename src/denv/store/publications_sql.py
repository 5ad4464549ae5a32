"""Published reports in the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from denv.store import tables
from denv.store.database import Database
from denv.store.forms import dump
from denv.store.publications import Publication


class SqlPublications:
    """Published reports in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def publish(self, publication: Publication, files: Mapping[str, bytes]) -> None:
        """Keep a report and its files in one transaction."""
        row = {
            "publication": publication.publication,
            "run": publication.run,
            "stage": publication.stage,
            "created": publication.created,
            "expires": publication.expires,
            "revoked": publication.revoked,
            "indexed": int(publication.indexed),
            "head": dump(publication.head),
        }
        rows = [
            {"publication": publication.publication, "name": name, "body": body}
            for name, body in files.items()
        ]
        with self._database.write() as connection:
            connection.execute(insert(tables.publications), row)
            connection.execute(insert(tables.publication_files), rows)

    def get(self, publication: str) -> Publication | None:
        """Give one published report, or None."""
        where = tables.publications.c.publication == publication
        with self._database.read() as connection:
            row = connection.execute(select(tables.publications).where(where)).one_or_none()
            return None if row is None else _publication(row)

    def file(self, publication: str, name: str) -> bytes | None:
        """Give one of its files, or None."""
        columns = tables.publication_files.c
        with self._database.read() as connection:
            body: bytes | None = connection.scalar(
                select(columns.body).where(columns.publication == publication, columns.name == name)
            )
        return body

    def all(self, stage: str | None = None) -> Sequence[Publication]:
        """Give all, or those about one stage, the latest first; those taken back too."""
        columns = tables.publications.c
        query = select(tables.publications).order_by(columns.created.desc())
        if stage is not None:
            query = query.where(columns.stage == stage)
        with self._database.read() as connection:
            return [_publication(row) for row in connection.execute(query)]

    def revoke(self, publication: str, *, at: float) -> bool:
        """Take a report back, and its files away; False where it was so already or is unknown."""
        columns, files = tables.publications.c, tables.publication_files.c
        with self._database.write() as connection:
            changed = connection.execute(
                update(tables.publications)
                .where(columns.publication == publication, columns.revoked.is_(None))
                .values(revoked=at)
            )
            connection.execute(
                delete(tables.publication_files).where(files.publication == publication)
            )
            return bool(changed.rowcount)


def _publication(row: Row[Any]) -> Publication:
    values = {**row._asdict(), "indexed": bool(row.indexed), "head": json.loads(row.head)}
    return Publication(**values)
