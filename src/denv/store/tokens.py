"""Tokens of those who may use the pages and the API, and their sessions: digests, never secrets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Role = Literal["read", "run"]

SESSION_S = 12 * 3600.0
"""No session lasts longer, used or not."""

IDLE_S = 2 * 3600.0
"""A session that is not used for so long has ended."""


@dataclass(frozen=True, slots=True)
class Token:
    """Whom a token lets in; ``digest`` is the SHA-256 of it. Times are in Unix seconds."""

    token: str
    name: str
    role: Role
    digest: bytes
    created: float
    expires: float | None = None
    revoked: float | None = None

    def is_open(self, now: float) -> bool:
        """Tell whether it lets anybody in."""
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that was signed in with a token; ``digest`` is the SHA-256 of its cookie."""

    digest: bytes
    token: str
    created: float
    seen: float

    def is_open(self, now: float) -> bool:
        """Tell whether it has not ended by its age or for want of use; its token may have."""
        return now < self.created + SESSION_S and now < self.seen + IDLE_S


class TokenStore(Protocol):
    """Keeps tokens and sessions. Every method raises ``StoreError`` where data cannot be used."""

    def add(self, token: Token) -> None:
        """Keep a new token."""

    def get(self, token: str) -> Token | None:
        """Give a token by its id, or None."""

    def all(self) -> Sequence[Token]:
        """Give all tokens, the latest first; those taken back too."""

    def revoke(self, token: str, *, at: float) -> bool:
        """Take a token back, and end its sessions; False where it was so already or is unknown."""

    def open_session(self, session: Session) -> None:
        """Keep a session, and take away all that have ended."""

    def session(self, digest: bytes) -> tuple[Session, Token] | None:
        """Give a session with its token, or None; both may have ended."""

    def see_session(self, digest: bytes, *, at: float) -> None:
        """Note that a session was used."""

    def end_session(self, digest: bytes) -> None:
        """Take a session away."""

    def end_old_sessions(self, now: float) -> int:
        """Take all sessions away that have ended by now; give how many."""
