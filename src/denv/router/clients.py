"""Who may ask, and how much at once and in a second."""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
from collections.abc import Iterable, Mapping

from denv.records import Secret
from denv.router.refusals import RefusedError
from denv.router.settings import Limits

ANONYMOUS = "anonymous"
_BUSY_S = 1.0
MOST_KEY = 4096


class Bucket:
    """Tokens that come back at a rate, up to a burst; one a request."""

    __slots__ = ("_at", "_burst", "_left", "_rate")

    def __init__(self, rate: float, *, burst: int | None, now: float) -> None:
        self._rate = rate
        self._burst = float(burst or max(1, math.ceil(rate)))
        self._left = self._burst
        self._at = now

    def take(self, now: float) -> float:
        """Take a token; give 0, or how many seconds there will be none where there is none."""
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) / self._rate


class Client:
    """One that may ask; ``enter`` and ``leave`` stand around each of its requests."""

    __slots__ = ("_bucket", "_concurrency", "in_flight", "name")

    def __init__(self, name: str, limits: Limits, *, now: float) -> None:
        self.name = name
        self.in_flight = 0
        self._concurrency = limits.concurrency
        self._bucket = (
            None if limits.rate is None else Bucket(limits.rate, burst=limits.burst, now=now)
        )

    def enter(self, now: float) -> None:
        """Count a request.

        Raises
        ------
        RefusedError
            429: as many run as may, or too many came within the last second.
        """
        if self._concurrency is not None and self.in_flight >= self._concurrency:
            raise RefusedError(
                429,
                "concurrency_limit",
                f"{self._concurrency} requests of this key are running; wait for one to end",
                retry_after_s=_BUSY_S,
            )
        if self._bucket is not None and (wait_s := self._bucket.take(now)):
            raise RefusedError(
                429, "rate_limit", "too many requests with this key", retry_after_s=wait_s
            )
        self.in_flight += 1

    def leave(self) -> None:
        """Count a request as ended."""
        self.in_flight -= 1


class Clients:
    """Finds the client of a request by its key.

    Keys are kept and looked up as digests under a key of this process's own, so that neither
    the time of a look-up nor the memory tells how near a guess is.
    """

    def __init__(self, clients: Iterable[tuple[Secret, Client]], anonymous: Client | None) -> None:
        self._salt = secrets.token_bytes(32)
        self._anonymous = anonymous
        self._known: dict[bytes, tuple[bytes, Client]] = {}
        for key, client in clients:
            digest = self._digest(key.reveal())
            self._known[digest] = (digest, client)

    def find(self, headers: Mapping[str, str]) -> Client:
        """Give the client whose key stands in ``Authorization: Bearer`` or in ``x-api-key``.

        Raises
        ------
        RefusedError
            401: there is no key, or nobody has this one.
        """
        written = headers.get("Authorization")
        if written is not None:
            scheme, _, key = written.partition(" ")
            key = key.strip() if scheme.lower() == "bearer" else ""
        else:
            key = headers.get("x-api-key", "")
        if not key and written is None and self._anonymous is not None:
            return self._anonymous
        if key and len(key) <= MOST_KEY:
            given = self._digest(key)
            digest, client = self._known.get(given, (b"", None))
            if client is not None and hmac.compare_digest(digest, given):
                return client
        what = "the key is not known" if key else "a key is needed: Authorization: Bearer KEY"
        raise RefusedError(401, "invalid_api_key", what)

    def _digest(self, key: str) -> bytes:
        text = key.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=self._salt, digest_size=32).digest()
