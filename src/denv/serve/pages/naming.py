"""What stages and runs are called on pages. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit

from denv.client.masking import mask
from denv.report.text import line


def stage_words(url: str, model: str | None) -> str:
    """Name a stage in a list: its model, and where it is without what all addresses share.

    >>> stage_words("https://api.example.com/v1", "smollm2")
    'smollm2 at api.example.com'
    >>> stage_words("", None)
    'a stage'
    """
    where = address_words(url)
    named = [line(model, 60)] if model else []
    return " at ".join([*named, where] if where else named) or "a stage"


def address_words(url: str) -> str:
    """Give an address without its scheme and the path that all of them have."""
    shown = mask(url)
    try:
        parts = urlsplit(shown)
    except ValueError:
        return line(shown, 80)
    path = parts.path.rstrip("/").removesuffix("/v1")
    return line(f"{parts.netloc}{path}" if parts.netloc else shown, 80)
