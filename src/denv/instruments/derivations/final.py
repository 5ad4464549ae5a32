"""The answer that a text declares in its ``FINAL:`` line; nothing is guessed without one.

A declared answer is cut out, not understood: reading it is the oracle's work.
"""

from __future__ import annotations

import re

_MARK = re.compile(
    r"(?:\bFINAL(?:[ _]ANSWER)?|(?m:^[ \t>#*_\-`$\\(\[{]{0,12})Final(?: [Aa]nswer)?)"
    r"[*_`}\s]{0,8}[:\uff1a]"
)
"""``FINAL:`` anywhere in a line, ``Final:`` at the start of one; decoration may part the colon."""

_PLACEHOLDER = re.compile(r"[\s*_`$\\({\[]*(?:<|\\langle)\s*(?:expr|answer)", re.IGNORECASE)
_OPENED = re.compile(r"\\begin\{|\\\[|\$\$")
_CLOSED = {"\\begin{": "\\end{", "\\[": "\\]", "$$": "$$"}
_STRAY = " \t\r\n*_`"


def extract_final(text: str | None) -> str | None:
    r"""Cut the last declared answer out of a text.

    The last ``FINAL:`` wins; markdown around it and around the answer is taken off. Where
    nothing follows it on its line, the next line that says something is the answer, and a
    display or a matrix that is opened there is taken whole. None where there is no such line.

    Examples
    --------
    >>> extract_final("So x is 3 or 4.\n**FINAL:** {3, 4}.")
    '{3, 4}'
    >>> extract_final("So the answer is 7.") is None
    True
    """
    if text is None:
        return None
    for mark in reversed(list(_MARK.finditer(text))):
        if not _PLACEHOLDER.match(text, mark.end()):
            return _answer(text[mark.end() :])
    return None


def _answer(rest: str) -> str | None:
    rest = rest.lstrip(_STRAY + "}")  # a brace that closes there was opened before the mark
    return _trimmed(rest[: _end(rest)]) or None


def _end(rest: str) -> int:
    """Where the answer's line ends, or what was opened in it."""
    end = len(rest) if (newline := rest.find("\n")) < 0 else newline
    opened = _OPENED.search(rest, 0, end)
    if opened is None:
        return end
    closed = rest.find(_CLOSED[opened[0]], opened.end())
    if closed < end:
        return end
    newline = rest.find("\n", closed)
    return len(rest) if newline < 0 else newline


def _trimmed(answer: str) -> str:
    """Take off markdown, a final full stop, and braces that were opened before the mark."""
    answer = answer.strip(_STRAY)
    while answer and answer[-1] in ".;," and not answer.endswith(("\\,", "\\;", "...")):
        answer = answer[:-1].rstrip(_STRAY)
    for closing, opening in (("}", "{"), (")", "(")):
        surplus = answer.count(closing) - answer.count(opening)
        half_open = closing == ")" and "[" in answer
        while surplus > 0 and answer.endswith(closing) and not half_open:
            answer, surplus = answer[:-1].rstrip(_STRAY), surplus - 1
    return answer
