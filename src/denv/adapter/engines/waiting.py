"""Tokens whose text has not come yet, because a character is split over them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from denv.adapter.engines.protocol import Token


class Waiting:
    """Holds tokens without bytes until the token comes that brings their text."""

    def __init__(self) -> None:
        self._tokens: list[Token] = []

    def take(self, tokens: Iterable[Token]) -> list[Token]:
        """Take the next tokens and give those up to the last that has bytes."""
        gone: list[Token] = []
        for token in tokens:
            self._tokens.append(token)
            if token.bytes:
                gone += self._tokens
                self._tokens.clear()
        return gone

    def late(self, text: str) -> list[Token] | None:
        """Give what waits, with a text that came without tokens; None where nothing waits."""
        if not self._tokens:
            return None
        last = self._tokens.pop()
        return self.take([replace(last, text=text, bytes=text.encode())])

    def rest(self) -> list[Token]:
        """Give what waits for a text that did not come."""
        gone, self._tokens = self._tokens, []
        return gone
