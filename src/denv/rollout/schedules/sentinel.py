"""Between full runs: a look that takes a minute at most, and asks for a full run where it must."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from denv.errors import HarnessError, SelfCheckError, StoreError, UsageError
from denv.records import Endpoint, Json, Side
from denv.rollout.plan import Plan
from denv.rollout.schedules.glance import CALM, ESCALATE, Glance, Memory
from denv.runner.measuring import run_measure
from denv.store import Store

MOST_SECONDS = 60.0
MOST_TOKENS = 2000
"""What each side may write for one look."""

WITHOUT_GOLDEN = 4
"""Cases of the suite that are asked where there are no golden prompts."""

RETRIES = 1


@dataclass(frozen=True, slots=True)
class Sentinel:
    """What a look found: ``why`` names what a full run is to find out, and is empty when calm.

    ``memory`` is what the next look is held against.
    """

    why: tuple[str, ...]
    memory: Mapping[str, Memory]
    measure: str | None = None
    document: Mapping[str, Json] = field(default_factory=dict)

    @property
    def calm(self) -> bool:
        """Whether nothing asks for a full run."""
        return not self.why

    @property
    def verdict(self) -> str:
        """The word for it."""
        return CALM if self.calm else ESCALATE


def glance_of(plan: Plan, *, memory: Mapping[str, Memory], tokens: int = MOST_TOKENS) -> Glance:
    """Choose what is asked: the golden prompts, or the first cases of the suite.

    Raises
    ------
    UsageError
        Not one of them fits into the tokens.
    """
    kept = plan.golden or plan.suite
    cases = tuple(islice(kept.load(), None if plan.golden else WITHOUT_GOLDEN))
    glance = Glance(cases, golden=plan.golden is not None, tokens=tokens, memory=memory)
    if not replace(glance, memory={}).asked:
        raise UsageError(
            f"a sentinel may write {tokens} tokens, and the first case of {kept.name} alone may "
            "take more than half of that: lower its max_tokens, or raise --sentinel-tokens"
        )
    return glance


async def run_sentinel(
    plan: Plan,
    *,
    memory: Mapping[str, Memory],
    store: Store,
    tokens: int = MOST_TOKENS,
    within_s: float = MOST_SECONDS,
    stop: asyncio.Event | None = None,
) -> Sentinel:
    """Look at both sides.

    A side that cannot be reached or will not be asked, and a look that takes too long, ask for a
    full run.

    Raises
    ------
    UsageError
        What is to be asked cannot be asked as it is written.
    RunCancelledError
        ``stop`` was set.
    """
    glance = glance_of(plan, memory=memory, tokens=tokens)
    try:
        async with asyncio.timeout(within_s):
            measured = await run_measure(
                glance,
                stage=_hasty(plan.stage.endpoint(name=Side.STAGE.value), within_s),
                reference=_hasty(plan.reference.endpoint(name=Side.REFERENCE.value), within_s),
                store=store,
                stop=stop,
            )
    except TimeoutError:
        return Sentinel((f"the look was not done within {within_s:g} s",), memory)
    except (SelfCheckError, StoreError):
        raise  # nothing of a side
    except (HarnessError, UsageError) as error:  # a key that is refused or missing, too
        return Sentinel(tuple(str(error).split("\n")), memory)
    document = measured.document
    return Sentinel(
        why=tuple(document["why"]),
        memory=document["memory"],
        measure=measured.measure,
        document={"sides": document["seen"], "spent": document["spent"]},
    )


def _hasty(endpoint: Endpoint, within_s: float) -> Endpoint:
    limits = replace(
        endpoint.timeouts,
        connect_s=min(endpoint.timeouts.connect_s, within_s),
        first_byte_s=within_s,
        total_s=within_s,
    )
    return replace(endpoint, retries=RETRIES, timeouts=limits)
