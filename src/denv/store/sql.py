"""The store on SQLAlchemy Core: a SQLite file by default, or PostgreSQL."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

from denv.errors import StoreError
from denv.store import tables
from denv.store.alarming import AlarmStore
from denv.store.alarms_sql import SqlAlarmStore
from denv.store.browsing import Browsing
from denv.store.browsing_sql import SqlBrowsing
from denv.store.claims import AdvisoryClaims, Claims, FileClaims, Held
from denv.store.database import Database
from denv.store.engines import database_url, postgres_database, sqlite_database
from denv.store.figures import Figures
from denv.store.figures_sql import SqlFigures
from denv.store.measures_sql import SqlMeasures
from denv.store.meta_sql import SqlMeta
from denv.store.publications import PublicationStore
from denv.store.publications_sql import SqlPublications
from denv.store.revisions import prepare
from denv.store.rollouts import RolloutStore
from denv.store.rollouts_sql import SqlRolloutStore
from denv.store.runlog import RunLog
from denv.store.runlog_sql import SqlRunLog
from denv.store.runs_sql import SqlRuns
from denv.store.schedules_sql import SqlScheduleStore
from denv.store.scheduling import ScheduleStore
from denv.store.tokens import TokenStore
from denv.store.tokens_sql import SqlTokens

FILE_NAME = "denv.sqlite3"


def open_store(folder: Path) -> SqlStore:
    """Open the data of a folder, which is made where it is missing.

    Where ``$DENV_DATABASE`` names a database, the data are there, and the folder holds what is
    of this machine alone.

    Raises
    ------
    StoreError
        The data cannot be read or written, or have the form of another program version.
    UsageError
        ``$DENV_DATABASE`` names no database that can be used.
    """
    database, claims = find_database(folder)
    try:
        prepare(database)
    except BaseException:
        database.engine.dispose()
        raise
    return SqlStore(database, claims)


def find_database(folder: Path) -> tuple[Database, Claims]:
    """Give the database of a folder as it is, and who may hold what of it."""
    url = database_url()
    if url is not None:
        database = postgres_database(url)
        return database, AdvisoryClaims(database)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: {error.strerror}") from error
    return sqlite_database(folder / FILE_NAME), FileClaims(folder)


class SqlStore(SqlRuns, SqlMeasures):
    """Runs, measurements, rollouts, alarms and schedules in one database."""

    def __init__(self, database: Database, claims: Claims) -> None:
        SqlRuns.__init__(self, database)
        SqlMeasures.__init__(self, database)
        self._claims = claims
        self.log: RunLog = SqlRunLog(database)
        self.browsing: Browsing = SqlBrowsing(database)
        self.figures: Figures = SqlFigures(database)
        self.meta = SqlMeta(database)
        self.publications: PublicationStore = SqlPublications(database)
        self.tokens: TokenStore = SqlTokens(database)
        self.rollouts: RolloutStore = SqlRolloutStore(database)
        self.alarms: AlarmStore = SqlAlarmStore(database)
        self.schedules: ScheduleStore = SqlScheduleStore(database)

    def try_writing(self) -> None:
        """Write a row of no meaning.

        Raises
        ------
        StoreError
            The store cannot be written.
        """
        with self._database.write() as connection:
            connection.exec_driver_sql(
                self._database.replacing(tables.meta), ("tried", os.urandom(8).hex())
            )

    def claim(self, run: str, *, shared: bool = False) -> AbstractContextManager[Held]:
        """Hold a run for the length of the block; ``ResumeError`` where another process does.

        With ``shared`` others may hold it too that share it, but nobody for himself.
        """
        return self._claims.run(run, shared=shared)

    def claim_shard(self, run: str, first: int, last: int) -> AbstractContextManager[None]:
        """Hold some cases of a run; others may hold other cases, but nobody the whole run."""
        return self._claims.shard(run, first, last)

    def close(self) -> None:
        """Let go of the database."""
        self._database.engine.dispose()
