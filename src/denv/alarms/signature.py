"""Signatures as Standard Webhooks defines them: HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

from denv.errors import UsageError
from denv.records import Secret

PREFIX = "whsec_"
LEAST_BYTES = 24
MOST_BYTES = 64


def signed_headers(secret: Secret, *, message: str, sent: float, body: bytes) -> dict[str, str]:
    """Give the three headers by which a receiver knows the sender, the message and its age.

    ``sent`` is in Unix seconds; a receiver refuses what is older than some minutes.

    Raises
    ------
    UsageError
        For a secret that is not ``whsec_`` and 24 to 64 bytes in base64.
    """
    at = str(int(sent))
    signed = f"{message}.{at}.".encode() + body
    mac = hmac.new(_key(secret), signed, hashlib.sha256).digest()
    return {
        "webhook-id": message,
        "webhook-timestamp": at,
        "webhook-signature": f"v1,{base64.b64encode(mac).decode()}",
    }


def _key(secret: Secret) -> bytes:
    written = secret.reveal()
    try:
        key = base64.b64decode(written.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not written.startswith(PREFIX) or not LEAST_BYTES <= len(key) <= MOST_BYTES:
        raise UsageError(
            f"the secret of the signature is not {PREFIX} followed by "
            f"{LEAST_BYTES} to {MOST_BYTES} bytes in base64"
        )
    return key
