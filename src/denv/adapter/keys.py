"""Keys of the adapter's own clients."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from hashlib import sha256

from denv.adapter.refusals import AUTHENTICATION, RefusedError, refusal
from denv.records import Secret


class Keys:
    """Who may ask; with no keys, anybody. Only digests are kept."""

    def __init__(self, keys: Iterable[Secret] = ()) -> None:
        self._digests = [sha256(key.reveal().encode()).digest() for key in keys]

    def __bool__(self) -> bool:
        return bool(self._digests)

    def check(self, headers: Mapping[str, str]) -> None:
        """Let a request pass whose ``Authorization: Bearer`` or ``x-api-key`` is one of the keys.

        Raises
        ------
        RefusedError
            401; it does not repeat what was shown.
        """
        if not self._digests:
            return
        shown = sha256(_shown(headers).encode("utf-8", "surrogateescape")).digest()
        # Every key is compared, so that time tells nothing.
        if not sum(hmac.compare_digest(shown, digest) for digest in self._digests):
            text = "Authentication fails: the API key is missing or wrong"
            raise RefusedError(refusal(401, text, kind=AUTHENTICATION))


def _shown(headers: Mapping[str, str]) -> str:
    scheme, _, key = headers.get("Authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
