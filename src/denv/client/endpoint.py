"""One endpoint, asked by many workers: slots, pace, shared waits, retries and refused fields."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

from denv.client import redirects, retry
from denv.client.masking import Masker
from denv.client.pace import Pace
from denv.client.permitting import Permitter
from denv.client.routes import Route, own_route, routes_of, secrets_of
from denv.client.transport import MAX_BYTES, HttpCall, Transport
from denv.encode import adapt
from denv.records import (
    Attempt,
    Cause,
    Dialect,
    Endpoint,
    Exchange,
    FaultKind,
    Observation,
    Problem,
    ProblemKind,
    Request,
)

CHAT = "/chat/completions"
MODELS = "/models"

_MAX_HOPS = 3
_MAX_REFUSALS = 8
_CONNECTION_FAULTS = frozenset(
    {FaultKind.DNS, FaultKind.CONNECT, FaultKind.TIMEOUT_CONNECT, FaultKind.CUT}
)


Keep = Callable[[Exchange, Observation, Request], Awaitable[None]]
"""Called with a final answer."""


class Flight:
    """What is under way of one client: sent and not answered, or answered and not kept yet."""

    def __init__(self) -> None:
        self._count = 0
        self._changed = asyncio.Event()
        self._may_send = asyncio.Event()
        self._may_send.set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one request, or the keeping of its answer, for the length of the block."""
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
            self._changed.set()

    def hold_back(self) -> None:
        """Let nothing more be sent."""
        self._may_send.clear()

    async def cleared(self) -> None:
        """Wait until something may be sent; for ever once all is held back."""
        await self._may_send.wait()

    async def landed(self) -> None:
        """Wait until nothing is under way."""
        # An answer is kept by the very step that ends its request: the count is 0 at the end alone.
        while self._count:
            self._changed.clear()
            await self._changed.wait()


class EndpointClient:
    """Asks one endpoint: at most ``concurrency`` at once and ``rate`` a second.

    ``routes`` are where requests go in turn: the endpoint's replicas, or its one URL.
    ``clock`` is monotonic and ``wall`` is Unix time, both in seconds; ``rng`` gives the jitter.
    ``on_dialect`` is told of each change in how requests to this side are written.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        transport: Transport,
        observe: Callable[[Exchange], Observation],
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: retry.Rng | None = None,
        on_dialect: Callable[[Dialect], None] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.endpoint = endpoint
        self._own = own_route(endpoint)
        self.base = self._own.base
        self.routes = routes_of(endpoint)
        self.dialect = Dialect()
        self.masker = Masker(secrets_of(endpoint))
        self._transport = transport
        self._observe = observe
        self._clock, self._wall, self._sleep = clock, wall, sleep
        self._rng = rng or random.Random()  # noqa: S311 - jitter, not a secret
        self._on_dialect = on_dialect
        self._max_bytes = max_bytes
        self._permitter = Permitter(wall=wall)
        replica_header = endpoint.replica_header
        self._replica_header = replica_header.lower() if replica_header else None
        self._slots = asyncio.Semaphore(endpoint.concurrency)
        self._taking_all = asyncio.Lock()
        self._flight = Flight()
        self._pace = Pace(
            endpoint.rate, clock=clock, sleep=sleep, rng=self._rng, pacing=endpoint.pacing
        )

    @property
    def held_s(self) -> float:
        """Seconds until the wait that holds back all requests ends, 0 where none stands."""
        return self._pace.held_s

    @property
    def held_why(self) -> str:
        """Why requests are held back: ``429``, ``503`` or ``connection``; "" where they are not."""
        return self._pace.held_why

    @property
    def waits(self) -> int:
        """How many times requests have begun to be held back."""
        return self._pace.waits

    def hold_back(self) -> None:
        """Send nothing more: whoever would send waits until it is cancelled."""
        self._flight.hold_back()

    async def landed(self) -> None:
        """Wait until each request that was sent has its answer, and that is kept."""
        await self._flight.landed()

    async def close(self) -> None:
        """Close the transport."""
        await self._transport.close()

    async def ask(
        self,
        build: Callable[[Dialect], Request],
        *,
        follow: bool = True,
        keep: Keep | None = None,
        alone: bool = False,
        index: int = 0,
    ) -> tuple[Exchange, Observation, Request]:
        """Ask until there is an answer, or no hope of one; give the last exchange.

        ``build`` writes the request in the endpoint's present dialect and is called again after
        a change of it. ``follow`` takes redirects (307, 308) to the very same host and port.
        ``keep`` is awaited with the answer before its slot is free for another request.
        ``alone`` asks while no other request of this client is in flight. ``index`` chooses
        the route, in turn.
        """
        route = self._route(index)
        attempts: list[Attempt] = []
        async with self._all_slots() if alone else self._slots:
            while True:
                request, exchange = await self._taken(build, route, follow=follow)
                observation = self._observe(exchange)
                if not await self._waited(exchange, observation.problem, attempts):
                    break
            if attempts:
                exchange = replace(exchange, attempts=tuple(attempts))
                observation = replace(observation, attempts=exchange.attempts)
            if keep is not None:
                with self._flight.one():
                    await keep(exchange, observation, request)
        return exchange, observation, request

    @asynccontextmanager
    async def _all_slots(self) -> AsyncIterator[None]:
        """Wait until nothing is in flight, and let nothing be sent until the block ends."""
        taken = 0
        try:
            async with self._taking_all:  # two that take slots one by one would wait for ever
                while taken < self.endpoint.concurrency:
                    await self._slots.acquire()
                    taken += 1
            yield
        finally:
            for _ in range(taken):
                self._slots.release()

    def _route(self, index: int) -> Route:
        return self.routes[index % len(self.routes)]

    async def list_models(self, index: int = 0) -> Exchange:
        """Ask a route's ``/models``, with the same retries; redirects are not followed."""
        route = self._route(index)
        return await self._ask_plainly(
            self._call("GET", route.base + MODELS, b"", route=route, streamed=False), route
        )

    async def probe(self, path: str, body: bytes | None, *, streamed: bool = False) -> Exchange:
        """Ask any path of the server, with the same pace and retries; None as body is a GET.

        ``path`` begins at the server's root, which is the base without its ``/v1``.
        """
        url = self.base.removesuffix("/v1") + path
        method = "GET" if body is None else "POST"
        return await self._ask_plainly(
            self._call(method, url, body or b"", route=self._own, streamed=streamed), self._own
        )

    async def _ask_plainly(self, call: HttpCall, route: Route) -> Exchange:
        """Ask until status and fault say that there is an answer, or no hope of one."""
        attempts: list[Attempt] = []
        async with self._slots:
            while True:
                exchange = await self._send(call, route=route, follow=False)
                if not await self._waited(exchange, listing_problem(exchange), attempts):
                    return replace(exchange, attempts=tuple(attempts))

    # ------------------------------------------------------------ refused fields

    async def _taken(
        self, build: Callable[[Dialect], Request], route: Route, *, follow: bool
    ) -> tuple[Request, Exchange]:
        """Send, and send again in another dialect while a field is refused by name."""
        request = build(self.dialect)
        for _ in range(_MAX_REFUSALS):
            url = route.base + CHAT
            call = self._call("POST", url, request.body, route=route, streamed=request.stream)
            exchange = await self._send(call, route=route, follow=follow)
            if route.replica is not None:
                exchange = replace(exchange, replica=route.replica)
            if exchange.status not in {400, 422} or exchange.fault is not None:
                break
            rewritten = self._rewritten(build, request, exchange.status, exchange.body)
            if rewritten is None:
                break
            request = rewritten
        return request, exchange

    def _rewritten(
        self, build: Callable[[Dialect], Request], refused: Request, status: int, body: bytes
    ) -> Request | None:
        """Write a refused request anew, None where nothing of it would change."""
        # Another worker may have met the same refusal first: its change is tried before one more.
        request = build(self.dialect)
        if request.body != refused.body:
            return request
        changed = adapt(self.dialect, status=status, body=body)
        if changed is None:
            return None
        request = build(changed)
        if request.body == refused.body:
            return None
        self.dialect = changed
        if self._on_dialect is not None:
            self._on_dialect(changed)
        return request

    # ------------------------------------------------------------ one request

    def _call(
        self, method: str, url: str, body: bytes, *, route: Route, streamed: bool
    ) -> HttpCall:
        return HttpCall(
            method=method,
            url=url,
            headers=route.headers,
            body=body,
            timeouts=self.endpoint.timeouts,
            streamed=streamed,
            max_bytes=self._max_bytes,
        )

    async def _send(self, call: HttpCall, *, route: Route, follow: bool) -> Exchange:
        for hop in range(_MAX_HOPS + 1):
            await self._pace.admitted()
            await self._flight.cleared()
            with self._flight.one():
                if route.permits is None:
                    exchange = await self._transport.send(call)
                else:  # signed only now, however long it has waited for its turn
                    exchange = await self._permitter.send(call, route, self._transport)
            target = redirects.target_of(exchange, call.url)
            if target is None:
                break
            allowed = redirects.may_follow(exchange.status, target, call.url)
            if not (follow and allowed) or hop == _MAX_HOPS:
                exchange = replace(exchange, fault=redirects.fault_of(exchange.status, target))
                break
            call = replace(call, url=target)
        exchange = self.masker.exchange(exchange)
        if self._replica_header is not None:
            replica = dict(exchange.headers).get(self._replica_header)
            exchange = replace(exchange, replica=replica)
        return exchange

    # ------------------------------------------------------------ retries

    async def _waited(
        self, exchange: Exchange, problem: Problem | None, attempts: list[Attempt]
    ) -> bool:
        """Wait and note the attempt where asking again may help; False where the answer stands."""
        if problem is None:
            return False
        asked_s = _asked_wait(exchange, now=self._wall())
        wait_s = retry.backoff(len(attempts), self._rng)
        if asked_s is not None:
            wait_s = min(asked_s, retry.MAX_RETRY_AFTER_S)
        shared = _is_shared(exchange, asked_s, problem)
        if shared:
            # Also after the last try: the other workers must not run into the same wall.
            why = str(exchange.status) if exchange.status in {429, 503} else "connection"
            self._pace.hold(wait_s, why=why)
        if not self._is_worth_it(exchange, problem, attempts):
            return False
        started = self._clock()
        if not shared:
            await self._sleep(wait_s)
        await self._pace.resumed()
        message = problem.message + retry.capped_note(asked_s)
        attempts.append(Attempt(exchange.status, message, self._clock() - started))
        return True

    def _is_worth_it(self, exchange: Exchange, problem: Problem, attempts: list[Attempt]) -> bool:
        if not problem.retry or len(attempts) >= self.endpoint.retries or _is_page(exchange):
            return False
        if exchange.fault is not None and exchange.fault.kind is FaultKind.TLS:
            return False  # a certificate does not become trusted by waiting
        # A template that raises is a refusal in a server error's clothes: it will raise again.
        repeats = bool(attempts) and attempts[-1].problem.startswith(problem.message)
        return not (repeats and problem.cause is Cause.TEMPLATE and (exchange.status or 0) >= 500)


def _asked_wait(exchange: Exchange, *, now: float) -> float | None:
    if exchange.status not in {429, 503}:
        return None
    return retry.asked_wait(dict(exchange.headers).get("retry-after"), now=now)


def _is_shared(exchange: Exchange, asked_s: float | None, problem: Problem) -> bool:
    if asked_s is not None or exchange.status == 429:
        return True
    fault = exchange.fault
    return problem.retry and fault is not None and fault.kind in _CONNECTION_FAULTS


def _is_page(exchange: Exchange) -> bool:
    """Tell an answered web page, which no second try turns into an API."""
    return exchange.status == 200 and is_html(exchange)


def is_html(exchange: Exchange) -> bool:
    """Tell HTML by its first bytes, or by its type where the body is not JSON all the same."""
    kind = dict(exchange.headers).get("content-type", "").lower()
    start = exchange.body[:200].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return True
    return "text/html" in kind and not start.startswith((b"{", b"["))


def listing_problem(exchange: Exchange) -> Problem | None:
    """Judge an answer that is no chat completion by status and fault alone."""
    fault, status = exchange.fault, exchange.status
    if fault is not None:
        again = fault.kind not in {FaultKind.REDIRECT, FaultKind.TOO_LARGE}
        return Problem(ProblemKind.TRANSPORT, Cause.AVAILABILITY, fault.message, retry=again)
    if status == 429:
        return Problem(ProblemKind.RATE_LIMITED, Cause.AVAILABILITY, "status 429", retry=True)
    if status is not None and status >= 500:
        message = f"status {status}"
        again = status != 501  # "not implemented" stays so
        return Problem(ProblemKind.SERVER_ERROR, Cause.AVAILABILITY, message, retry=again)
    return None
