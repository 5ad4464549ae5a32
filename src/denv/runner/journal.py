"""The journal: answers and results go to the store in batches, one transaction a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from denv.records import CaseResult
from denv.store import Store, StoredAnswer

GATHER_S = 0.005
"""A batch is gathered this long: next to an answer's time it is nothing, and it saves half the
transactions of a fast endpoint."""

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
        self._waiters: list[asyncio.Future[None]] = []
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
        await self._written()

    def add_result(self, result: CaseResult) -> None:
        """Journal one result with the next batch; it can always be made again from answers."""
        self._results.append(result)
        self._start_writing()

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
            await self._written()
        await self.call(lambda: None)  # what was to be done soon is done
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

    def _written(self) -> asyncio.Future[None]:
        """Give a future of the caller's own, done when the batch that is gathered is written."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._start_writing()
        return waiter

    def _start_writing(self) -> None:
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._answers or self._results or self._waiters:
            await asyncio.sleep(GATHER_S)
            answers, self._answers = self._answers, []
            results, self._results = self._results, []
            waiters, self._waiters = self._waiters, []
            failure = await self._write_batch(answers, results)
            for waiter in waiters:
                if waiter.cancelled():
                    continue
                if failure is None:
                    waiter.set_result(None)
                else:
                    waiter.set_exception(failure)
        self._writing = None

    async def _write_batch(
        self, answers: list[StoredAnswer], results: list[CaseResult]
    ) -> Exception | None:
        try:
            await self.call(lambda: self._store.append(self._run, answers, results))
        except Exception as error:  # noqa: BLE001 - handed on to everyone who waits, now or later
            self._failure = error
            return error
        return None
