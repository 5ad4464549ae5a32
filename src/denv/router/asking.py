"""From a rebuilt request to the head of a replica's answer: a place, sending, and retries.

What is sent again is sent before any byte of an answer has come to the caller, under a new id:
after a connection that failed, and after the statuses that the settings name.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from denv.router.clock import Clock, Phase
from denv.router.course import Course, new_request_id
from denv.router.fleet import Fleet, Replica
from denv.router.forward import Answer, Forwarder, UpstreamError
from denv.router.health import Health
from denv.router.metrics import Metrics
from denv.router.queue import Places
from denv.router.rebuild import Rebuilt
from denv.router.refusals import RefusedError
from denv.router.settings import RouterSettings

_GONE = "the replica could not be reached, or closed the connection without an answer"
_SENSELESS = "what the replica answered is not HTTP that can be passed on"
"""No more is said: which replica it was, and what it wrote, is nobody's business."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks replicas; the same one for all requests."""

    settings: RouterSettings
    fleet: Fleet
    places: Places
    forwarder: Forwarder
    health: Health
    metrics: Metrics

    async def ask(self, request: Rebuilt, course: Course, clock: Clock) -> Answer:
        """Give the head of an answer; ``course.replica`` then holds the place of who answers.

        Raises
        ------
        RefusedError
            502 where no answer came, 503 where there is no replica to ask.
        """
        only = None if course.permit is None else course.permit.replica
        tried: tuple[Replica, ...] = ()
        while True:
            replica = await self._place(course, clock, only=only, avoid=tried)
            course.attempts += 1
            tried = (*tried, replica)
            try:
                answer = await self._sent(replica, request, course, clock)
            except UpstreamError as error:
                if not error.is_connection or not self._may_retry(course, only, tried):
                    raise refused(error) from error
                why = str(error.failure)
            else:
                wanted = answer.status in self.settings.retries.statuses
                if not wanted or not self._may_retry(course, only, tried):
                    return answer
                why = str(answer.status)
                answer.close()
            self.metrics.retries.add(replica.name, why)
            course.replica = None
            self.places.give_back(replica)
            course.request_id = new_request_id()
            request = replace(request, request_id=course.request_id)

    def broke(self, error: UpstreamError, course: Course) -> RefusedError:
        """Give what a caller is told of a body that failed before any of it was passed on."""
        if course.replica is not None and not error.is_connection:
            self.metrics.senseless.add(course.replica.name)
        return refused(error)

    def _may_retry(self, course: Course, only: str | None, tried: tuple[Replica, ...]) -> bool:
        # What failed at a replica is sent elsewhere: no replica sees a request twice. One that is
        # permitted to a single replica has no elsewhere, and must not be seen twice either.
        left = only is None and course.attempts < self.settings.retries.attempts
        return left and self.fleet.could(avoid=tried)

    async def _place(
        self, course: Course, clock: Clock, *, only: str | None, avoid: tuple[Replica, ...]
    ) -> Replica:
        replica = self.places.at_once(only=only, avoid=avoid)
        if replica is None:
            loop = asyncio.get_running_loop()
            clock.begin(Phase.QUEUE, self.settings.limits.queue_timeout)
            came = loop.time()
            try:
                replica = await self.places.wait(only=only, avoid=avoid)
            finally:
                waited = loop.time() - came
                course.waited_s += waited
                self.metrics.queued.add(waited)
        course.replica = replica
        return replica

    async def _sent(
        self, replica: Replica, request: Rebuilt, course: Course, clock: Clock
    ) -> Answer:
        clock.begin(Phase.FIRST_BYTE, self.settings.timeouts.first_byte)
        loop = asyncio.get_running_loop()
        sent = loop.time()
        if course.attempts == 1:
            self.metrics.added.add(sent - course.began - course.waited_s)
        try:
            answer = await self.forwarder.forward(replica.target, request)
        except UpstreamError as error:
            if error.is_connection:
                self.health.connection_failed(replica)
            else:
                self.metrics.senseless.add(replica.name)
            raise
        self.health.answered(replica)
        self.metrics.first_byte.add(loop.time() - sent, replica.name)
        return answer


def refused(error: UpstreamError) -> RefusedError:
    """Give what a caller is told of a replica that failed."""
    if error.is_connection:
        return RefusedError(502, "upstream_failed", _GONE)
    return RefusedError(502, "upstream_senseless", _SENSELESS)
