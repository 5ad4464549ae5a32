"""Requests through a router: each with a permit of its own, and its answer's replica checked."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace

from denv.client.masking import Masker
from denv.client.routes import Route
from denv.client.transport import HttpCall, Transport
from denv.errors import EndpointError, HarnessError
from denv.permits import HEADER, REPLICA_HEADER, grant
from denv.records import Exchange, Secret

NONCE_BYTES = 12
MAX_QUOTED = 200


class Permitter:
    """Sends calls with permits that are signed as they leave; ``wall`` gives Unix seconds."""

    def __init__(self, *, wall: Callable[[], float]) -> None:
        self._wall = wall

    async def send(self, call: HttpCall, route: Route, transport: Transport) -> Exchange:
        """Send one call to the route's replica, and give the answer without the permit in it.

        Raises
        ------
        EndpointError
            The router refuses the permit.
        HarnessError
            Another replica answered than the permitted one, or none that is named.
        """
        if route.permits is None or route.replica is None:
            raise HarnessError("a route without a permit's secret was to be permitted")
        permit = grant(
            route.permits.reveal().encode(),
            replica=route.replica,
            now=self._wall(),
            nonce=secrets.token_hex(NONCE_BYTES),
        )
        sent = replace(call, headers={**call.headers, HEADER: permit})
        exchange = Masker((Secret(permit),)).exchange(await transport.send(sent))
        _check_answer(exchange, route)
        return exchange


def _check_answer(exchange: Exchange, route: Route) -> None:
    """Hold the router to the permit; what a replica itself says is left to the run."""
    named = dict(exchange.headers).get(REPLICA_HEADER)
    if named == route.replica or exchange.status is None:
        return
    where = f"the router at {route.base}"
    if named is not None:
        raise HarnessError(
            f"{where} was permitted to ask the replica {route.replica} and answered from "
            f"{named[:80]!r}: no answer of this run can be told to be a replica's"
        )
    if exchange.status == 403:
        said = exchange.body[:MAX_QUOTED].decode("utf-8", "replace")
        raise EndpointError(f"{where} refuses the permit for the replica {route.replica}: {said}")
    if 200 <= exchange.status < 300:
        raise HarnessError(
            f"{where} does not say which replica answered: it takes no permits, or is no router"
        )
