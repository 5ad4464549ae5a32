"""Who asks: by a token that is shown, or by the cookie of a session."""

from __future__ import annotations

import asyncio
import logging
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

SEEN_WAIT_S = 1.0
"""So long a request waits for that: a database may be locked for much longer."""

MOST_TRIED = 10_000
_log = logging.getLogger("denv.serve")
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
    """Finds who asks; ``secure`` says that browsers reach the pages by TLS.

    ``data`` tells the data from others: browsers send a host's cookies to each of its ports.
    """

    store: TokenStore
    now: Callable[[], float]
    data: str
    secure: bool = False
    _tried: dict[bytes, float] = field(default_factory=dict, repr=False)
    _writing: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    @property
    def cookie(self) -> str:
        """Name the cookie; what begins with ``__Host-`` no other host and no plain HTTP can set."""
        return f"__Host-denv-{self.data}" if self.secure else f"denv-{self.data}"

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
            await self._see(session.digest, now)
        return Caller(token.token, token.name, token.role, forms_secret(cookies[0]), session.digest)

    async def _see(self, session: bytes, now: float) -> None:
        """Write down that a session is used; who cannot have it written may read all the same."""
        if now - self._tried.get(session, 0.0) <= SEEN_EVERY_S:
            return
        if len(self._tried) >= MOST_TRIED:
            self._tried.clear()
        self._tried[session] = now
        write = asyncio.to_thread(lambda: self.store.see_session(session, at=now))
        writing = asyncio.create_task(write)
        self._writing.add(writing)
        writing.add_done_callback(self._written)
        await asyncio.wait({writing}, timeout=SEEN_WAIT_S)

    def _written(self, writing: asyncio.Task[None]) -> None:
        self._writing.discard(writing)
        error = None if writing.cancelled() else writing.exception()
        if error is not None:
            _log.warning("that a session is used could not be written", exc_info=error)

    def _cookies(self, headers: Headers) -> list[str]:
        """Give the values of our cookie: more than one was not set by us alone."""
        pairs = (pair for line in headers.getlist("cookie") for pair in line.split(";"))
        named = (pair.strip().partition("=") for pair in pairs)
        return [value for name, _, value in named if name == self.cookie and is_cookie(value)]


def is_cookie(value: str) -> bool:
    """Tell whether a value is written as those of our cookies."""
    return _COOKIE.fullmatch(value) is not None
