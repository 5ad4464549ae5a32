"""Which replicas may be asked: checked now and then, and taken out when connections fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from denv.router.course import new_request_id
from denv.router.fleet import Fleet, Replica
from denv.router.forward import Forwarder, UpstreamError
from denv.router.log import say, warn
from denv.router.metrics import Metrics
from denv.router.rebuild import Rebuilt
from denv.router.routes import MODELS
from denv.router.settings import Checks

MOST_BYTES = 1024 * 1024
"""Of the answer to a check no more is read; its connection is then closed."""


@dataclass(slots=True)
class Health:
    """Ejects replicas and takes them back; ``changed`` is told of each."""

    checks: Checks
    fleet: Fleet
    forwarder: Forwarder
    metrics: Metrics
    changed: Callable[[], None]

    async def watch(self) -> None:
        """Check all replicas for ever, all at once and then not for a while."""
        while True:
            await asyncio.gather(*map(self._check, self.fleet.replicas))
            await asyncio.sleep(self.checks.every)

    def connection_failed(self, replica: Replica) -> None:
        """Note a connection of a request that failed."""
        replica.failed += 1
        if replica.healthy and replica.failed >= self.checks.failures:
            self._eject(replica, by="requests")

    def answered(self, replica: Replica) -> None:
        """Note that a request was answered, whatever the answer was."""
        if replica.healthy:
            replica.failed = 0

    async def _check(self, replica: Replica) -> None:
        if await self._passes(replica):
            self._passed(replica)
            return
        replica.passed = 0
        replica.failed += 1
        if replica.healthy and replica.failed >= self.checks.failures:
            self._eject(replica, by="checks")

    def _passed(self, replica: Replica) -> None:
        if replica.healthy:
            replica.failed = 0
            return
        replica.passed += 1
        if replica.passed >= self.checks.passes:
            replica.healthy, replica.failed, replica.passed = True, 0, 0
            say("replica-back", replica=replica.name)
            self.changed()

    def _eject(self, replica: Replica, *, by: str) -> None:
        replica.healthy, replica.passed = False, 0
        self.metrics.ejections.add(replica.name, by)
        warn("replica-out", replica=replica.name, by=by)
        if not self.fleet.could():
            warn("no-replica-left", answering=503)
        self.changed()

    async def _passes(self, replica: Replica) -> bool:
        """Ask just as a client's request for the models is forwarded, or for the named path."""
        request = Rebuilt(MODELS, MODELS.name, b"", new_request_id())
        if self.checks.path is not None:
            request = Rebuilt(MODELS, self.checks.path, b"", request.request_id)
        try:
            async with asyncio.timeout(self.checks.timeout):
                answer = await self.forwarder.forward(replica.target, request)
                try:
                    left = MOST_BYTES
                    while left > 0 and (piece := await answer.piece()):
                        left -= len(piece)
                finally:
                    answer.close()
        except (UpstreamError, TimeoutError):
            return False
        return 200 <= answer.status < 300
