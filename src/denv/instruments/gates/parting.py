"""Where two texts part, with what stands around it, fit to be shown."""

from __future__ import annotations

from dataclasses import dataclass

from denv.records import Json

AROUND = 32
"""Characters shown before and after."""


@dataclass(frozen=True, slots=True)
class Parting:
    """The first code point at which two texts differ, and both texts around it."""

    offset: int
    stage: str
    reference: str

    def document(self) -> dict[str, Json]:
        """Give it as strict JSON."""
        return {"offset": self.offset, "stage": self.stage, "reference": self.reference}


def parting(stage: str, reference: str) -> Parting | None:
    """Give where the texts part, None where they are equal."""
    if stage == reference:
        return None
    offset = shared(stage, reference)
    return Parting(offset, around(stage, offset), around(reference, offset))


def shared(one: str | bytes | tuple[object, ...], other: str | bytes | tuple[object, ...]) -> int:
    """Count the items that both begin with."""
    length = min(len(one), len(other))
    return next((at for at in range(length) if one[at] != other[at]), length)


def around(text: str, offset: int) -> str:
    """Show a text around an offset, with an ellipsis where it goes on."""
    start, end = max(0, offset - AROUND), offset + AROUND
    head, tail = ("…" if start else ""), ("…" if end < len(text) else "")
    return head + shown(text[start:end]) + tail


def shown(text: str) -> str:
    r"""Write what cannot be seen as its escape: ``\n``, ``\x1b``, ``\u202e``.

    >>> shown("a\n\u202eb é")
    'a\\n\\u202eb é'
    """
    return "".join(
        char if char.isprintable() and char != "\\" else char.encode("unicode_escape").decode()
        for char in text
    )
