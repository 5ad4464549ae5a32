"""One Temporal server for one set of data: claimed, and claimed again where the claim was lost."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from denv.errors import HarnessError, ResumeError, StoreError
from denv.store import Held, SqlStore

ENGINE = "engine"
"""What is claimed of the data by who has them carried out by a Temporal server of his own."""

EVERY_S = 5.0
"""How often it is looked whether the claim is still held."""


class OnlyEngine:
    """Holds the data, which may be a database of several folders, for the length of the block."""

    def __init__(self, store: SqlStore, *, every_s: float = EVERY_S) -> None:
        self._store, self._every_s = store, every_s
        self._stack = ExitStack()
        self._held: Held = lambda: False

    def __enter__(self) -> Self:
        self._take()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    async def keep(self) -> None:
        """Take the data again whenever the connection that held them was lost.

        Raises
        ------
        HarnessError
            Another process was quicker: two engines would do each step twice.
        """
        while True:
            await asyncio.sleep(self._every_s)
            try:
                if not await asyncio.to_thread(self._held):
                    await asyncio.to_thread(self._retake)
            except StoreError:
                continue  # the database is away, as /health says; nobody else can have it

    def _retake(self) -> None:
        self._held = lambda: False
        self._stack.close()
        self._take()

    def _take(self) -> None:
        try:
            self._held = self._stack.enter_context(self._store.claim(ENGINE))
        except ResumeError:
            raise HarnessError(
                "another denv serve carries out what is in this database, with a Temporal server "
                "of its own: end that one, or work for its server by denv worker --temporal"
            ) from None
