"""``denv token``: who may use the pages and the API of ``denv serve``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from denv.cli.lazy import LazyGroup
from denv.cli.parity import FOLDER
from denv.errors import UsageError

if TYPE_CHECKING:
    from denv.store import Role, SqlStore, Token

MOST_NAME = 80
STORE = click.option(
    "--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME."
)


@click.group(cls=LazyGroup)
def token() -> None:
    """Make, list and revoke tokens for the pages and the API of denv serve."""


@token.command()
@click.option(
    "--role",
    type=click.Choice(["read", "run"]),
    required=True,
    help="read: see everything; run: also promote, roll back, trigger, publish.",
)
@click.option(
    "--name", required=True, metavar="NAME", help="Whose it is; stands beside what is done."
)
@click.option(
    "--expires", metavar="30d", help="How long it is good; left out: until it is revoked."
)
@STORE
def new(*, role: Role, name: str, expires: str | None, store: Path | None) -> int:
    """Make a token, and print it: it cannot be shown again, since only its hash is kept.

    Exit codes: 0 made, 2 usage error, 4 error.
    """
    from denv.cli.showing import check_shown, show
    from denv.release import parse_duration
    from denv.report.text import line
    from denv.serve.access.issuing import issue

    name = name.strip()
    if not name or len(name) > MOST_NAME or not name.isprintable():
        raise UsageError(f"--name takes up to {MOST_NAME} letters that can be seen")
    now = time.time()
    good_s = None if expires is None else parse_duration(expires)
    if good_s == 0:
        raise UsageError(f"--expires {expires}: a token that is good for no time lets nobody in")
    until = None if good_s is None else now + good_s
    check_shown("token")
    issued = issue(name, role, now=now, expires=until)
    told = f"token {issued.token.token} of role {role} for {line(name)}{_until(until)}"
    with _opened(store) as opened:
        opened.tokens.add(issued.token)
        try:
            click.echo(f"{told}\nit is shown this once:", err=True)
            show(issued.shown, "token")
        except BaseException:  # what nobody has seen lets nobody in
            opened.tokens.revoke(issued.token.token, at=time.time())
            raise
    return 0


@token.command(name="list")
@STORE
def list_(*, store: Path | None) -> int:
    """List all tokens, the latest first; never what is shown for them.

    Exit codes: 0 listed, 4 error.
    """
    with _opened(store) as opened:
        found = opened.tokens.all()
    now = time.time()
    for each in found:
        click.echo(_row(each, now))
    if not found:
        click.echo("no tokens: denv token new --role read --name NAME makes one", err=True)
    return 0


@token.command()
@click.argument("id_", metavar="ID")
@STORE
def revoke(*, id_: str, store: Path | None) -> int:
    """Take a token back. Whoever is signed in with it is signed out at once.

    Exit codes: 0 taken back, 2 there is no such token, 4 error.
    """
    with _opened(store) as opened:
        if not id_.isprintable() or opened.tokens.get(id_) is None:
            raise UsageError(f"there is no token {id_[:80]!r}: denv token list names them")
        changed = opened.tokens.revoke(id_, at=time.time())
    click.echo(f"{id_} {'is revoked' if changed else 'was revoked before'}", err=True)
    return 0


def _row(token: Token, now: float) -> str:
    from denv.report.text import line

    state = "revoked" if token.revoked is not None else ""
    if not state:
        state = "open" + _until(token.expires) if token.is_open(now) else "expired"
    day = time.strftime("%Y-%m-%d", time.gmtime(token.created))
    return line(f"{token.token}  {token.role:4}  {day}  {state}  {token.name}")


def _until(expires: float | None) -> str:
    return (
        ""
        if expires is None
        else f" until {time.strftime('%Y-%m-%d %H:%MZ', time.gmtime(expires))}"
    )


@contextmanager
def _opened(folder: Path | None) -> Iterator[SqlStore]:
    from denv.store import data_folder, open_store

    store = open_store(data_folder(folder))
    try:
        yield store
    finally:
        store.close()
