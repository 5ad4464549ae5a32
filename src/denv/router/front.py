"""What becomes of one request, from its head to the end of its answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from denv import permits
from denv.incoming import BodyError, receive
from denv.router.asking import Asking
from denv.router.blanks import Blanks
from denv.router.clients import Clients
from denv.router.clock import Clock, Clocks
from denv.router.course import Course
from denv.router.fleet import Fleet
from denv.router.forward import UpstreamError
from denv.router.log import say, warn
from denv.router.metrics import Metrics
from denv.router.queue import Places
from denv.router.rebuild import Rebuilt, rebuild
from denv.router.refusals import RefusedError
from denv.router.replies import PassedOn, refusal
from denv.router.routes import CHAT, find, form_of, path_of
from denv.router.settings import Waits
from denv.router.shapes import Shapes
from denv.router.tracing import Tracer

LARGE_BODY = 256 * 1024
"""A body of so many bytes is read and written in a thread."""

LARGE_AT_ONCE = 2
"""More threads would only take turns, and leave fewer of them to all other requests."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a front works with; each is the same for all requests."""

    clients: Clients
    asking: Asking
    fleet: Fleet
    places: Places
    metrics: Metrics
    waits: Waits
    clocks: Clocks
    most_body: int
    drop: Collection[str]
    shapes: Shapes
    blanks: Blanks
    permit_secret: bytes | None = None
    tracer: Tracer | None = None
    unix_time: Callable[[], float] = time.time


class Front:
    """Answers the requests of the listener."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._loop = asyncio.get_running_loop()
        self._aside = ThreadPoolExecutor(LARGE_AT_ONCE, thread_name_prefix="large-bodies")
        self.in_flight = 0

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; what goes wrong is said in the caller's form."""
        course = Course(self._loop.time())
        self.in_flight += 1
        try:
            response = await self._in_time(request, course)
        except RefusedError as refused:
            response = self._refusal(request, course, refused)
        except (asyncio.CancelledError, ConnectionError):
            course.cut = "client"
            raise
        except Exception as error:  # noqa: BLE001 - its text may quote the request
            warn("internal-error", error=type(error).__name__, at=_place_of(error))
            failed = RefusedError(500, "internal_error", "the router failed")
            response = self._refusal(request, course, failed)
        finally:
            self.in_flight -= 1
            self._ended(course)
        return response

    def unreadable(self, request: web.BaseRequest, status: int) -> web.Response:
        """Refuse what came in the place of a request, and end the connection."""
        refused = RefusedError(status, "bad_request", "that is no request of HTTP")
        if status == 408:
            what = "the head of the request did not come in time"
            refused = RefusedError(status, "head_timeout", what)
        if status >= 500:
            refused = RefusedError(status, "internal_error", "the router failed")
        response = self._refusal(request, Course(self._loop.time()), refused)
        response.force_close()
        return response

    async def _in_time(self, request: web.BaseRequest, course: Course) -> web.StreamResponse:
        waits = self._parts.waits
        clock = Clock(self._parts.clocks, body_s=waits.body, total_s=waits.total)
        passed = PassedOn(request, course, idle_s=waits.idle, blanks=self._parts.blanks)
        try:
            with clock:
                rebuilt = await self._rebuilt(request, course, clock)
                answer = await self._parts.asking.ask(rebuilt, course, clock)
                return await passed.whole(answer, clock)
        except UpstreamError as error:
            raise self._parts.asking.broke(error, course) from error
        except TimeoutError:
            if passed.begun:
                return passed.cut_off(clock.phase)
            raise clock.refused() from None

    async def _rebuilt(self, request: web.BaseRequest, course: Course, clock: Clock) -> Rebuilt:
        parts = self._parts
        course.route, below = find(request.method, path_of(request.raw_path))
        client = parts.clients.find(request.headers)
        course.permit = self._permit(request)
        course.client = client
        client.enter(self._loop.time())
        course.entered = True
        body = b""
        if course.route.method == "POST":
            body = await self._body(request, course, clock)
        # The table of traffic's shapes is to be that of customers, not of what is drawn from it.
        counted = course.permit is None and course.route is CHAT
        made = partial(
            rebuild,
            course.route,
            body,
            below=below,
            request_id=course.request_id,
            drop=parts.drop,
            see=parts.shapes.add if counted else None,
        )
        # Millions of numbers take seconds, in which all others would wait.
        if len(body) < LARGE_BODY:
            return made()
        return await self._loop.run_in_executor(self._aside, made)

    async def _body(self, request: web.BaseRequest, course: Course, clock: Clock) -> bytes:
        began = self._loop.time()
        try:
            body = await receive(request, most=self._parts.most_body)
            course.waited_s = self._loop.time() - began
            clock.work()  # what follows is the router's own time, not the caller's
            return await body.plain()
        except BodyError as error:
            raise RefusedError(error.status, error.code, str(error)) from None

    def _permit(self, request: web.BaseRequest) -> permits.Permit | None:
        """Read the permit of a request that has one; a bad one is never just passed over."""
        token = request.headers.get(permits.HEADER)
        if token is None:
            return None
        if self._parts.permit_secret is None:
            raise RefusedError(403, "permit_refused", "this router takes no permits")
        try:
            permit = permits.check(self._parts.permit_secret, token, now=self._parts.unix_time())
        except permits.PermitError as error:
            raise RefusedError(403, "permit_refused", str(error)) from None
        if self._parts.fleet.named(permit.replica) is None:
            raise RefusedError(403, "permit_refused", "the permit's replica is not in the table")
        return permit

    def _refusal(
        self, request: web.BaseRequest, course: Course, refused: RefusedError
    ) -> web.Response:
        course.status = refused.status
        client = "" if course.client is None else course.client.name
        self._parts.metrics.refused.add(refused.code, client)
        form = form_of(path_of(request.raw_path))
        return refusal(refused, form=form, request_id=course.request_id)

    def _ended(self, course: Course) -> None:
        """Give back what the request had, and note what became of it."""
        parts = self._parts
        if course.entered and course.client is not None:
            course.client.leave()
        if course.replica is not None:
            parts.places.give_back(course.replica)
        if course.cut is not None:
            parts.metrics.cut.add(course.cut)
        took = self._loop.time() - course.began
        parts.metrics.took.add(took, course.route_name)
        code = f"{course.status // 100}xx"
        parts.metrics.requests.add(course.route_name, course.replica_name, code)
        if course.permit is not None and course.replica is not None:
            parts.metrics.permitted.add(course.replica.name)
            say(
                "permitted",
                nonce=course.permit.nonce,
                replica=course.replica.name,
                request_id=course.request_id,
                status=course.status,
                cut=course.cut,
            )
        if parts.tracer is not None:
            parts.tracer.ended(course, took_s=took)


def _place_of(error: BaseException) -> str:
    """Give file and line of where an error was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?"
    return f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
