"""Tokens and sessions in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, or_, select, update

from denv.store import tables
from denv.store.database import Database
from denv.store.tokens import IDLE_S, SESSION_S, Session, Token


class SqlTokens:
    """Tokens and sessions in one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, token: Token) -> None:
        """Keep a new token."""
        with self._database.write() as connection:
            connection.execute(insert(tables.tokens), asdict(token))

    def get(self, token: str) -> Token | None:
        """Give a token by its id, or None."""
        where = tables.tokens.c.token == token
        with self._database.read() as connection:
            row = connection.execute(select(tables.tokens).where(where)).one_or_none()
        return None if row is None else _token(row)

    def all(self) -> Sequence[Token]:
        """Give all tokens, the latest first; those taken back too."""
        columns = tables.tokens.c
        query = select(tables.tokens).order_by(columns.created.desc(), columns.token)
        with self._database.read() as connection:
            return [_token(row) for row in connection.execute(query)]

    def revoke(self, token: str, *, at: float) -> bool:
        """Take a token back, and end its sessions; False where it was so already or is unknown."""
        columns = tables.tokens.c
        with self._database.write() as connection:
            changed = connection.execute(
                update(tables.tokens)
                .where(columns.token == token, columns.revoked.is_(None))
                .values(revoked=at)
            )
            connection.execute(delete(tables.sessions).where(tables.sessions.c.token == token))
            return bool(changed.rowcount)

    def open_session(self, session: Session) -> None:
        """Keep a session, and take away all that have ended."""
        with self._database.write() as connection:
            connection.execute(delete(tables.sessions).where(_ended(session.created)))
            connection.execute(insert(tables.sessions), asdict(session))

    def session(self, digest: bytes) -> tuple[Session, Token] | None:
        """Give a session with its token, or None; both may have ended."""
        columns = tables.sessions.c
        with self._database.read() as connection:
            row = connection.execute(
                select(tables.sessions).where(columns.digest == digest)
            ).one_or_none()
            if row is None:
                return None
            of = select(tables.tokens).where(tables.tokens.c.token == row.token)
            token = connection.execute(of).one_or_none()
        return None if token is None else (Session(**row._asdict()), _token(token))

    def see_session(self, digest: bytes, *, at: float) -> None:
        """Note that a session was used."""
        of = update(tables.sessions).where(tables.sessions.c.digest == digest)
        with self._database.write() as connection:
            connection.execute(of.values(seen=at))

    def end_session(self, digest: bytes) -> None:
        """Take a session away."""
        with self._database.write() as connection:
            connection.execute(delete(tables.sessions).where(tables.sessions.c.digest == digest))

    def end_old_sessions(self, now: float) -> int:
        """Take all sessions away that have ended by now; give how many."""
        with self._database.write() as connection:
            return connection.execute(delete(tables.sessions).where(_ended(now))).rowcount


def _ended(now: float) -> ColumnElement[bool]:
    columns = tables.sessions.c
    return or_(columns.created <= now - SESSION_S, columns.seen <= now - IDLE_S)


def _token(row: Row[Any]) -> Token:
    return Token(**row._asdict())
