"""Permits: short-lived signed permissions to ask one named replica behind a router. Pure.

A permit is one ASCII word, ``dp1:REPLICA:EXPIRES:NONCE:SIGNATURE``: EXPIRES in Unix
milliseconds, SIGNATURE the HMAC-SHA256 of all before it in hexadecimal. It goes from whoever
measures to the router in the header ``denv-permit`` and no further.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass

from denv.errors import UsageError

HEADER = "denv-permit"
"""The request header that carries a permit to the router."""

REPLICA_HEADER = "denv-replica"
"""The response header in which the router names the replica that answered a permitted request."""

LASTS_S = 60.0
MOST_LASTS_S = 300.0
"""A permit that ends later than this from now is refused, however it is signed."""

LEAST_SECRET_BYTES = 32

_VERSION = "dp1"
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?"
_NONCE = r"[A-Za-z0-9_-]{8,64}"
_FORM = re.compile(
    rf"(?P<signed>{_VERSION}:(?P<replica>{_NAME}):(?P<expires>[1-9][0-9]{{0,14}}):(?P<nonce>{_NONCE}))"
    r":(?P<signature>[0-9a-f]{64})"
)
MOST_CHARACTERS = 256
"""Longer than any permit; what is longer is not even looked at."""


class PermitError(UsageError):
    """A permit that is not one, or not any more; the message says why and shows none of it."""


@dataclass(frozen=True, slots=True)
class Permit:
    """What a valid permit allows: to ask ``replica`` until ``expires`` (Unix seconds)."""

    replica: str
    expires: float
    nonce: str


def grant(secret: bytes, *, replica: str, now: float, nonce: str, lasts_s: float = LASTS_S) -> str:
    """Write a permit for one replica that ends ``lasts_s`` seconds after ``now``.

    Raises
    ------
    PermitError
        For a secret that is too short, a name or a nonce of other characters, and a duration
        that no router accepts.
    """
    check_secret(secret)
    check_name(replica)
    if not re.fullmatch(_NONCE, nonce):
        raise PermitError("the nonce of a permit is 8 to 64 of A-Z, a-z, 0-9, _ -")
    if not 0 < lasts_s <= MOST_LASTS_S:
        raise PermitError(f"a permit lasts more than 0 and at most {MOST_LASTS_S:g} seconds")
    signed = f"{_VERSION}:{replica}:{int((now + lasts_s) * 1000)}:{nonce}"
    return f"{signed}:{_signature(secret, signed)}"


def check(secret: bytes, token: str, *, now: float) -> Permit:
    """Read a permit, and refuse all that is not valid at ``now``.

    Raises
    ------
    PermitError
        Says whether the form, the signature or the time is wrong.
    """
    check_secret(secret)
    found = _FORM.fullmatch(token) if len(token) <= MOST_CHARACTERS else None
    if found is None:
        raise PermitError("the permit has not the form of one")
    if not hmac.compare_digest(found["signature"], _signature(secret, found["signed"])):
        raise PermitError("the permit is not signed with this router's secret")
    expires = int(found["expires"]) / 1000
    if expires <= now:
        raise PermitError("the permit has expired")
    if expires - now > MOST_LASTS_S:
        raise PermitError(f"the permit lasts longer than {MOST_LASTS_S:g} seconds")
    return Permit(found["replica"], expires, found["nonce"])


def _signature(secret: bytes, signed: str) -> str:
    return hmac.new(secret, signed.encode("ascii"), hashlib.sha256).hexdigest()


def check_name(replica: str) -> None:
    """Refuse a name that no permit can carry.

    Raises
    ------
    PermitError
        Says which characters a name may have.
    """
    if not re.fullmatch(_NAME, replica):
        raise PermitError(f"{replica!r} is no name of a replica: 1 to 64 of A-Z, a-z, 0-9, . _ -")


def check_secret(secret: bytes) -> None:
    """Refuse a secret that is short enough to be guessed.

    Raises
    ------
    PermitError
        Says how long it must be, and shows none of it.
    """
    if len(secret) < LEAST_SECRET_BYTES:
        raise PermitError(f"the secret of permits has fewer than {LEAST_SECRET_BYTES} bytes")
