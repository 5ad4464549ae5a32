"""Prompts that are far too long are refused by their beginning: counting them whole takes minutes.

Vocabularies split a text the same way whatever stands far behind, so that the tokens of its
beginning are almost all among those of the whole. Where the beginning alone has twice as many as
the context holds, the whole cannot fit. All others are counted whole.
"""

from __future__ import annotations

_CERTAIN = 2
_BEGINNING = 16
"""Characters of the beginning for each token of the context: a usual text has 3 to 6 a token."""


def beginning(text: str, *, context: int) -> str | None:
    """Give what is counted first of a text that is far too long; None where it need not be."""
    length = _BEGINNING * context
    return text[:length] if len(text) > 2 * length else None


def cannot_fit(tokens: int, *, context: int) -> bool:
    """Tell by the tokens of the beginning whether the whole is too long for certain."""
    return tokens > _CERTAIN * context


def too_long(context: int) -> str:
    """Say it as DeepSeek's API does, but for a number that nobody knows."""
    return (
        f"This model's maximum context length is {context} tokens. However, you requested more "
        f"than {_CERTAIN * context} tokens in the messages. Please reduce their length."
    )
