"""The two sides of a run: their clients, what was learned of each, and which must be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from denv.client import AiohttpTransport, EndpointClient, Preflight, Unreachable, preflight
from denv.errors import ResumeError, UsageError
from denv.observe import observe
from denv.records import Dialect, Endpoint, Side
from denv.runner.notes import dialect_from_note, dialect_note


class Sides:
    """Both endpoints of one run.

    ``notes`` is what the run's row keeps of its sides and is changed here alone; ``on_note`` is
    called when it changes in the middle of a run. ``down`` says why a side gave no answer at
    all, and ``rate_limited`` where that was rate limits alone. Offline there are no clients.
    """

    def __init__(
        self,
        endpoints: Mapping[Side, Endpoint],
        *,
        notes: dict[str, Any],
        offline: bool,
        on_note: Callable[[], None],
    ) -> None:
        self.endpoints = endpoints
        self.notes = notes
        self.down: dict[Side, str] = {}
        self.rate_limited: set[Side] = set()
        self._on_note = on_note
        self._clients: dict[Side, EndpointClient] = {}
        for side, endpoint in endpoints.items():
            notes.setdefault(side.value, {})
            if endpoint.model is not None:
                notes[side.value]["model"] = endpoint.model
            if not offline:
                self._clients[side] = self._make_client(side, endpoint)

    def _make_client(self, side: Side, endpoint: Endpoint) -> EndpointClient:
        def note(dialect: Dialect) -> None:
            self.notes[side.value]["dialect"] = dialect_note(dialect)
            self._on_note()

        client = EndpointClient(
            replace(endpoint, name=endpoint.name or side.value),
            transport=AiohttpTransport(
                endpoint.url, concurrency=endpoint.concurrency, ca_file=endpoint.ca_file
            ),
            observe=observe,
            on_dialect=note,
        )
        client.dialect = dialect_from_note(self.notes[side.value].get("dialect"))
        return client

    def client(self, side: Side) -> EndpointClient | None:
        """Give a side's client, None offline."""
        return self._clients.get(side)

    def model(self, side: Side) -> str:
        """Give the model that a side is asked for.

        Raises
        ------
        UsageError
            Nobody has named one, and the side was not asked which it serves.
        """
        model: str | None = self.notes[side.value].get("model")
        if model is None:
            raise UsageError(f"the {side}'s model is not known: name it with --{side}-model")
        return model

    def knows_model(self, side: Side) -> bool:
        """Tell whether requests to a side can be written already."""
        return self.notes[side.value].get("model") is not None

    def sampled(self) -> frozenset[Side]:
        """Give the sides that sample although temperature 0 is asked for."""
        return frozenset(
            side
            for side, endpoint in self.endpoints.items()
            if endpoint.sampled
            or self.sampled_at(side) is not None
            or "temperature" in self._dialect(side).dropped
        )

    def sampled_at(self, side: Side) -> float | None:
        """Give the temperature that a side says it samples at, None where it says none."""
        said: float | None = self.notes[side.value].get("sampled_at")
        return said

    def _dialect(self, side: Side) -> Dialect:
        client = self._clients.get(side)
        if client is not None:
            return client.dialect
        return dialect_from_note(self.notes[side.value].get("dialect"))

    async def preflight(self, sides: Iterable[Side]) -> None:
        """Ask each of these sides one small question, at the same time.

        Raises
        ------
        EndpointError
            A side is not what its URL, key or model say.
        """
        asked = list(sides)
        tasks = [asyncio.ensure_future(preflight(self._clients[side])) for side in asked]
        try:
            found = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for side, outcome in zip(asked, found, strict=True):
            self._note_preflight(side, outcome)

    def _note_preflight(self, side: Side, outcome: Preflight | Unreachable) -> None:
        if isinstance(outcome, Unreachable):
            self.down[side] = outcome.reason
            if outcome.rate_limited:
                self.rate_limited.add(side)
            return
        known = self.notes[side.value].get("model")
        if known is not None and outcome.model != known:
            raise ResumeError(
                f"the {side} served the model {known!r} and now serves {outcome.model!r}: "
                "answers of both are not one run"
            )
        self.notes[side.value] = {
            "model": outcome.model,
            "served_models": list(outcome.served_models),
            "engine": outcome.engine or outcome.server,
            "warning": outcome.warning,
            "dialect": dialect_note(outcome.dialect),
            "sampled_at": outcome.sampled_at,
        }

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.close()
