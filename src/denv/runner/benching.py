"""A speed run from its settings to its document."""

from __future__ import annotations

import asyncio
import platform
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from random import Random

from denv.client import EndpointClient, Unreachable, preflight, write_probe
from denv.errors import HarnessError, RunCancelledError
from denv.instruments.probes import CHAT, Cost, json_of
from denv.instruments.speed import Ask, Speed, Streamed
from denv.instruments.speed.asking import Strand
from denv.instruments.speed.bench import NAME, SCHEMA
from denv.observe import observe
from denv.records import Endpoint, Exchange, Json
from denv.runner.arrivals import Arrivals, Clock, StreamTransport, current
from denv.runner.document import timestamp
from denv.runner.progress import BEAT_S
from denv.runner.settings import check_endpoint, endpoint_identity
from denv.store import MeasureRecord

PROPS = "/props"
KNOWS_PROPS = "llama.cpp"


@dataclass(frozen=True, slots=True)
class Benching:
    """How far a speed run is, for whoever watches it."""

    asked: int
    planned: int
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Benched:
    """A finished speed run: its document, and the row that is kept of it. There is no verdict."""

    document: Mapping[str, Json]
    record: MeasureRecord

    @property
    def bench(self) -> str:
        """The run's id."""
        return self.record.measure


async def run_bench(
    speed: Speed,
    *,
    endpoints: Mapping[str, Endpoint],
    watch: Callable[[Benching], None] | None = None,
    stop: asyncio.Event | None = None,
    on_checked: Callable[[], None] | None = None,
    clock: Clock = time.perf_counter,
    seed: int | None = None,
) -> Benched:
    """Measure how fast servers answer.

    Parameters
    ----------
    speed
        What is measured, with all its settings.
    endpoints
        Where each of its targets is, by the target's name.
    watch
        Called with a :class:`Benching` every second.
    stop
        Set it to end early; there is nothing to keep then.
    on_checked
        Called once all that was given has been found to be in order, before anything is sent.
    clock
        Seconds of a clock with fine steps; the event loop's may have milliseconds alone.
    seed
        Of the prompts; left out they are new, so that no server has them cached.

    Raises
    ------
    UsageError
        An endpoint will not take what it was given.
    HarnessError
        A server cannot be reached, or gave nothing that can be measured.
    RunCancelledError
        ``stop`` was set.
    """
    for target in speed.targets:
        check_endpoint(endpoints[target.name], target.side)
    if on_checked is not None:
        on_checked()
    drawn = secrets.randbits(48) if seed is None else seed
    servers = {
        target.name: _Server(target.name, endpoints[target.name], clock) for target in speed.targets
    }
    run = _Bench(speed, servers=servers, seed=drawn)
    try:
        return await run.execute(watch or (lambda _: None), stop or asyncio.Event())
    finally:
        for server in servers.values():
            await server.close()


class _Bench:
    def __init__(self, speed: Speed, *, servers: Mapping[str, _Server], seed: int) -> None:
        self._speed = speed
        self._servers = servers
        self._seed = seed
        self._asked = 0
        self._started = time.time()
        stamp = datetime.fromtimestamp(self._started, UTC).strftime("%Y%m%d-%H%M%S")
        self._name = f"{NAME}-{stamp}-{secrets.token_hex(3)}"

    async def execute(self, watch: Callable[[Benching], None], stop: asyncio.Event) -> Benched:
        began = time.monotonic()
        planned = sum(cost.requests for cost in self._speed.cost().values())
        playing = asyncio.create_task(self._met_and_played())
        stopping = asyncio.create_task(stop.wait())
        try:
            while not playing.done() and not stopping.done():
                await asyncio.wait(
                    {playing, stopping}, timeout=BEAT_S, return_when=asyncio.FIRST_COMPLETED
                )
                watch(Benching(self._asked, planned, time.monotonic() - began))
            if playing.done():
                return self._finish(playing.result())
        finally:
            for task in (playing, stopping):
                task.cancel()
            await asyncio.gather(playing, stopping, return_exceptions=True)
        raise RunCancelledError("cancelled: nothing is kept of it, and it cannot go on")

    async def _met_and_played(self) -> Mapping[str, Json]:
        for server in self._servers.values():
            await server.meet()
        slots = {name: server.slots for name, server in self._servers.items()}
        strand = self._speed.strand(Random(self._seed), slots=slots)  # noqa: S311 - prompts
        return await self._play(strand)

    async def _play(self, strand: Strand[Mapping[str, Json]]) -> Mapping[str, Json]:
        try:
            asks = next(strand)
            while True:
                asks = strand.send(await self._answers(asks))
        except StopIteration as end:
            body: Mapping[str, Json] = end.value
            return body
        finally:
            strand.close()

    async def _answers(self, asks: Sequence[Ask]) -> list[Streamed]:
        answers = await asyncio.gather(*(self._servers[ask.server].ask(ask) for ask in asks))
        # Counting parses, which would hold up the other streams if it were done beside them.
        for ask, answer in zip(asks, answers, strict=True):
            self._servers[ask.server].count(answer.exchange)
        self._asked += len(asks)
        return list(answers)

    def _finish(self, body: Mapping[str, Json]) -> Benched:
        finished = time.time()
        document = {
            "schema": SCHEMA,
            "bench": self._name,
            "started": timestamp(self._started),
            "finished": timestamp(finished),
            "denv": {"version": version("denv-parity"), "python": platform.python_version()},
            "servers": {
                target.name: {
                    "side": target.side.value,
                    "draft": target.draft,
                    **self._servers[target.name].facts(),
                }
                for target in self._speed.targets
            },
            "settings": {**self._speed.settings(), "seed": self._seed},
            **body,
            "spent": {name: asdict(server.spent) for name, server in self._servers.items()},
        }
        return Benched(document, self._record(document, finished))

    def _record(self, document: Mapping[str, Json], finished: float) -> MeasureRecord:
        """Give the row of a run that has ended; of any other there is none.

        Rounds of another hour do not belong among these, so nothing is journaled that a later
        session could go on with.
        """
        servers = self._servers.items()
        return MeasureRecord(
            measure=self._name,
            instrument=NAME,
            started=self._started,
            state="finished",
            settings={
                "instrument": document["settings"],
                **{name: endpoint_identity(server.endpoint) for name, server in servers},
            },
            notes={name: {"model": server.facts()["model"]} for name, server in servers},
            document=document,
            finished=finished,
        )


class _Server:
    """One server: its client, and what was learned of it."""

    def __init__(self, name: str, endpoint: Endpoint, clock: Clock) -> None:
        self.endpoint = replace(endpoint, name=endpoint.name or name)
        self.spent = Cost()
        self.slots: int | None = None
        self._name = name
        self._client = EndpointClient(
            self.endpoint, transport=StreamTransport(self.endpoint, clock), observe=observe
        )
        self._model = ""
        self._engine: str | None = None
        self._context: int | None = None
        self._build: str | None = None
        self._without_options = False

    async def close(self) -> None:
        await self._client.close()

    async def meet(self) -> None:
        """Ask one small question, and a llama.cpp for its slots."""
        met = await preflight(self._client)
        if isinstance(met, Unreachable):
            raise HarnessError(f"the {self._name} is unreachable: {met.reason}")
        self._model, self._engine = met.model, met.engine or met.server
        if self._engine == KNOWS_PROPS:
            self._read_props(json_of(await self._client.probe(PROPS, None)))

    def _read_props(self, props: Json) -> None:
        if not isinstance(props, dict):
            return
        slots, build = props.get("total_slots"), props.get("build_info")
        defaults = props.get("default_generation_settings")
        context = defaults.get("n_ctx") if isinstance(defaults, dict) else None
        self.slots = slots if isinstance(slots, int) else None
        self._context = context if isinstance(context, int) else None
        self._build = build if isinstance(build, str) else None

    def facts(self) -> Mapping[str, Json]:
        return {
            "url": self.endpoint.url,
            "name": self.endpoint.name,
            "model": self._model,
            "engine": self._engine,
            "build": self._build,
            "slots": self.slots,
            "context": self._context,
        }

    async def ask(self, ask: Ask) -> Streamed:
        """Ask once, with the client's retries; a stream that was cut is asked again whole."""
        streamed = await self._ask(ask)
        exchange = streamed.exchange
        refused = exchange.status in {400, 422} and b"stream_options" in exchange.body
        if refused and not self._without_options:
            self._without_options = True
            return await self._ask(ask)
        return streamed

    async def _ask(self, ask: Ask) -> Streamed:
        body = dict(ask.body())
        if self._without_options:
            del body["stream_options"]
        request = write_probe(body, self.endpoint, model=self._model, dialect=self._client.dialect)
        arrivals = Arrivals()
        current.set(arrivals)
        exchange = await self._client.probe(CHAT, request.body, streamed=True)
        return Streamed(exchange, tuple(arrivals.marks), arrivals.sent_s)

    def count(self, exchange: Exchange) -> None:
        """Add what an answer has cost."""
        usage = observe(exchange).usage
        self.spent += Cost(
            1 + len(exchange.attempts),
            (usage.prompt_tokens if usage else None) or 0,
            (usage.completion_tokens if usage else None) or 0,
        )
