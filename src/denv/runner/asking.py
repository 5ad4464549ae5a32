"""One side of a run: an answer comes from the journal, from the cache, or from the endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from denv.client import EndpointClient
from denv.encode import answer_key, answer_scope, encode
from denv.evidence.steadiness import ALONE, condition
from denv.observe import observe
from denv.outcome import Answer
from denv.records import Case, Dialect, Endpoint, Exchange, Observation, Request, Side
from denv.runner.journal import Journal
from denv.store import AnswerKey, StoredAnswer

PLAIN = Dialect()


@dataclass(frozen=True, slots=True)
class Known:
    """Answers that need not be asked: this run's own, and those of earlier runs by their hash.

    Earlier answers are kept apart for each side: where both are one endpoint, what may serve
    the reference must not serve the stage.
    """

    journaled: Mapping[AnswerKey, StoredAnswer]
    cached: Mapping[tuple[Side, bytes], StoredAnswer]


class Asker:
    """Gives the answers of one side.

    The client's slot is held until the answer is journaled, so that a kill repeats at most as
    many requests as there are slots.
    """

    def __init__(
        self,
        side: Side,
        endpoint: Endpoint,
        *,
        model: str,
        max_tokens: int,
        client: EndpointClient | None,
        journal: Journal,
        clock: Callable[[], float],
    ) -> None:
        self.side = side
        self.endpoint = endpoint
        self.model = model
        self._scope = answer_scope(endpoint, model=model)
        self._max_tokens = max_tokens
        self._client = client
        self._journal = journal
        self._clock = clock

    def hold_back(self) -> None:
        """Ask nothing more: what would be asked waits until it is cancelled."""
        if self._client is not None:
            self._client.hold_back()

    async def landed(self) -> None:
        """Wait until all that was asked is answered and journaled."""
        if self._client is not None:
            await self._client.landed()

    def request(self, case: Case, *, streamed: bool, dialect: Dialect = PLAIN) -> Request:
        """Write a case as this side is asked it."""
        return encode(
            case,
            self.endpoint,
            model=self.model,
            max_tokens=self._max_tokens,
            dialect=dialect,
            stream=streamed,
        )

    def plain_key(self, case: Case, *, repeat: int, streamed: bool) -> bytes:
        """Hash what decides an answer, from the request as it is in the plain dialect."""
        return self._cache_key(self.request(case, streamed=streamed), repeat)

    def _cache_key(self, plain: Request, repeat: int) -> bytes:
        return answer_key(self._scope, plain, repeat)

    async def answer(self, case: Case, *, repeat: int, streamed: bool, known: Known) -> Answer:
        """Give one answer, asking only where none is known."""
        key = AnswerKey(case.index, self.side, repeat, streamed)
        stored = known.journaled.get(key)
        if stored is not None:
            return Answer(observe(stored.exchange), stored.max_tokens)
        plain = self.request(case, streamed=streamed)
        cache_key = self._cache_key(plain, repeat)
        stored = known.cached.get((self.side, cache_key))
        if stored is not None:
            return Answer(observe(stored.exchange), stored.max_tokens, cached=True)
        return await self._ask(case, key=key, plain=plain, cache_key=cache_key)

    async def _ask(self, case: Case, *, key: AnswerKey, plain: Request, cache_key: bytes) -> Answer:
        if self._client is None:
            raise RuntimeError(f"{self.side} was to be offline, yet {case.id!r} is not known")

        def build(dialect: Dialect) -> Request:
            if dialect == PLAIN:
                return plain
            return self.request(case, streamed=key.streamed, dialect=dialect)

        async def keep(exchange: Exchange, observation: Observation, request: Request) -> None:
            await self._journal.append(
                StoredAnswer(
                    key=key,
                    exchange=exchange,
                    max_tokens=request.max_tokens,
                    answered=self._clock(),
                    cache_key=cache_key if observation.problem is None else None,
                )
            )

        alone = condition(key.repeat) == ALONE
        _, observation, request = await self._client.ask(
            build, keep=keep, alone=alone, index=case.index
        )
        return Answer(observation, request.max_tokens)
