"""One Temporal server for one set of data: claimed, and claimed again where the claim was lost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self

from denv.errors import HarnessError, ResumeError, StoreError
from denv.store import Held, SqlStore

ENGINE = "engine"
"""What is claimed of the data by who has them carried out; the server is noted by this name."""

TURN = "engine-turn"
"""Held by who claims it just now, so that what is noted belongs to who holds it."""

EVERY_S = 5.0
"""How often it is looked whether the claim is still held."""

TURN_WAIT_S = 5.0


class OnlyEngine:
    """Holds the data, which may be a database of several folders, for the length of the block.

    ``server`` names a Temporal server that others may work for too: they share the claim.
    Without it the server is one's own, and nobody else may hold the data.
    """

    def __init__(
        self, store: SqlStore, *, server: str | None = None, every_s: float = EVERY_S
    ) -> None:
        self._store, self._server, self._every_s = store, server, every_s
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
        """Take the data, or nothing of them."""
        try:
            with self._turn():
                if self._server is None:
                    self._take_alone()
                else:
                    self._take_beside_others(self._server)
        except BaseException:
            self._held = lambda: False
            self._stack.close()
            raise

    def _take_alone(self) -> None:
        self._hold(shared=False)
        self._store.meta.put(ENGINE, "")

    def _take_beside_others(self, server: str) -> None:
        if self._nobody_holds():
            self._store.meta.put(ENGINE, server)
        self._hold(shared=True)
        if self._store.meta.get(ENGINE) != server:
            raise self._refused()

    def _hold(self, *, shared: bool) -> None:
        try:
            self._held = self._stack.enter_context(self._store.claim(ENGINE, shared=shared))
        except ResumeError:
            raise self._refused() from None

    def _nobody_holds(self) -> bool:
        try:
            with self._store.claim(ENGINE):
                return True
        except ResumeError:
            return False

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for one's turn, which nobody holds for long."""
        with ExitStack() as stack:
            until = time.monotonic() + TURN_WAIT_S
            while True:
                try:
                    stack.enter_context(self._store.claim(TURN))
                    break
                except ResumeError:
                    if time.monotonic() > until:
                        raise HarnessError(
                            "another denv serve is being started on this database: try again"
                        ) from None
                    time.sleep(0.05)
            yield

    def _refused(self) -> HarnessError:
        other = self._store.meta.get(ENGINE)
        by = f"by the Temporal server {other}" if other else "with a Temporal server of its own"
        work = (
            "serve for that same --temporal and --namespace"
            if other
            else "work for its server by denv worker --temporal"
        )
        return HarnessError(
            f"another denv serve carries out what is in this database, {by}: end that one, "
            f"{work}, or show the pages alone by --no-engine"
        )
