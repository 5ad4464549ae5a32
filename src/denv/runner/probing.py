"""Drives an instrument's strands: probes go to the servers once, and come from the journal then."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from denv.client import EndpointClient, write_probe
from denv.encode import answer_scope, dump
from denv.instruments.probes import CHAT, Cost, Probe, Step, Strand, Together, Work, json_of
from denv.records import Dialect, Exchange, Json, Observation, Request, Side
from denv.runner.sides import Sides
from denv.store import Store, StoredProbe

PROBE_TAG = b"denv.probe/1\0"
"""Hashed first, so that a changed form of the key is a miss and never a wrong hit."""

T = TypeVar("T")


class Prober:
    """Answers the probes of one measurement and counts what they cost.

    An answer is journaled before its slot is free for the next request, so that a kill repeats
    at most as many requests as there are slots. ``on_answer`` is called after each.
    """

    def __init__(
        self,
        sides: Sides,
        *,
        store: Store,
        measure: str,
        resumed: bool = False,
        on_answer: Callable[[], None] = lambda: None,
    ) -> None:
        self._sides = sides
        self._store = store
        self._measure = measure
        self._resumed = resumed
        self._on_answer = on_answer
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="denv-store")
        self._scopes: dict[Side, bytes] = {}
        self._asking: dict[bytes, asyncio.Future[Exchange]] = {}
        # Answers themselves are not kept in memory: an equal probe finds them in the journal.
        self._answered: set[bytes] = set()
        self.spent: dict[Side, Cost] = {side: Cost() for side in Side}
        """What this measurement has cost each side, earlier parts of it included."""

    async def play(self, strand: Strand[T]) -> T:
        """Run a strand to its end."""
        try:
            step = next(strand)
            while True:
                step = strand.send(await self._done(step))
        except StopIteration as end:
            value: T = end.value
            return value
        finally:
            strand.close()

    def close(self) -> None:
        """Wait until all is journaled, and end the store's thread."""
        self._executor.shutdown(wait=True)

    async def _done(self, step: Step) -> Any:
        match step:
            case Probe():
                return await self.answer(step)
            case Together():
                return await self._together(step)
            case Work():
                return await asyncio.to_thread(step.function)

    async def _together(self, step: Together) -> list[Any]:
        strands = list(step.strands)
        results: list[Any] = [None] * len(strands)
        left = iter(enumerate(strands))

        async def work() -> None:
            for number, strand in left:
                results[number] = await self.play(strand)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(len(strands), step.most or len(strands))):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return results

    async def answer(self, probe: Probe) -> Exchange:
        """Answer one probe; equal probes share one answer."""
        key = self._key(probe)
        asking = self._asking.get(key)
        if asking is not None:
            return await asyncio.shield(asking)
        future: asyncio.Future[Exchange] = asyncio.get_running_loop().create_future()
        self._asking[key] = future
        try:
            exchange = await self._found_or_asked(key, probe)
        except BaseException:
            future.cancel()
            raise
        finally:
            del self._asking[key]
        future.set_result(exchange)
        if key not in self._answered:
            self._answered.add(key)
            self._count(probe.side, exchange)
            self._on_answer()
        return exchange

    async def _found_or_asked(self, key: bytes, probe: Probe) -> Exchange:
        if self._resumed or key in self._answered:
            found = await self._call(lambda: self._store.find_probe(self._measure, key))
            if found is not None and (key in self._answered or not _gave_none(found.exchange)):
                return found.exchange
        client = self._sides.client(probe.side)
        if client is None:
            raise RuntimeError("measurements need clients")
        if probe.path == CHAT and probe.body is not None:
            return await self._ask_chat(client, probe, key=key)
        body = None if probe.body is None else self._written(probe, Dialect()).body
        exchange = await client.probe(probe.path, body, streamed=probe.streamed)
        await self._keep(key, probe.side, exchange)
        return exchange

    async def _ask_chat(self, client: EndpointClient, probe: Probe, *, key: bytes) -> Exchange:
        async def keep(exchange: Exchange, _: Observation, __: Request) -> None:
            await self._keep(key, probe.side, exchange)

        exchange, _, _ = await client.ask(lambda d: self._written(probe, d), keep=keep)
        return exchange

    async def _keep(self, key: bytes, side: Side, exchange: Exchange) -> None:
        stored = StoredProbe(key, side, exchange, time.time())
        await self._call(lambda: self._store.keep_probe(self._measure, stored))

    async def _call(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, function)

    def _written(self, probe: Probe, dialect: Dialect) -> Request:
        endpoint = self._sides.endpoints[probe.side]
        model = self._sides.model(probe.side)
        return write_probe(probe.body or {}, endpoint, model=model, dialect=dialect)

    def _key(self, probe: Probe) -> bytes:
        side = probe.side
        if side not in self._scopes:
            endpoint = self._sides.endpoints[side]
            self._scopes[side] = answer_scope(endpoint, model=self._sides.model(side))
        digest = hashlib.sha256(PROBE_TAG + self._scopes[side])
        # Both sides may be one endpoint, and are then asked for themselves each.
        for part in (side.value, probe.path, str(probe.repeat)):
            digest.update(part.encode() + b"\0")
        digest.update(b"" if probe.body is None else dump(dict(probe.body)))
        return digest.digest()

    def _count(self, side: Side, exchange: Exchange) -> None:
        self.spent[side] += spent_of(exchange)


def spent_of(exchange: Exchange) -> Cost:
    """Count the requests of one exchange, retries among them, and the tokens that it reports."""
    requests = 1 + len(exchange.attempts)
    answer = json_of(exchange)
    parts = answer if isinstance(answer, list) else [answer]  # a list to several prompts
    return sum((_tokens_of(part) for part in parts if isinstance(part, Mapping)), Cost(requests))


def _tokens_of(answer: Mapping[str, Json]) -> Cost:
    usage = answer.get("usage")
    if isinstance(usage, Mapping):
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    else:  # llama.cpp's own form
        prompt, completion = answer.get("tokens_evaluated"), answer.get("tokens_predicted")
    return Cost(prompt_tokens=_count(prompt), completion_tokens=_count(completion))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _gave_none(exchange: Exchange) -> bool:
    """Tell a fault of transport or server, which is asked again when a measurement is resumed."""
    status = exchange.status
    return exchange.fault is not None or status is None or status == 429 or status >= 500
