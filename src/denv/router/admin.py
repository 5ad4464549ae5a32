"""The admin listener: health, metrics and the weights table; never on the clients' listener."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from denv.alarms.signature import signed_headers
from denv.records import Secret
from denv.rollout.weights import Table, WeightsError
from denv.router.fleet import Fleet
from denv.router.log import warn
from denv.router.metrics import Metrics
from denv.router.shapes import Shapes
from denv.router.tables import MAX_BYTES, Tables, Taken, read_table

MOST_AGE_S = 300.0


@dataclass(frozen=True, slots=True)
class Admin:
    """What the listener answers from."""

    tables: Tables
    fleet: Fleet
    metrics: Metrics
    shapes: Shapes
    secret: Secret | None
    draining: Callable[[], bool]
    unix_time: Callable[[], float]

    def app(self) -> web.Application:
        """Build the application."""
        app = web.Application(client_max_size=MAX_BYTES)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/shapes", self._shapes)
        app.router.add_get("/weights", self._read)
        app.router.add_post("/weights", self._take)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        """Tell whether requests can be answered; 503 also once the router is ending."""
        well = self.fleet.could() and not self.draining()
        table = self.tables.table
        body: dict[str, Any] = {
            "status": "draining" if self.draining() else "ok" if well else "failing",
            "table": None if table is None else table.version,
            "table_fault": self.tables.fault,
            "replicas": [
                {
                    "name": replica.name,
                    "healthy": replica.healthy,
                    "weight": replica.weight,
                    "in_flight": replica.in_flight,
                }
                for replica in self.fleet.replicas
            ],
        }
        return web.json_response(body, status=200 if well else 503)

    async def _metrics(self, _: web.Request) -> web.Response:
        text = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        return web.Response(body=self.metrics.text(), headers=text)

    async def _shapes(self, _: web.Request) -> web.Response:
        return web.Response(body=self.shapes.to_json(), content_type="application/json")

    async def _read(self, _: web.Request) -> web.Response:
        table = self.tables.table
        if table is None:
            return web.Response(status=404)
        return web.Response(body=table.to_json(), content_type="application/json")

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.read()
        if self.secret is None:
            return _no(403, "this router takes no table by post: set weights-secret")
        if not self._is_signed(request, body, self.secret):
            return _no(401, "the signature is missing, wrong, or too old")
        try:
            table = read_table(body)
            self._same_stage(table)
            taken = self.tables.offer(table)
        except WeightsError as error:
            self.metrics.table_faults.add()
            return _no(422, str(error))
        if taken in {Taken.OLDER, Taken.OTHER}:
            return _no(409, "another table of this version or a higher one is in use")
        try:
            self.tables.keep(table)
        except OSError as error:
            warn("table-not-kept", file=str(self.tables.file), why=error.strerror)
        return web.json_response({"version": table.version, "taken": str(taken)})

    def _same_stage(self, table: Table) -> None:
        """Refuse what another stage's rollout posts here; the file is its owner's to change."""
        used = self.tables.table
        if used is not None and used.stage != table.stage:
            raise WeightsError("the table is of another stage than the one in use")

    def _is_signed(self, request: web.Request, body: bytes, secret: Secret) -> bool:
        """Check a signature by making it again; one of several that are sent must be right."""
        message = request.headers.get("webhook-id", "")
        sent = request.headers.get("webhook-timestamp", "")
        given = request.headers.get("webhook-signature", "")
        if not message or not f"{message}{sent}{given}".isascii():
            return False
        if not sent.isdigit() or len(sent) > 12:
            return False
        if abs(self.unix_time() - int(sent)) > MOST_AGE_S:
            return False
        made = signed_headers(secret, message=message, sent=int(sent), body=body)
        right = made["webhook-signature"].encode()
        found = [hmac.compare_digest(one.encode(), right) for one in given.split(" ")]
        return any(found)


def unreadable(_: web.BaseRequest, status: int) -> web.Response:
    """Refuse what came in the place of a request, and end the connection."""
    response = _no(status, "internal error" if status >= 500 else "no request of HTTP came in time")
    response.force_close()
    return response


def _no(status: int, why: str) -> web.Response:
    return web.json_response({"reason": why}, status=status)
