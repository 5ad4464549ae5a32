"""What metrics count over all runs of a stage, without reading a run twice."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Protocol

from denv.records import Json

SPENT = (
    ("stage", "prompt"),
    ("stage", "completion"),
    ("reference", "prompt"),
    ("reference", "completion"),
)
"""Whose tokens are counted, and which, in the order of :attr:`EndedRun.spent`."""

_MOST = 2**63 - 1
"""Databases hold no larger number; a server that says one is not believed."""


class EndedRun(NamedTuple):
    """A run that has ended; one that is gone on with ends again, and then later.

    A tuple, as there are very many. Tokens are None where a server told none.
    """

    run: str
    stage: str
    verdict: str
    finished: float
    stage_prompt: int | None
    stage_completion: int | None
    reference_prompt: int | None
    reference_completion: int | None

    @property
    def end(self) -> tuple[str, float]:
        """What tells this end from another one of the same run."""
        return self.verdict, self.finished

    @property
    def spent(self) -> tuple[int | None, ...]:
        """The tokens as :data:`SPENT` names them."""
        return (
            self.stage_prompt,
            self.stage_completion,
            self.reference_prompt,
            self.reference_completion,
        )


def spent_of(head: Mapping[str, Any]) -> tuple[int | None, ...]:
    """Give the tokens that a report's head counts, as :data:`SPENT` names them."""
    found = []
    for side, what in SPENT:
        count = ((head.get(side) or {}).get("usage") or {}).get(f"{what}_tokens")
        found.append(count if isinstance(count, int) and 0 <= count <= _MOST else None)
    return tuple(found)


class Figures(Protocol):
    """Runs that have ended, in short and at length."""

    def ended(self, stages: Collection[str], *, since: float = 0.0) -> list[EndedRun]:
        """Give the runs of some stages that have ended since then, in the order of their ends."""

    def heads(self, runs: Collection[str]) -> Mapping[str, Mapping[str, Json]]:
        """Give the reports' heads of some runs by their ids."""
