"""The receiver of the weights table: signed requests, and its answers as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

from denv.alarms.signature import signed_headers
from denv.client import AiohttpTransport, HttpCall, Masker, read_key_env
from denv.records import Exchange, Timeouts
from denv.release import Webhook
from denv.rollout.weights import Table, WeightsError

_MAX_BYTES = 16 * 1024 * 1024


class WeightsHook:
    """Speaks to one webhook, each request signed; what it says in a body is never shown.

    Raises
    ------
    UsageError
        The secret or a header's value cannot be read from the environment, or is none.
    """

    def __init__(self, webhook: Webhook, *, clock: Callable[[], float]) -> None:
        self.url = webhook.url
        self.timeout_s = webhook.timeout
        self._clock = clock
        self._secret = read_key_env(webhook.secret_env)
        headers = {name: read_key_env(env) for name, env in webhook.headers_env.items()}
        self._headers: Mapping[str, str] = {n: value.reveal() for n, value in headers.items()}
        self._masker = Masker([self._secret, *headers.values()])
        self._transport = AiohttpTransport(concurrency=1)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._transport.close()

    async def post(self, table: Table) -> str | None:
        """Send a table; gives why it was not taken, None where it was."""
        exchange = await self._send("POST", table.to_json(), message=f"weights_{table.version}")
        if exchange.fault is None and exchange.status in {200, 201, 202, 204}:
            return None
        return self._what(exchange)

    async def get(self) -> Table | str | None:
        """Give the table that the receiver holds, None where it holds none, or what is wrong."""
        exchange = await self._send("GET", b"", message="weights_read")
        if exchange.fault is None and exchange.status in {204, 404}:
            return None
        if exchange.fault is not None or exchange.status != 200:
            return f"{self.url}: reading back: {self._what(exchange)}"
        try:
            return Table.from_json(exchange.body)
        except WeightsError as error:
            return f"{self.url}: reading back: {error}"

    async def _send(self, method: str, body: bytes, *, message: str) -> Exchange:
        headers = {
            **self._headers,
            "Accept": "application/json",
            **signed_headers(self._secret, message=message, sent=self._clock(), body=body),
        }
        if body:
            headers["Content-Type"] = "application/json"
        limit = self.timeout_s
        timeouts = Timeouts(connect_s=limit, first_byte_s=limit, total_s=limit)
        call = HttpCall(
            method, self.url, headers=headers, body=body, timeouts=timeouts, max_bytes=_MAX_BYTES
        )
        return self._masker.exchange(await self._transport.send(call))

    def _what(self, exchange: Exchange) -> str:
        if exchange.fault is not None:
            return exchange.fault.message
        if exchange.status == 409:
            return "status 409: the receiver holds a newer table"
        return f"status {exchange.status}"
