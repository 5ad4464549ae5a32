"""The journal: answers and results go to the store in batches, one transaction a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from denv.records import CaseResult
from denv.store import Store, StoredAnswer

T = TypeVar("T")


class Journal:
    """Group commit in front of a store.

    ``append`` returns when the answer is on disk. A caller that holds its slot until then bounds
    what a kill can lose to the slots there are; everything that arrives while a batch is being
    written makes up the next one.
    """

    def __init__(self, store: Store, run: str) -> None:
        self._store = store
        self._run = run
        # One thread: SQLite serialises writers anyway, and reads see what was written.
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="denv-store")
        self._answers: list[StoredAnswer] = []
        self._results: list[CaseResult] = []
        self._written: asyncio.Future[None] | None = None
        self._writing: asyncio.Task[None] | None = None
        self._failure: Exception | None = None

    async def append(self, answer: StoredAnswer) -> None:
        """Journal one answer; returns when it is written.

        Raises
        ------
        StoreError
            This or an earlier batch could not be written.
        """
        self._raise_failure()
        self._answers.append(answer)
        await asyncio.shield(self._next_batch())

    def add_result(self, result: CaseResult) -> None:
        """Journal one result with the next batch; it can always be made again from answers."""
        self._results.append(result)
        self._next_batch()

    async def call(self, function: Callable[[], T]) -> T:
        """Call something of the store in its thread."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, function)

    def do_soon(self, function: Callable[[], None]) -> None:
        """Call something of the store in its thread, in order; a failure is kept for ``flush``."""
        self._executor.submit(function).add_done_callback(self._keep_failure)

    def _keep_failure(self, done: Future[None]) -> None:
        error = done.exception()
        if isinstance(error, Exception):
            self._failure = error

    async def flush(self) -> None:
        """Wait until everything that was given is written; raises as ``append`` does."""
        while self._answers or self._results or self._writing is not None:
            await asyncio.shield(self._next_batch())
        self._raise_failure()

    async def close(self) -> None:
        """Flush, and end the thread."""
        try:
            await self.flush()
        finally:
            self._executor.shutdown(wait=True)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _next_batch(self) -> asyncio.Future[None]:
        if self._written is None:
            self._written = asyncio.get_running_loop().create_future()
            # Nobody may be waiting when a batch of results alone fails; the failure is kept.
            self._written.add_done_callback(_seen)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return self._written

    async def _write(self) -> None:
        try:
            while self._answers or self._results:
                answers, self._answers = self._answers, []
                results, self._results = self._results, []
                written, self._written = self._written, None
                await self._write_batch(answers, results, written)
        finally:
            self._writing = None
            if self._written is not None and not (self._answers or self._results):
                self._written.set_result(None)
                self._written = None

    async def _write_batch(
        self,
        answers: list[StoredAnswer],
        results: list[CaseResult],
        written: asyncio.Future[None] | None,
    ) -> None:
        try:
            await self.call(lambda: self._store.append(self._run, answers, results))
        except Exception as error:  # noqa: BLE001 - handed on to everyone who waits, now or later
            self._failure = error
            if written is not None:
                written.set_exception(error)
        else:
            if written is not None:
                written.set_result(None)


def _seen(future: asyncio.Future[None]) -> None:
    if not future.cancelled():
        future.exception()
