"""Secrets that are shown once: tokens, and cookies of sessions. Digests alone are kept."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

from denv.store import Role, Session, Token

SECRET_BYTES = 32
"""256 bits of chance: nothing that could be found by trying, so a plain hash of it is enough."""

SHOWN = re.compile(r"denv_(?P<token>[0-9a-f]{12})_[A-Za-z0-9_-]{43}", re.ASCII)
"""How a token is written: searching for ``denv_`` finds those that got lost in files."""

_FORMS = b"denv.forms/1\0"


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token as it is kept, and what is shown for it, which nobody can read again."""

    token: Token
    shown: str


def issue(name: str, role: Role, *, now: float, expires: float | None = None) -> Issued:
    """Make a token."""
    identity = secrets.token_hex(6)
    shown = f"denv_{identity}_{secrets.token_urlsafe(SECRET_BYTES)}"
    return Issued(Token(identity, name, role, digest_of(shown), now, expires), shown)


def token_id(shown: str) -> str | None:
    """Give the id that stands in what is shown; None where it is no token."""
    found = SHOWN.fullmatch(shown)
    return None if found is None else found["token"]


def is_secret_of(token: Token, shown: str) -> bool:
    """Tell whether this is shown for a token, in the same time whatever is wrong with it."""
    return hmac.compare_digest(digest_of(shown), token.digest)


def new_session(token: Token, *, now: float) -> tuple[Session, str]:
    """Begin a session with a token; give it and the value of its cookie."""
    cookie = secrets.token_urlsafe(SECRET_BYTES)
    return Session(digest_of(cookie), token.token, created=now, seen=now), cookie


def forms_secret(cookie: str) -> str:
    """Give what the forms of a session must send: it tells nothing of the cookie."""
    return hashlib.sha256(_FORMS + cookie.encode()).hexdigest()


def digest_of(secret: str) -> bytes:
    """Give the digest under which a secret is kept."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
