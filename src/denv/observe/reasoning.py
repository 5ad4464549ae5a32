"""Reasoning: the fields that servers put it in, and blocks of it left in the content."""

from __future__ import annotations

import re
from typing import NamedTuple

from denv.records import Json

_FIELDS = ("reasoning", "reasoning_content", "thinking")

_TAGS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|channel>thought", "<channel|>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis", "<|channel|>final<|message|>"),
)
"""Openers and closers of the model families."""

_OPENERS = tuple(opener for opener, _ in _TAGS)
_BARE_HARMONY = ("analysis", "assistantfinal")
"""What is left of the channel markers where a server strips special tokens."""

_BLANKS = re.compile(r"\s*")

_ENDS = ("<|return|>", "<|end|>")


class Inline(NamedTuple):
    """A block of reasoning inside a text: what is left without it, None where it never ends."""

    rest: str | None


def read_reasoning(message: dict[str, Json], thinking: str | None) -> str | None:
    """Join what the reasoning fields and the content's thinking parts say, equal texts once."""
    found = [message.get(name) for name in _FIELDS]
    found.append(_details_text(message.get("reasoning_details")))
    found.append(thinking)
    texts = [text for text in found if isinstance(text, str) and text]
    return "\n".join(dict.fromkeys(texts)) if texts else None


def _details_text(details: Json) -> str | None:
    if not isinstance(details, list):
        return None
    parts = [part.get("text") or part.get("summary") for part in details if isinstance(part, dict)]
    return "".join(part for part in parts if isinstance(part, str))


def find_inline(text: str) -> Inline | None:
    """Find reasoning at the head of a text, None where there is none.

    A block counts where the text begins with its opener, or where a closer stands without one,
    as templates that write the opener themselves leave it.
    """
    if "<" not in text and "[" not in text and "◁" not in text:
        return _bare_harmony(text)
    at = _after_blanks(text, 0)
    if not text.startswith(_OPENERS, at):
        return _without_opener(text) or _bare_harmony(text)
    while text.startswith(_OPENERS, at):
        opener, closer = next(tag for tag in _TAGS if text.startswith(tag[0], at))
        closed = text.find(closer, at + len(opener))
        if closed < 0:
            return Inline(None)
        at = _after_blanks(text, closed + len(closer))
    return Inline(_answer(text[at:]))


def _after_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    return blanks.end() if blanks else start


def _without_opener(text: str) -> Inline | None:
    for opener, closer in _TAGS:
        if closer in text:
            before, _, rest = text.partition(closer)
            return None if opener in before else Inline(_answer(rest))
    return None


def _bare_harmony(text: str) -> Inline | None:
    opener, closer = _BARE_HARMONY
    if not text.startswith(opener) or closer not in text:
        return None
    return Inline(_answer(text.partition(closer)[2]))


def _answer(rest: str) -> str:
    rest = rest.lstrip()
    for end in _ENDS:
        rest = rest.removesuffix(end)
    return rest
