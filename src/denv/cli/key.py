"""``denv key``: the key that signs public reports."""

from __future__ import annotations

from pathlib import Path

import click

from denv.cli.lazy import LazyGroup
from denv.cli.parity import FILE, FOLDER
from denv.errors import UsageError

STORE = click.option(
    "--store", type=FOLDER, metavar="DIR", help="Data folder instead of $DENV_HOME."
)


@click.group(cls=LazyGroup)
def key() -> None:
    """Make and show the key that signs public reports."""


@key.command()
@click.option("--out", type=FILE, metavar="F", help="Where it goes, instead of the data folder.")
@STORE
def new(*, out: Path | None, store: Path | None) -> int:
    """Make an Ed25519 key: a private file of mode 600, and the public one beside it.

    The public part is printed: give it to those who check your reports. A key that is there is
    never overwritten.

    Exit codes: 0 made, 2 usage error, 4 error.
    """
    from denv.cli.showing import check_shown
    from denv.publish.keys import new_key, public_path

    check_shown("key")
    path = _path(out, store)
    public = new_key(path)
    click.echo(f"private key (keep it): {path}", err=True)
    click.echo(f"public key (give it away): {public_path(path)}", err=True)
    click.echo(public, nl=False)
    return 0


@key.command()
@click.argument("file", type=FILE, metavar="[F]", required=False)
@STORE
def show(*, file: Path | None, store: Path | None) -> int:
    """Print the public part of a private key, the data folder's if none is named.

    Exit codes: 0 shown, 2 there is no such key.
    """
    from denv.publish.keys import load_signer, public_pem

    path = _path(file, store)
    if not path.exists():
        raise UsageError(f"{path}: there is no such key: denv key new makes one")
    signer = load_signer(path)
    click.echo(f"key {signer.public_key.keyid}", err=True)
    click.echo(public_pem(signer), nl=False)
    return 0


def _path(given: Path | None, store: Path | None) -> Path:
    from denv.publish.issuing import KEY
    from denv.store import data_folder

    return given or data_folder(store) / KEY
