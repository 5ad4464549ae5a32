"""A public report on its way into the store, from where it is served."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path

from denv.publish.folder import write_folder
from denv.publish.keys import CryptoSigner
from denv.report import Report
from denv.store import LogPlace, Publication, PublicationStore
from denv.suite import Suite

ID_BYTES = 16
"""128 bits of chance: an address that nobody guesses."""


def publish(
    report: Report,
    store: PublicationStore,
    *,
    run: str,
    place: LogPlace | None,
    created: float,
    expires: float | None,
    signer: CryptoSigner | None,
    suite: Suite | None,
) -> Publication:
    """Keep a report's files, to be served under a new random id."""
    publication = Publication(
        publication=secrets.token_hex(ID_BYTES),
        run=run,
        stage="" if place is None else place.last.stage,
        created=created,
        expires=expires,
        indexed=bool(report.head["indexed"]),
        head=report.head,
    )
    with tempfile.TemporaryDirectory() as folder:
        files = write_folder(report, Path(folder), signer=signer, suite=suite)
        store.publish(publication, {name: path.read_bytes() for name, path in files.items()})
    return publication
