"""A pattern searched for in the answer's text, in the dialect of the ``regex`` package.

The package checks its time-out every so many steps and a step may scan the text once, so it is
late by an amount that grows with the text: measured with hostile patterns, one second becomes
1.0 s at 64 KB, up to 2.5 s at 1 MB and up to 8 s at 10 MB. It counts the processor time of the
whole process, so two searches at once share one second, and a busy machine stretches it. The
search always ends, and other threads run meanwhile. Within its second, a hostile pattern may
take some 400 MB. Where that matters, hand a search that runs in a killable process to
:func:`score_regex` instead of :func:`search_within`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import regex

from denv.checks.text import END_IN_CONTENT, SHOWN, found, no_text, not_found, readable_text
from denv.observe.leaks import before_end_marks
from denv.records import Cause, Observation, Regex, Score

Search = Callable[[str, str], bool]
"""Whether a pattern is found in a text. Raises TimeoutError where that takes too long."""

TIMEOUT_S = 1.0
PATTERNS_KEPT = 256


def score_regex(check: Regex, answer: Observation, *, search: Search) -> Score:
    """Score an answer in whose text ``check.pattern`` must be found."""
    text = readable_text(answer)
    if text is None:
        return no_text(answer)
    try:
        matched = search(check.pattern, text)
        rest = None if matched else before_end_marks(text)
        if rest is not None and search(check.pattern, rest):
            return Score(False, f"{END_IN_CONTENT}: the text before it would pass", Cause.PARSER)
    except TimeoutError:
        return Score(None, "regex timed out")
    return found(answer) if matched else not_found(answer, _shown(check.pattern))


def _shown(pattern: str) -> str:
    """Quote the beginning of a pattern; its backslashes, of which it is full, stay single."""
    start = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in pattern[:SHOWN])
    return f"'{start}'{'…' if len(pattern) > SHOWN else ''}"


def search_within(pattern: str, text: str, timeout_s: float = TIMEOUT_S) -> bool:
    """Search a text, without holding up other threads.

    Raises
    ------
    TimeoutError
        Where it takes longer than ``timeout_s``, or more memory than the package allows itself.
    """
    try:
        return _compiled(pattern).search(text, timeout=timeout_s) is not None
    except MemoryError:
        raise TimeoutError("regex ran out of memory") from None


@lru_cache(maxsize=PATTERNS_KEPT)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)
