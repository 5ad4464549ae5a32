"""The router's own keys towards replicas, taken out of what goes back to callers. Pure.

A replica, or a proxy before it, may quote what it was sent. Each byte of a quoted key becomes a
star, so that the length of an answer stays what its head says.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from denv.client.masking import MIN_SECRET
from denv.client.spellings import Spellings
from denv.records import Secret

_EITHER = zlib.MAX_WBITS | 32
"""Makes zlib tell gzip from deflate by itself."""

_PIECE = 64 * 1024


class BadPackingError(Exception):
    """What came is not packed as its head says, or ends before its end."""


class Blanks:
    """Knows the keys; those of fewer than ``MIN_SECRET`` characters occur by chance."""

    def __init__(self, keys: Iterable[Secret]) -> None:
        values = {value for key in keys if len(value := key.reveal()) >= MIN_SECRET}
        # The longest first: one may be a part of another.
        self._all = [Spellings(value) for value in sorted(values, key=lambda v: (-len(v), v))]

    def __bool__(self) -> bool:
        """Whether there is a key that could be quoted."""
        return bool(self._all)

    def prepare(self) -> None:
        """Do now what would hold the first answers up."""
        for one in self._all:
            one.prepare()

    def whole(self, raw: bytes) -> bytes:
        """Blank what is here to its end; the same object where it holds no key."""
        for one in self._all:
            if one.may_hold(raw):
                raw = one.blank(raw)
        return raw

    def value(self, text: str) -> str:
        """Blank a header's value."""
        raw = text.encode("utf-8", "surrogateescape")
        return text if (cut := self.whole(raw)) is raw else cut.decode("utf-8", "surrogateescape")

    def split(self, raw: bytes) -> tuple[bytes, bytes]:
        """Blank what may go on; give what can go now, and what may be the beginning of a key."""
        kept = b""
        for one in self._all:
            if one.may_hold(raw):
                raw = one.blank(raw)
            at = one.opening(raw)
            if at < len(raw):
                raw, kept = raw[:at], raw[at:] + kept
        return raw, kept


class Passing:
    """One answer on its way, piece by piece.

    What may be the beginning of a key waits for more; where a caller can use what came, as at the
    end of an event, nothing does. A ``packed`` answer is unpacked, in pieces of a bounded size.
    """

    __slots__ = ("_blanks", "_kept", "_zlib")

    def __init__(self, blanks: Blanks, *, packed: bool = False) -> None:
        self._blanks = blanks
        self._kept = b""
        self._zlib = zlib.decompressobj(wbits=_EITHER) if packed else None

    def take(self, piece: bytes) -> Iterator[bytes]:
        """Give what can go now of a piece; it may be nothing.

        Raises
        ------
        BadPackingError
            It is packed in another way, or something stands behind its end.
        """
        for plain in self._unpacked(piece):
            going, self._kept = self._blanks.split(self._kept + plain if self._kept else plain)
            if going:
                yield going

    def rest(self) -> bytes:
        """Give what waited for more, at the end of all.

        Raises
        ------
        BadPackingError
            The end of what is packed has not come.
        """
        if self._zlib is not None and not self._zlib.eof:
            raise BadPackingError
        return self._blanks.whole(self._kept)

    def _unpacked(self, piece: bytes) -> Iterator[bytes]:
        if self._zlib is None:
            yield piece
            return
        while piece:
            try:
                plain = self._zlib.decompress(piece, _PIECE)
            except zlib.error:
                raise BadPackingError from None
            if self._zlib.unused_data:
                raise BadPackingError
            piece = self._zlib.unconsumed_tail
            if plain:
                yield plain
