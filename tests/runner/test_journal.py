"""The journal in front of the store: what it promises those who wait for it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from denv.errors import StoreError
from denv.records import CaseResult, Exchange, Kind, Outcome, Side
from denv.runner.journal import Journal
from denv.store import AnswerKey, RunRecord, StoredAnswer, open_store

RUN = "r1"


def answer(case):
    """Give an answer to store."""
    return StoredAnswer(
        key=AnswerKey(case, Side.STAGE), exchange=Exchange(200), max_tokens=1, answered=1.0
    )


def result(case):
    """Give a result to store."""
    return CaseResult(
        id=f"c{case}",
        index=case,
        check="equals",
        kind=Kind.EXACT,
        outcome=Outcome.PASS,
        cause=None,
        reason="",
        warnings=(),
        stage=None,
        reference=None,
    )


class Disk:
    """A store that can be held, and can be full; it keeps what was appended to it."""

    def __init__(self):
        self.batches = []
        self.results = []
        self.full = False
        self.going = threading.Event()
        self.going.set()
        self.asked = threading.Event()

    def append(self, run, answers, results):
        self.asked.set()
        assert self.going.wait(10)
        if self.full:
            raise StoreError("no space left")
        self.batches.append([each.key.case for each in answers])
        self.results += [each.index for each in results]

    @property
    def answers(self):
        return [case for batch in self.batches for case in batch]

    async def begun(self):
        """Wait until a write has begun."""
        assert await asyncio.to_thread(self.asked.wait, 10)


@pytest.fixture
def disk():
    return Disk()


@pytest.fixture
async def journal(disk):
    made = Journal(disk, RUN)
    yield made
    made._executor.shutdown()


async def gathered(tasks):
    return await asyncio.gather(*tasks, return_exceptions=True)


async def test_append_returns_after_the_store_has_it(tmp_path):
    """Once ``append`` has returned, another connection reads the answer."""
    store, other = open_store(tmp_path), open_store(tmp_path)
    store.create_run(RunRecord(run=RUN, started=0.0, state="running", settings={}, notes={}))
    journal = Journal(store, RUN)
    for case in range(20):
        await journal.append(answer(case))
        assert set(other.answers(RUN, case, case)) == {AnswerKey(case, Side.STAGE)}
    await journal.close()
    store.close()
    other.close()


async def test_append_waits_for_its_batch(disk, journal):
    """While the store is busy nobody returns, and what arrives meanwhile is one batch."""
    disk.going.clear()
    first = asyncio.create_task(journal.append(answer(0)))
    await disk.begun()
    rest = [asyncio.create_task(journal.append(answer(case))) for case in range(1, 9)]
    await asyncio.sleep(0.05)
    assert not any(task.done() for task in (first, *rest))
    disk.going.set()
    await gathered([first, *rest])
    assert disk.batches == [[0], list(range(1, 9))]


async def test_failure_reaches_everyone(disk, journal):
    """A write that fails is raised to each who waits, to later appends, and by flush and close."""
    disk.going.clear()
    disk.full = True
    first = asyncio.create_task(journal.append(answer(0)))
    await disk.begun()
    rest = [asyncio.create_task(journal.append(answer(case))) for case in range(1, 5)]
    flushing = asyncio.create_task(journal.flush())
    await asyncio.sleep(0.05)
    disk.going.set()
    found = await gathered([first, *rest, flushing])
    assert [type(each) for each in found] == [StoreError] * 6
    with pytest.raises(StoreError):
        await journal.append(answer(9))
    with pytest.raises(StoreError):
        await journal.flush()
    with pytest.raises(StoreError):
        await journal.close()


async def test_failure_stays(disk, journal):
    """A journal that has lost a batch stays broken, though the disk has room again."""
    disk.full = True
    with pytest.raises(StoreError):
        await journal.append(answer(0))
    disk.full = False
    with pytest.raises(StoreError):
        await journal.append(answer(1))
    assert disk.answers == []


async def test_results_alone_that_fail_are_not_forgotten(disk, journal):
    """Nobody waits for a result; its failure is raised by the next append and by flush."""
    disk.full = True
    journal.add_result(result(0))
    await disk.begun()
    with pytest.raises(StoreError):
        await journal.flush()
    with pytest.raises(StoreError):
        await journal.append(answer(0))


async def test_failure_of_a_note_is_not_forgotten(journal):
    """What is done soon, with nobody waiting, is raised by flush if it fails."""

    def fail():
        raise StoreError("no space left")

    journal.do_soon(fail)
    with pytest.raises(StoreError):
        await journal.flush()


async def test_one_who_gives_up_loses_nothing(disk, journal):
    """A waiter that is cancelled takes no answer of the batch with it, its own included."""
    disk.going.clear()
    first = asyncio.create_task(journal.append(answer(0)))
    await disk.begun()
    rest = [asyncio.create_task(journal.append(answer(case))) for case in range(1, 4)]
    await asyncio.sleep(0.05)
    first.cancel()
    rest[1].cancel()
    await asyncio.sleep(0)
    disk.going.set()
    found = await gathered([first, *rest])
    assert [type(each) for each in found] == [
        asyncio.CancelledError,
        type(None),
        asyncio.CancelledError,
        type(None),
    ]
    await journal.flush()
    assert disk.answers == [0, 1, 2, 3]


async def test_close_writes_what_is_left(disk, journal):
    """Results that nobody waited for are written before the thread ends."""
    disk.going.clear()
    journal.add_result(result(0))
    await disk.begun()
    for case in range(1, 50):
        journal.add_result(result(case))
    disk.going.set()
    await journal.close()
    assert disk.results == list(range(50))


async def test_calls_come_after_what_was_given_before(disk, journal):
    """Reads see the notes that were given before them."""
    done = []
    for number in range(10):
        journal.do_soon(lambda number=number: done.append(number))
    assert await journal.call(lambda: list(done)) == list(range(10))
