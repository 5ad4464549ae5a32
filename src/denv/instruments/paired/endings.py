"""How an answer ended where that decides before its text does: in a loop, or cut off."""

from __future__ import annotations

from denv.checks.degenerate import find_loop
from denv.records import Observation


def loop_in(answer: Observation) -> str:
    """Say that the text ends in a loop, or the reasoning does and no text follows; else ``""``."""
    written = answer.text if answer.text and not answer.text.isspace() else answer.reasoning
    loop = find_loop(written or "")
    return "" if loop is None else f"ends in a loop of {loop.repeats} repeats"


def cut_of(answer: Observation, *, declared: bool, max_tokens: int | None) -> str:
    """Say how a token limit ended the answer, an empty text where none did.

    Finish reason ``length`` cuts whatever stands there, since the last line is not known.
    Where the finish reason is missing, an answer without a declared result that used all of
    ``max_tokens`` was cut.
    """
    if answer.finish_reason == "length":
        return "finish reason length"
    used = None if answer.usage is None else answer.usage.completion_tokens
    silent = answer.finish_reason is None and not declared
    if silent and used is not None and max_tokens is not None and used >= max_tokens:
        return f"no finish reason, and all {max_tokens} tokens used"
    return ""


def without_text(answer: Observation) -> str:
    """Say what an answer has in a text's place."""
    if answer.calls:
        return "no text: a tool call instead"
    if answer.refusal:
        return "no text: a refusal instead"
    return "no text after the reasoning" if answer.reasoning or answer.text else "no text"
