r"""Server-sent events from bytes, without I/O.

Lines end at ``\n``, ``\r\n`` and ``\r`` alone (``str.splitlines`` also splits at characters that
models write), and are decoded whole, so that a character may be split between chunks.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: its type (``""`` where none was named) and its data lines, joined."""

    type: str
    data: str


class SseDecoder:
    """Feed bytes as they come, get the events that they complete; ``close`` gives the rest.

    An event that the end cuts off before its empty line counts: many servers leave it out.
    ``invalid_utf8`` says that some line was not UTF-8 and holds U+FFFD instead.
    """

    def __init__(self) -> None:
        self.invalid_utf8 = False
        self._pieces: list[bytes] = []
        self._after_cr = False
        self._first = True
        self._type = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take the next bytes and give the events that are complete with them."""
        if not chunk:
            return []
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        events: list[SseEvent] = []
        for line in chunk.splitlines(keepends=True):
            self._pieces.append(line)
            if line.endswith((b"\n", b"\r")):
                self._end_line(events)
        return events

    def close(self) -> list[SseEvent]:
        """Give the event that stands open at the end of the stream, if any."""
        events: list[SseEvent] = []
        if self._pieces:
            self._end_line(events)
        self._dispatch(events)
        return events

    def _end_line(self, events: list[SseEvent]) -> None:
        raw = b"".join(self._pieces).rstrip(b"\r\n")
        self._pieces.clear()
        if self._first:
            raw = raw.removeprefix(codecs.BOM_UTF8)
            self._first = False
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            self.invalid_utf8 = True
            line = raw.decode(errors="replace")
        if line:
            self._take(line)
        else:
            self._dispatch(events)

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value
        elif name == "error":  # no field of the standard, but llama.cpp has sent errors so
            self._type = "error"
            self._data.append(value)

    def _dispatch(self, events: list[SseEvent]) -> None:
        if self._data:
            events.append(SseEvent(self._type, "\n".join(self._data)))
            self._data = []
        self._type = ""
