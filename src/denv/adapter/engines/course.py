"""The course of one completion: documents of an engine in, tokens and one end out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from typing import Protocol

from denv.adapter.engines.protocol import Ended, EngineFault, Reason, Token
from denv.adapter.engines.stops import StopStrings
from denv.records import Json


class Reader(Protocol):
    """Reads one answer of one kind of engine, without I/O."""

    def take(self, document: Json) -> list[Token | Ended]:
        """Read the next document of the answer."""
        ...

    def close(self) -> list[Token | Ended]:
        """Give what is left when no more documents come; nothing where the answer is cut."""
        ...

    def ended(self, reason: Reason, *, stop_text: str | None = None) -> Ended:
        """Give an end with the counts that are known by now."""
        ...


async def completion(
    documents: AsyncGenerator[Json, None], reader: Reader, *, stop: tuple[str, ...]
) -> AsyncGenerator[Token | Ended, None]:
    """Read documents to their end or to a stop string; closing this closes the documents.

    Raises
    ------
    EngineFault
        Whatever the documents or the reader raise, and for an answer without an end.
    """
    stops = StopStrings(stop)
    async with aclosing(documents):
        async for document in documents:
            for item in _passed(reader.take(document), reader, stops):
                yield item
                if isinstance(item, Ended):
                    return
    for item in _passed(reader.close(), reader, stops):
        yield item
        if isinstance(item, Ended):
            return
    raise EngineFault("its answer broke off", retry=True)


def _passed(
    items: Iterable[Token | Ended], reader: Reader, stops: StopStrings
) -> Iterator[Token | Ended]:
    """Give what the stop strings let through; nothing follows an end."""
    for item in items:
        if isinstance(item, Ended):
            yield from stops.rest()
            yield item
            return
        yield from stops.take(item)
        if stops.found is not None:
            yield reader.ended("stop", stop_text=stops.found)
            return
