"""The store as the runner and the reports see it. All calls are synchronous and may block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from denv.records import CaseResult, Exchange, Json, Side
from denv.store.claims import Held


class AnswerKey(NamedTuple):
    """Which answer of a run: the case's index, the side, the repeat, streamed or not."""

    case: int
    side: Side
    repeat: int = 0
    streamed: bool = False


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A journaled exchange.

    ``cache_key`` is None for an answer that may not serve another run. ``max_tokens`` is what
    the request sent. ``answered`` is in seconds since the epoch.
    """

    key: AnswerKey
    exchange: Exchange
    max_tokens: int
    answered: float
    cache_key: bytes | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run's own row.

    ``settings`` is everything that must be the same for the run to be continued; ``notes`` is
    what the run has learned of its sides; ``head`` the report without its cases, once finished.
    ``state`` is ``running``, ``stopped`` (some cases have no result) or ``finished``.
    """

    run: str
    started: float
    state: str
    settings: Mapping[str, Json]
    notes: Mapping[str, Json]
    head: Mapping[str, Json] | None = None
    finished: float | None = None


@dataclass(frozen=True, slots=True)
class MeasureRecord:
    """A measurement's own row; as :class:`RunRecord`, with the finished ``document``."""

    measure: str
    instrument: str
    started: float
    state: str
    settings: Mapping[str, Json]
    notes: Mapping[str, Json]
    document: Mapping[str, Json] | None = None
    finished: float | None = None


@dataclass(frozen=True, slots=True)
class StoredProbe:
    """A journaled answer to a probe; ``key`` is the probe's hash, ``answered`` Unix seconds."""

    key: bytes
    side: Side
    exchange: Exchange
    answered: float


class Store(Protocol):
    """Keeps runs. Every method raises ``StoreError`` when the data cannot be read or written."""

    def claim(self, run: str) -> AbstractContextManager[Held]:
        """Hold a run for the length of the block; ``ResumeError`` where another process does."""

    def claim_shard(self, run: str, first: int, last: int) -> AbstractContextManager[None]:
        """Hold some cases of a run; others may hold other cases, but nobody the whole run."""

    def create_run(self, record: RunRecord) -> None:
        """Add a new run."""

    def get_run(self, run: str) -> RunRecord | None:
        """Give one run, or None."""

    def latest_run(self) -> RunRecord | None:
        """Give the run that was started last, or None."""

    def update_run(
        self,
        run: str,
        *,
        state: str | None = None,
        notes: Mapping[str, Json] | None = None,
        head: Mapping[str, Json] | None = None,
        finished: float | None = None,
    ) -> None:
        """Change what is given of a run; with a head it has ended, and comes into the log."""

    def change_notes(
        self, run: str, change: Callable[[Mapping[str, Json]], Mapping[str, Json]]
    ) -> None:
        """Replace a run's notes by what ``change`` makes of them; no other writer comes between."""

    def append(
        self, run: str, answers: Sequence[StoredAnswer], results: Sequence[CaseResult]
    ) -> None:
        """Journal answers and results in one transaction; what is there already is replaced."""

    def answers(self, run: str, first: int, last: int) -> dict[AnswerKey, StoredAnswer]:
        """Give the journaled answers of the cases ``first`` to ``last``, both included."""

    def finished(self, run: str, first: int, last: int) -> set[int]:
        """Give which of the cases ``first`` to ``last`` have a result."""

    def results(self, run: str, first: int = 0, last: int | None = None) -> Iterator[CaseResult]:
        """Stream a run's results in the suite's order, or those of some cases."""

    def documents(self, run: str) -> Iterator[dict[str, Json]]:
        """Stream a run's results in the suite's order, as the report shows them."""

    def forget(self, run: str, keys: Sequence[AnswerKey]) -> None:
        """Take answers, and their cases' results, out of a run, so that they are asked again."""

    def cached(
        self, keys: Sequence[bytes], *, not_before: float, not_after: float | None = None
    ) -> dict[bytes, StoredAnswer]:
        """Give the newest answer of each key between two times, both of them included."""

    def create_measure(self, record: MeasureRecord) -> None:
        """Add a new measurement."""

    def get_measure(self, measure: str) -> MeasureRecord | None:
        """Give one measurement, or None."""

    def update_measure(
        self,
        measure: str,
        *,
        state: str | None = None,
        notes: Mapping[str, Json] | None = None,
        document: Mapping[str, Json] | None = None,
        finished: float | None = None,
    ) -> None:
        """Change what is given of a measurement."""

    def keep_probe(self, measure: str, probe: StoredProbe) -> None:
        """Journal one answer; what is there already is replaced."""

    def find_probe(self, measure: str, key: bytes) -> StoredProbe | None:
        """Give the journaled answer of a probe, or None."""

    def close(self) -> None:
        """Let go of the data."""
