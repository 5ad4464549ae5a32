"""A run's own row: begun, found again, and brought to an end."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any

from denv.errors import ResumeError, UsageError
from denv.observe import observe
from denv.records import CaseResult, Json, Outcome, ProblemKind, Side
from denv.report import Report
from denv.runner.notes import merged
from denv.runner.settings import differences
from denv.store import AnswerKey, RunRecord, Store, StoredAnswer

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Ledger:
    """One run in the store.

    ``notes`` is what the run has learned of its sides, shared with whoever learns it.
    ``given_up`` are the answers of an earlier part of the run that were none. ``run_id`` names
    the run: it is begun where there is none of that name, else continued.
    """

    def __init__(
        self,
        store: Store,
        *,
        identity: Mapping[str, Json],
        resume: str | None,
        run_id: str | None = None,
    ) -> None:
        if resume is None and run_id is not None:
            _check_id(run_id)
            resume = run_id if store.get_run(run_id) is not None else None
        self._store = store
        self._identity = identity
        self._was_finished = False
        self.resumed = resume is not None
        self.notes: dict[str, Any] = {}
        self.given_up: frozenset[AnswerKey] = frozenset()
        if resume is None:
            self.started = time.time()
            stamp = datetime.fromtimestamp(self.started, UTC).strftime("%Y%m%d-%H%M%S")
            self.run = run_id or f"{stamp}-{secrets.token_hex(3)}"
        else:
            self.run = resume
            self._find()

    def _find(self) -> None:
        record = self._store.get_run(self.run)
        if record is None:
            raise ResumeError(f"there is no run {self.run!r} to resume")
        changed = differences(record.settings["identity"], self._identity)
        if changed:
            raise ResumeError(
                f"run {self.run} cannot be resumed, these have changed: {', '.join(changed)}"
            )
        self.started = record.started
        self.notes = dict(record.notes)
        self._was_finished = record.state == "finished"

    def reopen(self) -> Iterator[CaseResult]:
        """Give the results that stand, apart from those of answers that were none.

        A run that was stopped is continued as it was. One that ended is asked again only where
        rate limits or the reference left a case without an answer: a failure stays one.
        """
        self.find_given_up()
        again = {key.case for key in self.given_up}
        return (result for result in self._store.results(self.run) if result.index not in again)

    def find_given_up(self) -> None:
        """Find what is asked again of a run that had ended."""
        if self._was_finished:
            self.given_up = frozenset(self._unanswered())

    def read_notes(self) -> None:
        """Read what other processes have learned since."""
        record = self._store.get_run(self.run)
        if record is not None:
            self.notes = merged(self.notes, record.notes)

    def forget(self) -> None:
        """Take what is asked again out of the store, now that it can be asked."""
        self._store.forget(self.run, list(self.given_up))

    def set_aside(self) -> Iterator[CaseResult]:
        """Give the results that ``reopen`` left out, for where nothing could be asked."""
        again = {key.case for key in self.given_up}
        return (result for result in self._store.results(self.run) if result.index in again)

    def _unanswered(self) -> set[AnswerKey]:
        found: set[AnswerKey] = set()
        for result in self._store.results(self.run):
            if result.outcome in {Outcome.REFERENCE_ERROR, Outcome.UNMEASURED}:
                answers = self._store.answers(self.run, result.index, result.index)
                found |= {answer.key for answer in answers.values() if _gave_none(answer)}
        return found

    def begin(self, options: Mapping[str, Json]) -> None:
        """Write the row of a new run, or mark an earlier one as going on."""
        if self.resumed:
            self._store.update_run(self.run, state="running", notes=self.notes)
            return
        self._store.create_run(
            RunRecord(
                run=self.run,
                started=self.started,
                state="running",
                settings={"identity": dict(self._identity), "options": dict(options)},
                notes=self.notes,
            )
        )

    def save_notes(self) -> None:
        """Add what was learned to what others have; before the run has begun nothing is written."""
        self._store.change_notes(self.run, lambda stored: merged(stored, self.notes))

    def end(self, head: Mapping[str, Json], *, whole: bool, finished: float) -> Report:
        """Write the report's head; ``whole`` says that every case has a result."""
        self._store.update_run(
            self.run,
            state="finished" if whole else "stopped",
            notes=self.notes,
            head=head,
            finished=finished,
        )
        return stored_report(self._store, self.run, head)


def _check_id(run: str) -> None:
    if not RUN_ID.fullmatch(run):
        raise UsageError(f"{run!r} is no name of a run: 1 to 64 of A-Z, a-z, 0-9 and . _ -")


def stored_report(store: Store, run: str, head: Mapping[str, Json]) -> Report:
    """Give a run's report, its cases streamed from the store each time they are walked over."""
    cases = head["suite"]["cases"]  # what comes after them is private

    def public(document: Mapping[str, Json]) -> bool:
        return bool(document["index"] < cases)

    return Report(head, lambda: takewhile(public, store.documents(run)))


def _gave_none(answer: StoredAnswer) -> bool:
    problem = observe(answer.exchange).problem
    if problem is None:
        return False
    return answer.key.side is Side.REFERENCE or problem.kind is ProblemKind.RATE_LIMITED
