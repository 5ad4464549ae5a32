"""What became of one question on one side."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from denv.checks.text import readable_text
from denv.instruments.answers.confidence import Confidence, measure_confidence
from denv.instruments.answers.extract import Absent, Extracted, Given, Unsure, extract_answer
from denv.instruments.paired.endings import cut_of, loop_in, without_text
from denv.instruments.paired.traces import Trace, trace_of
from denv.records import Observation


class State(StrEnum):
    """What became of it. Truncated and unusable leave open what the answer would have been."""

    RIGHT = "right"
    WRONG = "wrong"
    UNSURE = "unsure"
    ABSENT = "absent"
    DEGENERATE = "degenerate"
    TRUNCATED = "truncated"
    UNUSABLE = "unusable"


OPEN = frozenset({State.TRUNCATED, State.UNUSABLE})


@dataclass(frozen=True, slots=True)
class Reading:
    """The state, the integer that was given, how sure the model was, and a line that says more.

    ``value`` is None where none was given, and for a number that is no integer or too long.
    ``trace`` says how much was written ahead of the answer, None where none came.
    """

    state: State
    value: int | None = None
    confidence: Confidence | None = None
    reason: str = ""
    trace: Trace | None = None

    @property
    def answered(self) -> bool:
        """Whether an integer was given, right or wrong."""
        return self.state in {State.RIGHT, State.WRONG}

    @property
    def right(self) -> bool:
        """Whether the integer is the truth."""
        return self.state is State.RIGHT

    @property
    def resolved(self) -> bool:
        """Whether it is known what the model answers."""
        return self.state not in OPEN

    @property
    def usable(self) -> bool:
        """Whether the server gave an answer at all."""
        return self.state is not State.UNUSABLE

    @property
    def degenerate(self) -> bool:
        """Whether the answer ends in a loop."""
        return self.state is State.DEGENERATE


NOT_ASKED = Reading(State.UNUSABLE, reason="not asked")


def read_answer(
    truth: int, answer: Observation | None, *, max_tokens: int | None = None
) -> Reading:
    """Read one side's answer to a question.

    The first of these that holds decides:

    1. no observation, or one without a usable answer: ``unusable``;
    2. the text ends in a loop, or the reasoning does and no text follows: ``degenerate``, ahead
       of truncation, which a loop always runs into;
    3. finish reason ``length``: ``truncated``, whatever stands there, since the last line is not
       known; likewise where the finish reason is missing, no answer stands there and all of
       ``max_tokens`` was used;
    4. the answer line decides: ``right``, ``wrong``, ``unsure``, ``absent``.
    """
    if answer is None:
        return NOT_ASKED
    if answer.problem is not None:
        return Reading(State.UNUSABLE, reason=answer.problem.message)
    text = readable_text(answer)
    found = Absent(without_text(answer)) if text is None else extract_answer(text)
    trace = trace_of(answer, answer_at=_place(found, text or ""))
    loop = loop_in(answer)
    if loop:
        return Reading(State.DEGENERATE, reason=loop, trace=trace)
    cut = cut_of(answer, declared=not isinstance(found, Absent), max_tokens=max_tokens)
    if cut:
        return Reading(State.TRUNCATED, reason=cut, trace=trace)
    return _answered(truth, answer, found, trace)


def _answered(truth: int, answer: Observation, found: Extracted, trace: Trace) -> Reading:
    match found:
        case Absent():
            return Reading(State.ABSENT, reason=found.reason, trace=trace)
        case Unsure():
            return Reading(State.UNSURE, trace=trace)
        case Given():
            state = State.RIGHT if found.value == truth else State.WRONG
            sure = measure_confidence(answer, found)
            reason = "no integer, or too long" if found.value is None else ""
            return Reading(state, found.value, sure, reason, trace)


def _place(found: Extracted, text: str) -> int | None:
    """Give where the declared answer begins; being unsure is said on the last line."""
    match found:
        case Absent():
            return None
        case Unsure():
            return len(text.rstrip())
        case Given():
            return found.start
