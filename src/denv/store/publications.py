"""Published reports: kept as the files that they were, until they expire or are taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from denv.records import Json


@dataclass(frozen=True, slots=True)
class Publication:
    """A report that is served at an address nobody can guess.

    ``stage`` is the digest of which stage it is about; ``head`` the public report without its
    cases. Times are in Unix seconds.
    """

    publication: str
    run: str
    stage: str
    created: float
    indexed: bool
    head: Mapping[str, Json]
    expires: float | None = None
    revoked: float | None = None

    def is_open(self, now: float) -> bool:
        """Tell whether it is still served."""
        return self.revoked is None and (self.expires is None or now < self.expires)


class PublicationStore(Protocol):
    """Keeps published reports. Every method raises ``StoreError`` where the data cannot be used."""

    def publish(self, publication: Publication, files: Mapping[str, bytes]) -> None:
        """Keep a report and its files in one transaction."""

    def get(self, publication: str) -> Publication | None:
        """Give one published report, or None."""

    def file(self, publication: str, name: str) -> bytes | None:
        """Give one of its files, or None."""

    def all(self, stage: str | None = None) -> Sequence[Publication]:
        """Give all, or those about one stage, the latest first; those taken back too."""

    def revoke(self, publication: str, *, at: float) -> bool:
        """Take a report back, and its files away; False where it was so already or is unknown."""
