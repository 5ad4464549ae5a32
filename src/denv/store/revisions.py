"""Which form the data have, and how they come to the form of this program.

Forms have names, in their order; each but the first has a migration of that name. A new database
is made in the last form at once. An older one is left as it is until it is asked to be changed,
since programs of that form may be at work on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, insert, inspect, select

from denv.errors import StoreError
from denv.store import tables
from denv.store.database import Database

REVISIONS = ("first", "by_start", "run_log", "publications", "tokens", "browsing", "figures")
"""All forms there have been, the present one last."""

PRESENT = REVISIONS[-1]

_BEFORE_NAMES = "1"
"""What `meta.schema_version` says in files from before forms had names."""

_version = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))


@dataclass(frozen=True, slots=True)
class Form:
    """The form that data have: its name, None where there are no data yet."""

    revision: str | None

    @property
    def is_present(self) -> bool:
        """Whether this program reads and writes it."""
        return self.revision == PRESENT

    @property
    def is_older(self) -> bool:
        """Whether it can be changed to the present one."""
        return self.revision in REVISIONS[:-1]


def form_of(connection: Connection) -> Form:
    """Tell the form of what is there, before anything of it is changed."""
    found = inspect(connection)
    # In this order: whoever makes the tables makes them all at once, perhaps just now.
    if not found.has_table(tables.meta.name):
        return Form(None)
    if found.has_table(_version.name):
        revision: str | None = connection.scalar(select(_version.c.version_num))
        return Form(revision)
    number = connection.scalar(
        select(tables.meta.c.value).where(tables.meta.c.name == "schema_version")
    )
    return Form(REVISIONS[0] if number == _BEFORE_NAMES else f"number {number}")


def prepare(database: Database) -> None:
    """Make the tables of an empty database; refuse one of another form.

    Raises
    ------
    StoreError
        The data have another form, or cannot be read.
    """
    with database.read() as connection:
        form = form_of(connection)
    if form.revision is None:
        # Others may be opening the same new database: one of them makes the tables.
        with database.change() as connection:
            form = form_of(connection)
            if form.revision is None:
                _make(connection)
                form = Form(PRESENT)
    _refuse_other(database, form)


def require_present(database: Database) -> None:
    """Refuse a database of another form, an empty one too.

    Raises
    ------
    StoreError
        It has no data, another form, or cannot be read.
    """
    with database.read() as connection:
        form = form_of(connection)
    if form.revision is None:
        raise StoreError(f"{database.name}: there are no data yet")
    _refuse_other(database, form)


def _refuse_other(database: Database, form: Form) -> None:
    if not form.is_present:
        raise StoreError(f"{database.name}: {_refusal(form)}")


def _make(connection: Connection) -> None:
    tables.metadata.create_all(connection)
    _version.create(connection)
    connection.execute(insert(_version), {"version_num": PRESENT})


def _refusal(form: Form) -> str:
    if form.is_older:
        return (
            f"the data have the form {form.revision!r} of an older denv: end what works on them, "
            "then `denv db upgrade`"
        )
    return f"the data have the form {form.revision!r} of a newer denv; this one ends at {PRESENT!r}"


def upgrade(database: Database) -> tuple[str, str] | None:
    """Bring older data to the present form in one transaction; give both names, None if none.

    Raises
    ------
    StoreError
        The data are newer, or cannot be read or written; then nothing was changed.
    """
    with database.change() as connection:
        form = form_of(connection)
        if form.revision is None:
            _make(connection)
            return None
        if form.is_present:
            return None
        if not form.is_older:
            raise StoreError(f"{database.name}: {_refusal(form)}")
        _migrate(connection, form)
    return form.revision, PRESENT


def _migrate(connection: Connection, form: Form) -> None:
    # Imported here: it costs a tenth of a second that only this command needs.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    if not inspect(connection).has_table(_version.name):
        _adopt(connection, form)
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, PRESENT)


def _adopt(connection: Connection, form: Form) -> None:
    """Name the form of a file from before forms had names, some tables of which may be missing."""
    tables.metadata.create_all(connection)
    _version.create(connection)
    connection.execute(insert(_version), {"version_num": form.revision})
