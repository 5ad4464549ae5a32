"""The answer's text compared as it stands: equals and contains.

Nothing is stripped, folded or normalised to decide; the hints beside a failure say what would
have made the texts match. Reasoning is never read. Where it was left in the content, contains
(and regex) read the text after it and warn, while equals fails: the content as a client sees it
is another one. So it is with an end token at the content's end.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import regex

from denv.checks.numerals import same_number
from denv.observe.leaks import before_end_marks
from denv.records import Cause, Contains, Equals, Observation, Score

LEFT_IN_CONTENT = "reasoning left in content"

END_IN_CONTENT = "end token left in content"

EXCERPT = 12
"""Code points shown on each side of a difference."""

SHOWN = 60
"""Code points shown of what was looked for."""

_LONG_MARKS = regex.compile(r"\p{M}{64}")
"""Ordering such runs of combining marks costs quadratic time, and no language has them."""


def score_equals(check: Equals, answer: Observation) -> Score:
    """Score an answer whose text must be ``check.text``, code point for code point."""
    text, after = answer.text, answer.text_after_reasoning
    if text is None:
        return no_text(answer)
    if text == check.text:
        return Score(True)
    if after is not None and check.text in {after, after.lstrip()}:
        reason = f"{LEFT_IN_CONTENT}: the text after the block would pass"
        return Score(False, reason, Cause.PARSER)
    rest = before_end_marks(text if after is None else after)
    if rest is not None and check.text in {rest, rest.lstrip() if after is not None else rest}:
        return Score(False, f"{END_IN_CONTENT}: the text before it would pass", Cause.PARSER)
    warnings = (LEFT_IN_CONTENT,) if after is not None else ()
    got = text if after is None else after
    where = "" if after is None else "in the text after the reasoning, "
    reason = where + describe_difference(check.text, got)
    return Score(False, reason, Cause.UNKNOWN, warnings)


def score_contains(check: Contains, answer: Observation) -> Score:
    """Score an answer whose text must contain ``check.text``."""
    text = readable_text(answer)
    if text is None:
        return no_text(answer)
    if check.text in text:
        return found(answer)
    return not_found(answer, shown(check.text), in_reasoning=check.text in (answer.text or ""))


def readable_text(answer: Observation) -> str | None:
    """Give the text that is searched: the content, without reasoning that was left in it."""
    if answer.text is None or answer.text_after_reasoning is not None:
        return answer.text_after_reasoning
    return None if answer.reasoning_open else answer.text


def no_text(answer: Observation) -> Score:
    """Fail an answer that has no text to read, and say what it has instead."""
    if answer.text is not None:
        reason = f"{LEFT_IN_CONTENT} never ends: no text after it"
    elif answer.calls:
        reason = "no text: a tool call instead"
    elif answer.refusal:
        reason = "no text: a refusal instead"
    elif answer.reasoning:
        reason = "no text: reasoning only"
    else:
        reason = "no text"
    return Score(False, reason, Cause.UNKNOWN)


def found(answer: Observation) -> Score:
    """Pass an answer in whose readable text something was found."""
    left = answer.text_after_reasoning is not None
    return Score(True, warnings=(LEFT_IN_CONTENT,) if left else ())


def not_found(answer: Observation, wanted: str, *, in_reasoning: bool = False) -> Score:
    """Fail an answer in whose readable text nothing was found; ``wanted`` says what."""
    left = answer.text_after_reasoning is not None
    where = "found only in the reasoning left in content" if in_reasoning else "not found"
    reason = f"{where}: {wanted}"
    failed = Score(False, reason, Cause.UNKNOWN)
    return replace(failed, warnings=(LEFT_IN_CONTENT,)) if left else failed


def shown(expected: str) -> str:
    """Quote the beginning of what was looked for, on one line that no terminal obeys."""
    return f"{expected[:SHOWN]!r}{'…' if len(expected) > SHOWN else ''}"


def describe_difference(expected: str, got: str) -> str:
    """Name the first differing code point, and what would make the texts match."""
    hints = "".join(f"; {hint}" for hint in _hints(expected, got))
    return _first_difference(expected, got) + hints


def _first_difference(expected: str, got: str) -> str:
    pairs = zip(expected, got, strict=False)
    shorter = min(len(expected), len(got))
    at = next((i for i, (want, have) in enumerate(pairs) if want != have), shorter)
    if at == len(got):
        return (
            f"the answer ends at index {at}, a prefix of what is expected:"
            f" {_excerpt(expected, at)} is missing"
        )
    if at == len(expected):
        return f"the answer goes on at index {at}, after what is expected: {_excerpt(got, at)}"
    return (
        f"first difference at index {at}: {_code_point(got[at])} instead of"
        f" {_code_point(expected[at])}, {_excerpt(got, at)} instead of {_excerpt(expected, at)}"
    )


def _code_point(character: str) -> str:
    return f"U+{ord(character):04X}"


def _excerpt(text: str, at: int) -> str:
    # repr escapes what does not print, so that no terminal obeys an answer
    start, end = max(0, at - EXCERPT), at + EXCERPT
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{text[start:end]!r}{after}"


def _hints(expected: str, got: str) -> list[str]:
    hints = []
    if _nfc(expected) == _nfc(got):
        hints.append("the texts match after NFC")
    if expected.strip() == got.strip():
        hints.append("the texts match after trimming")
    if same_number(expected, got):
        hints.append("numerically equal")
    return hints


def _nfc(text: str) -> str:
    return text if _LONG_MARKS.search(text) else unicodedata.normalize("NFC", text)
