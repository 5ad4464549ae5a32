"""How authored cases are written down: one call a case."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from denv.recipes.making import patterns
from denv.recipes.making.drafts import (
    Authored,
    Draft,
    Json,
    answer,
    calling,
    expect_call,
    request,
    user,
)
from denv.recipes.making.wrongs import wrong_call


def asked(wish: str | Sequence[Json], **fields: Any) -> dict[str, Any]:
    """Give a request of one message, or of several."""
    return request(*((user(wish),) if isinstance(wish, str) else wish), **fields)


def told(
    name: str,
    part: str,
    wish: str | Sequence[Json],
    *,
    expect: Json,
    right: str,
    wrong: str | Json,
    why: str,
    **fields: Any,
) -> Authored:
    """Give a case whose answer is a text."""
    draft = Draft(
        request=asked(wish, **fields),
        expect=expect,
        right=answer(right),
        wrong=answer(wrong) if isinstance(wrong, str) else wrong,
        why=why,
    )
    return Authored(name, part, draft)


def one_word(
    name: str, part: str, wish: str, right: str, *, wrong: str | Json, why: str
) -> Authored:
    """Give a case whose answer is one word; its spellings are parted by a bar."""
    expect = {"regex": rf"(?i)(?<!\w)(?:{right})(?!\w)"}
    first = right.split("|", 1)[0]
    return told(name, part, wish, expect=expect, right=first, wrong=wrong, why=why)


def chosen(name: str, part: str, wish: str, right: str, *, wrong: str | Json, why: str) -> Authored:
    """Give a case whose answer is one word of several that the question names.

    It must stand alone: an answer that names them all has not chosen.
    """
    expect = {"regex": f"(?i){patterns.alone(right)}"}
    return told(name, part, wish, expect=expect, right=right, wrong=wrong, why=why)


def counted(
    name: str, part: str, wish: str, right: int, *, wrong: str | Json, why: str
) -> Authored:
    """Give a case whose answer is a whole number."""
    expect = {"regex": patterns.number(right)}
    return told(name, part, wish, expect=expect, right=str(right), wrong=wrong, why=why)


class Calls:
    """Writes down cases in which a call is due; their wrong answers take turns.

    A case that has a wrong answer of its own gives it with what went wrong.
    """

    def __init__(self, part: str, *, first: int = 0) -> None:
        self._part = part
        self._turn = count(first)

    def __call__(
        self,
        name: str,
        wish: str | Sequence[Json],
        tools: Sequence[Json],
        call: tuple[str, Json],
        *,
        why: str,
        wrong: tuple[Json, str] | None = None,
        beside: Sequence[tuple[str, Json]] = (),
        **fields: Any,
    ) -> Authored:
        """Give a case; ``beside`` are calls that stand ahead of the expected one."""
        calls = [*beside, call]
        message, kind = wrong or wrong_call(next(self._turn), *call)
        draft = Draft(
            request=asked(wish, tools=tools, **fields),
            expect=expect_call(*call),
            right=calling(*calls[0], *calls[1:]),
            wrong=message,
            why=f"{why} Wrong: {kind}.",
        )
        return Authored(name, self._part, draft)
