"""Stop strings, cut out of tokens as they come: one rule for engines that cut each in its own way.

Engines differ in what of a stop string they let out, and in whether ids and logprobs run ahead of
the text. So none of them is told the stop strings: what they give is cut here, and the request is
closed where one is found.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from denv.adapter.engines.protocol import Token


class StopStrings:
    """Feed tokens, get those that no stop string can reach any more; ``rest`` gives what waits.

    ``found`` is the stop string that ended it: the one that is whole first, whichever way the bytes
    are split over tokens. Without stop strings tokens pass at once.
    """

    def __init__(self, stop: Sequence[str]) -> None:
        self.found: str | None = None
        self._stop = {one.encode("utf-8", "surrogatepass"): one for one in stop}
        self._waiting: list[Token] = []
        self._bytes = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def take(self, token: Token) -> list[Token]:
        """Take the next token and give those that are free to go."""
        if not self._stop:
            return [token]
        if self.found is not None:
            return []
        self._waiting.append(token)
        self._bytes += token.bytes
        start = self._search()
        if start is not None:
            return self._cut(start)
        return self._free(len(self._bytes) - self._begun())

    def rest(self) -> list[Token]:
        """Give what waited for a stop string that did not come."""
        waited, self._waiting, self._bytes = self._waiting, [], b""
        return waited

    def _search(self) -> int | None:
        """Find the stop string that ends first, the longest of those that end there."""
        places = [
            (place + len(stop), place, stop)
            for stop in self._stop
            if (place := self._bytes.find(stop)) >= 0
        ]
        if not places:
            return None
        _, place, stop = min(places)
        self.found = self._stop[stop]
        return place

    def _begun(self) -> int:
        """Count the last bytes that may be the beginning of a stop string."""
        longest = max(map(len, self._stop)) - 1
        for length in range(min(longest, len(self._bytes)), 0, -1):
            tail = self._bytes[-length:]
            if any(stop.startswith(tail) for stop in self._stop):
                return length
        return 0

    def _free(self, end: int) -> list[Token]:
        """Give the tokens up to the last that has bytes and ends there or before.

        A token without bytes may belong to a text that comes later, so it waits for it.
        """
        free = length = passed = 0
        for place, token in enumerate(self._waiting, start=1):
            length += len(token.bytes)
            if length > end:
                break
            if token.bytes:
                free, passed = place, length
        gone, self._waiting = self._waiting[:free], self._waiting[free:]
        self._decoder.decode(self._bytes[:passed])
        self._bytes = self._bytes[passed:]
        return gone

    def _cut(self, start: int) -> list[Token]:
        """Give what stands before a stop string; a token that it cuts has no id any more."""
        held = len(self._bytes)
        gone = self._free(start)
        piece = self._bytes[: start - (held - len(self._bytes))]
        if piece:
            text = self._decoder.decode(piece, final=True)
            gone.append(Token(text, piece, count=self._cut_tokens(len(piece))))
        self._waiting, self._bytes = [], b""
        return gone

    def _cut_tokens(self, size: int) -> int:
        """Count the tokens that a piece of so many bytes is made from."""
        count = length = 0
        for token in self._waiting:
            count += token.count
            length += len(token.bytes)
            if length >= size:
                break
        return count
