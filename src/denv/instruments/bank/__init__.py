"""The built-in bank of prompts whose answers are compared token by token; all of it is ours.

Prose, code, mathematics, human languages, structured output, tool use, and long context at three
depths. Questions with computed answers are drawn in their own instruments, with :mod:`.draw`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import chain, zip_longest

from denv.instruments.bank import (
    code,
    languages,
    long_context,
    mathematics,
    prose,
    structured,
    tools,
)
from denv.instruments.bank.prompt import Prompt

__all__ = ["CATEGORIES", "Prompt", "prompts"]

_SOURCES: Mapping[str, Callable[[], tuple[Prompt, ...]]] = {
    one.CATEGORY: one.prompts
    for one in (prose, code, mathematics, languages, structured, tools, long_context)
}

CATEGORIES = tuple(_SOURCES)
"""The categories, in the order in which a limit takes from them."""


def prompts(
    categories: Collection[str] | None = None, *, limit: int | None = None
) -> tuple[Prompt, ...]:
    """Give the bank's prompts, one of each category in turn.

    Parameters
    ----------
    categories
        Those that are wanted, by default all; their order here does not matter.
    limit
        The most prompts that are wanted: the first ones, which are spread evenly over the
        categories while these last.

    Raises
    ------
    ValueError
        For a category that there is not, for none at all, or a limit below 1.

    Examples
    --------
    >>> [one.id for one in prompts(["code", "prose"], limit=3)]
    ['prose-lighthouse', 'code-python-intervals', 'prose-tides']
    """
    wanted = CATEGORIES if categories is None else tuple(categories)
    unknown = [name for name in wanted if name not in CATEGORIES]
    if unknown or not wanted:
        what = f"no category {unknown[0]!r}" if unknown else "no category"
        raise ValueError(f"categories: {what}; there are {', '.join(CATEGORIES)}")
    if limit is not None and limit < 1:
        raise ValueError(f"limit: {limit} prompts, must be at least 1")
    listed = [_SOURCES[name]() for name in CATEGORIES if name in wanted]
    turns = chain.from_iterable(zip_longest(*listed))
    return tuple(one for one in turns if one is not None)[:limit]
