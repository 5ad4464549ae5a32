"""How the templates of all pages are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(**filters: Callable[..., Any]) -> Environment:
    """Give an environment that escapes everything and refuses unknown names."""
    found = Environment(
        loader=PackageLoader("denv.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= filters
    return found
