"""Runs ``denv router`` with one difference planted between callers, which the tests must find.

    python -m tests.router.planted header|pool|port|delay OTHER_URL --config F

Only requests of the client named ``parity`` get the difference. ``OTHER_URL`` is what ``port``
sends them to.
"""

from __future__ import annotations

import asyncio
import sys
from contextvars import ContextVar

from denv.cli import run
from denv.router.forward import Answer, Forwarder
from denv.router.front import Front
from denv.router.rebuild import Rebuilt, Target

DELAY_S = 0.005

_is_parity: ContextVar[bool] = ContextVar("is_parity", default=False)
_rebuilt = Front._rebuilt
_forward = Forwarder.forward
_second: list[Forwarder] = []


async def marking(self: Front, request, course, clock) -> Rebuilt:
    made = await _rebuilt(self, request, course, clock)
    _is_parity.set(course.client is not None and course.client.name == "parity")
    return made


class WithHeader:
    """A target whose requests bear one header more."""

    def __init__(self, target: Target) -> None:
        self.url, self._target = target.url, target

    def head(self, request: Rebuilt) -> bytes:
        return self._target.head(request)[:-2] + b"X-Parity: 1\r\n\r\n"


def planted(what: str, other_url: str):
    async def forward(self: Forwarder, target: Target, request: Rebuilt) -> Answer:
        if not _is_parity.get():
            return await _forward(self, target, request)
        match what:
            case "header":
                return await _forward(self, WithHeader(target), request)  # type: ignore[arg-type]
            case "port":
                other = Target(other_url, user_agent="denv-router", credential=None)
                return await _forward(self, other, request)
            case "pool":
                if not _second:
                    _second.append(Forwarder(connect_s=5.0))
                return await _forward(_second[0], target, request)
            case "delay":
                await asyncio.sleep(DELAY_S)
                return await _forward(self, target, request)
            case "nothing":
                return await _forward(self, target, request)
        raise ValueError(what)

    return forward


if __name__ == "__main__":
    what, other_url, *rest = sys.argv[1:]
    Front._rebuilt = marking  # type: ignore[method-assign]
    Forwarder.forward = planted(what, other_url)  # type: ignore[method-assign]
    sys.exit(run(["router", *rest]))
