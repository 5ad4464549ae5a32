"""What became of one derivation on one side: what its text decides, and what the oracle does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from denv.checks.text import readable_text
from denv.instruments.derivations.final import extract_final
from denv.instruments.derivations.scoring import Scored
from denv.instruments.paired.endings import cut_of, loop_in, without_text
from denv.instruments.paired.traces import Trace, trace_of
from denv.records import Observation

SHOWN = 200
"""Code points of an answer and of a reason that are kept to be shown."""

_FINAL = re.compile("final", re.IGNORECASE)


class State(StrEnum):
    """What became of it.

    ``unreadable`` is an answer in no known notation, ``absent`` one without a ``FINAL:`` line:
    neither is wrong, and neither is what was asked for. Undecided, truncated and unusable leave
    open what the answer is.
    """

    RIGHT = "right"
    WRONG = "wrong"
    UNREADABLE = "unreadable"
    ABSENT = "absent"
    DEGENERATE = "degenerate"
    UNDECIDED = "undecided"
    TRUNCATED = "truncated"
    UNUSABLE = "unusable"


OPEN = frozenset({State.UNDECIDED, State.TRUNCATED, State.UNUSABLE})


@dataclass(frozen=True, slots=True)
class Reading:
    """The state, the declared answer, a line that says more, and how much was written first."""

    state: State
    final: str | None = None
    reason: str = ""
    trace: Trace | None = None

    @property
    def right(self) -> bool:
        """Whether the answer equals the truth."""
        return self.state is State.RIGHT

    @property
    def resolved(self) -> bool:
        """Whether it is known what the model answers, and whether that is right."""
        return self.state not in OPEN

    @property
    def usable(self) -> bool:
        """Whether the server gave an answer at all."""
        return self.state is not State.UNUSABLE

    @property
    def degenerate(self) -> bool:
        """Whether the answer ends in a loop."""
        return self.state is State.DEGENERATE


@dataclass(frozen=True, slots=True)
class Declared:
    """An answer that was declared and is for the oracle to judge."""

    final: str
    trace: Trace


def read_derivation(answer: Observation, *, max_tokens: int | None = None) -> Reading | Declared:
    """Read one side's answer as far as no mathematics is needed.

    The first of these that holds decides:

    1. no usable answer: ``unusable``;
    2. the text ends in a loop, or the reasoning does and no text follows: ``degenerate``, ahead
       of truncation, which a loop always runs into;
    3. finish reason ``length``: ``truncated``, whatever stands there; likewise where the finish
       reason is missing, nothing was declared and all of ``max_tokens`` was used;
    4. no ``FINAL:`` line in the text: ``absent``. One in the reasoning alone is none;
    5. else the declared answer is the oracle's.
    """
    if answer.problem is not None:
        return Reading(State.UNUSABLE, reason=shown(answer.problem.message))
    text = readable_text(answer)
    final = extract_final(text)
    trace = trace_of(answer, answer_at=_place(text or "") if final is not None else None)
    loop = loop_in(answer)
    if loop:
        return Reading(State.DEGENERATE, reason=loop, trace=trace)
    cut = cut_of(answer, declared=final is not None, max_tokens=max_tokens)
    if cut:
        return Reading(State.TRUNCATED, reason=cut, trace=trace)
    if final is None:
        reason = "no FINAL line" if text is not None else without_text(answer)
        return Reading(State.ABSENT, reason=reason, trace=trace)
    return Declared(final, trace)


def judged(declared: Declared, scored: Scored) -> Reading:
    """Join what the oracle found to what was declared."""
    return Reading(
        State(scored.outcome), shown(declared.final), shown(scored.reason), declared.trace
    )


def shown(text: str) -> str:
    """Keep the beginning of a text, without lone surrogates, which no file holds."""
    kept = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return kept.encode("utf-8", "replace").decode("utf-8")


def _place(text: str) -> int | None:
    """Give where the last line that declares an answer has its mark."""
    marks = list(_FINAL.finditer(text))
    return marks[-1].start() if marks else None
