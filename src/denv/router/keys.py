"""The secrets that a router's settings name: of clients, replicas, tables and permits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from denv.alarms.signature import signed_headers
from denv.client import read_key_env, read_key_file
from denv.errors import UsageError
from denv.permits import LEAST_SECRET_BYTES
from denv.records import Secret
from denv.router.clients import MOST_KEY
from denv.router.settings import Credential, Key, RouterSettings


@dataclass(frozen=True, slots=True)
class Secrets:
    """All that the settings name and do not hold."""

    clients: tuple[Secret, ...]
    credentials: tuple[tuple[Credential, Secret], ...]
    weights: Secret | None
    permits: bytes | None

    @classmethod
    def of(cls, settings: RouterSettings, folder: Path) -> Secrets:
        """Read the secrets; relative files are taken from ``folder``.

        Raises
        ------
        UsageError
            One cannot be read, is too short or too long, or is the key of two clients.
        """

        def read(key: Key) -> Secret:
            if key.key_env is not None:
                return read_key_env(key.key_env)
            return read_key_file(folder / Path(key.key_file or "").expanduser())

        clients = tuple(read(client) for client in settings.clients)
        for client, key in zip(settings.clients, clients, strict=True):
            if len(key.reveal()) > MOST_KEY:
                raise UsageError(
                    f"the key of the client {client.name} is longer than {MOST_KEY} characters, "
                    "which no request can show"
                )
        if len({key.reveal() for key in clients}) != len(clients):
            raise UsageError("two clients have the same key")
        weights = None if settings.weights_secret is None else read(settings.weights_secret)
        if weights is not None:
            signed_headers(weights, message="check", sent=0, body=b"")  # refuses another form
        permits = None
        if settings.permit_secret is not None:
            permits = read(settings.permit_secret).reveal().encode()
            if len(permits) < LEAST_SECRET_BYTES:
                raise UsageError(f"permit-secret has fewer than {LEAST_SECRET_BYTES} bytes")
        found = tuple((entry, read(entry)) for entry in settings.upstream.credentials)
        return cls(clients, found, weights, permits)

    @property
    def upstream(self) -> tuple[Secret, ...]:
        """All keys towards replicas."""
        return tuple(key for _, key in self.credentials)

    def credential_for(self, url: str) -> str | None:
        """Give the key that the first matching credential has for an URL."""
        for entry, key in self.credentials:
            if any(rule.matches(url) for rule in entry.rules):
                return key.reveal()
        return None
