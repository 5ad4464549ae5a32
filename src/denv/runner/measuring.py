"""A measurement from its instrument to its document."""

from __future__ import annotations

import asyncio
import platform
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, TypeVar

from denv.errors import HarnessError, ResumeError, RunCancelledError
from denv.instruments.probes import Cost, Finding, Instrument, SideFacts
from denv.instruments.selfcheck import require_answers_selfcheck, require_selfcheck
from denv.records import Endpoint, Json, Side
from denv.runner.document import timestamp
from denv.runner.probing import Prober
from denv.runner.progress import BEAT_S
from denv.runner.settings import check_endpoint, differences, endpoint_identity
from denv.runner.sides import Sides
from denv.store import MeasureRecord, Store, data_folder, open_store

T = TypeVar("T")

ASKS_QUESTIONS = frozenset({"answers", "derivations", "all"})
"""Instruments that stand on how answers to questions are read."""


@dataclass(frozen=True, slots=True)
class Measuring:
    """How far a measurement is, for whoever watches it."""

    asked: Mapping[Side, Cost]
    planned: Mapping[Side, Cost]
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A finished measurement: its id, the word that decides the exit code, its document."""

    measure: str
    exit_verdict: str
    document: Mapping[str, Json]


async def run_measure(
    instrument: Instrument,
    *,
    stage: Endpoint,
    reference: Endpoint,
    store: Store | None = None,
    resume: str | None = None,
    watch: Callable[[Measuring], None] | None = None,
    stop: asyncio.Event | None = None,
    on_checked: Callable[[], None] | None = None,
    on_start: Callable[[str], None] | None = None,
) -> Measured:
    """Let an instrument ask both sides, and give its document.

    Parameters
    ----------
    instrument
        What is measured, with all its settings.
    stage, reference
        The deployment under test, and the one that is trusted.
    store
        Where answers are journaled; the data folder where it is left out.
    resume
        The id of an earlier measurement to continue: what was answered is not asked again.
    watch
        Called with a :class:`Measuring` every second.
    stop
        Set it to end early; what was answered stays journaled.
    on_checked
        Called once all that was given has been found to be in order, before anything is sent.
    on_start
        Called with the measurement's id once it can be resumed by it.

    Raises
    ------
    UsageError
        What was asked for cannot be done as asked.
    HarnessError
        A side cannot be reached, or the harness itself could not run.
    RunCancelledError
        ``stop`` was set.
    """
    endpoints = {Side.STAGE: stage, Side.REFERENCE: reference}
    for side, endpoint in endpoints.items():
        check_endpoint(endpoint, side)
    require_selfcheck(data_folder())
    if instrument.name in ASKS_QUESTIONS:
        require_answers_selfcheck(data_folder())
    opened = open_store(data_folder()) if store is None else store
    try:
        run = _Measure(instrument, endpoints=endpoints, store=opened, resume=resume)
        with opened.claim(run.measure):
            if on_checked is not None:
                on_checked()
            return await run.execute(
                watch=watch or (lambda _: None),
                stop=stop or asyncio.Event(),
                on_start=on_start or (lambda _: None),
            )
    finally:
        if store is None:
            opened.close()


class _Measure:
    def __init__(
        self,
        instrument: Instrument,
        *,
        endpoints: Mapping[Side, Endpoint],
        store: Store,
        resume: str | None,
    ) -> None:
        self._instrument = instrument
        self._endpoints = endpoints
        self._store = store
        self._notes: dict[str, Any] = {}
        self._resumed = resume is not None
        self._settings = {
            "instrument": dict(instrument.settings()),
            **{side.value: endpoint_identity(e) for side, e in endpoints.items()},
        }
        self._started = time.time()
        if resume is None:
            stamp = datetime.fromtimestamp(self._started, UTC).strftime("%Y%m%d-%H%M%S")
            self.measure = f"{instrument.name}-{stamp}-{secrets.token_hex(3)}"
        else:
            self.measure = resume
            self._find()
        # A refused field is learned again after a kill, so it need not be written at once.
        self._sides = Sides(endpoints, notes=self._notes, offline=False, on_note=lambda: None)
        self._prober = Prober(self._sides, store=store, measure=self.measure, resumed=self._resumed)

    def _find(self) -> None:
        record = self._store.get_measure(self.measure)
        if record is None:
            raise ResumeError(f"there is no measurement {self.measure!r} to resume")
        if record.instrument != self._instrument.name:
            raise ResumeError(
                f"{self.measure} is a measurement of {record.instrument}, "
                f"not of {self._instrument.name}"
            )
        changed = differences(record.settings, self._settings)
        if changed:
            raise ResumeError(
                f"{self.measure} cannot be resumed, these have changed: {', '.join(changed)}"
            )
        self._started = record.started
        self._notes = dict(record.notes)

    async def execute(
        self,
        *,
        watch: Callable[[Measuring], None],
        stop: asyncio.Event,
        on_start: Callable[[str], None],
    ) -> Measured:
        began = time.monotonic()
        planned = dict(self._instrument.cost())

        def tell() -> None:
            watch(Measuring(dict(self._prober.spent), planned, time.monotonic() - began))

        try:
            met = await _unless_stopped(self._sides.preflight(list(Side)), stop, tell)
            if isinstance(met, Stopped):
                raise RunCancelledError("cancelled before anything was measured")
            for side, why in self._sides.down.items():
                raise HarnessError(f"the {side} is unreachable: {why}")
            self._begin()
            on_start(self.measure)
            finding = await self._played(stop, tell)
            return self._finish(finding)
        finally:
            self._prober.close()
            await self._sides.close()

    async def _played(self, stop: asyncio.Event, tell: Callable[[], None]) -> Finding:
        facts = {side: self._facts(side) for side in Side}
        found = await _unless_stopped(self._prober.play(self._instrument.strand(facts)), stop, tell)
        if not isinstance(found, Stopped):
            return found
        self._store.update_measure(self.measure, state="stopped", notes=self._notes)
        raise RunCancelledError(
            f"cancelled; the same command, all its options given again, with --resume "
            f"{self.measure} goes on where it was"
        )

    def _begin(self) -> None:
        if self._resumed:
            self._store.update_measure(self.measure, state="running", notes=self._notes)
            return
        self._store.create_measure(
            MeasureRecord(
                measure=self.measure,
                instrument=self._instrument.name,
                started=self._started,
                state="running",
                settings=self._settings,
                notes=self._notes,
            )
        )

    def _facts(self, side: Side) -> SideFacts:
        engine = self._notes[side.value].get("engine")
        return SideFacts(
            model=self._sides.model(side),
            concurrency=self._endpoints[side].concurrency,
            engine=engine if isinstance(engine, str) else None,
            sampled=side in self._sides.sampled(),
            sampled_at=self._sides.sampled_at(side),
            url=self._endpoints[side].url,
        )

    def _finish(self, finding: Finding) -> Measured:
        finished = time.time()
        document = {
            "schema": self._instrument.schema,
            "measure": self.measure,
            "started": timestamp(self._started),
            "finished": timestamp(finished),
            "denv": {"version": version("denv-parity"), "python": platform.python_version()},
            **{side.value: self._side(side) for side in Side},
            "settings": dict(self._instrument.settings()),
            **finding.body,
            "spent": {side.value: asdict(cost) for side, cost in self._prober.spent.items()},
        }
        self._store.update_measure(
            self.measure,
            state="finished",
            notes=self._notes,
            document=document,
            finished=finished,
        )
        return Measured(self.measure, finding.exit_verdict, document)

    def _side(self, side: Side) -> dict[str, Json]:
        endpoint, notes = self._endpoints[side], self._notes[side.value]
        return {
            "url": endpoint.url,
            "name": endpoint.name,
            "model": notes.get("model"),
            "engine": notes.get("engine"),
            "sampled": side in self._sides.sampled(),
            "concurrency": endpoint.concurrency,
        }


class Stopped:
    """What comes of work that was given up."""


async def _unless_stopped(
    work: Coroutine[Any, Any, T], stop: asyncio.Event, tell: Callable[[], None]
) -> T | Stopped:
    """Give what work comes to, or give it up once ``stop`` is set; tell of it all the while."""
    working = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    try:
        while not working.done() and not stopping.done():
            await asyncio.wait(
                {working, stopping}, timeout=BEAT_S, return_when=asyncio.FIRST_COMPLETED
            )
            tell()
        return working.result() if working.done() else Stopped()
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
