"""Who asks: by a token that is shown, or by the cookie of a session."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.datastructures import Headers

from denv.serve.access.issuing import (
    digest_of,
    forms_secret,
    is_secret_of,
    new_session,
    token_id,
)
from denv.store import Role, Token, TokenStore

SEEN_EVERY_S = 60.0
"""That a session is used is written no more often than this."""

_COOKIE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks; ``csrf`` is what the forms of a session must send, None for a token's bearer.

    ``session`` is the digest of the session's cookie.
    """

    token: str
    name: str
    role: Role
    csrf: str | None = None
    session: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Callers:
    """Finds who asks; ``secure`` says that browsers reach the pages by TLS."""

    store: TokenStore
    now: Callable[[], float]
    secure: bool = False

    @property
    def cookie(self) -> str:
        """Name the cookie; what begins with ``__Host-`` no other host and no plain HTTP can set."""
        return "__Host-denv" if self.secure else "denv"

    async def find(self, headers: Headers) -> Caller | None:
        """Tell who sends a request; what shows a wrong token is nobody, cookie or not."""
        shown = headers.getlist("authorization")
        if not shown:
            return await self._signed_in(headers)
        scheme, _, given = shown[0].partition(" ")
        if len(shown) > 1 or scheme.lower() != "bearer":
            return None
        token = await self.bearer(given.strip())
        return None if token is None else Caller(token.token, token.name, token.role)

    async def bearer(self, shown: str) -> Token | None:
        """Give the token that is shown, as long as it lets anybody in."""
        identity = token_id(shown)
        if identity is None:
            return None
        token = await asyncio.to_thread(self.store.get, identity)
        if token is None or not is_secret_of(token, shown) or not token.is_open(self.now()):
            return None
        return token

    async def sign_in(self, token: Token, headers: Headers) -> str:
        """Begin a session in place of the one that the browser had; give the cookie's new value."""
        session, cookie = new_session(token, now=self.now())
        await asyncio.to_thread(self.store.open_session, session)
        for old in self._cookies(headers):
            await asyncio.to_thread(self.store.end_session, digest_of(old))
        return cookie

    async def _signed_in(self, headers: Headers) -> Caller | None:
        cookies = self._cookies(headers)
        if len(cookies) != 1:
            return None
        found = await asyncio.to_thread(self.store.session, digest_of(cookies[0]))
        if found is None:
            return None
        session, token = found
        now = self.now()
        if not session.is_open(now) or not token.is_open(now):
            return None
        if now - session.seen > SEEN_EVERY_S:
            await asyncio.to_thread(lambda: self.store.see_session(session.digest, at=now))
        return Caller(token.token, token.name, token.role, forms_secret(cookies[0]), session.digest)

    def _cookies(self, headers: Headers) -> list[str]:
        """Give the values of our cookie: more than one was not set by us alone."""
        pairs = (pair for line in headers.getlist("cookie") for pair in line.split(";"))
        named = (pair.strip().partition("=") for pair in pairs)
        return [value for name, _, value in named if name == self.cookie and is_cookie(value)]


def is_cookie(value: str) -> bool:
    """Tell whether a value is written as those of our cookies."""
    return _COOKIE.fullmatch(value) is not None
