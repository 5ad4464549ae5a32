"""The chat templates that the lab serves with."""

from __future__ import annotations

from pathlib import Path

from denv.errors import UsageError

FOLDER = Path(__file__).parent / "templates"


def template_names() -> tuple[str, ...]:
    """List the templates, sorted."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.jinja")))


def template(name: str) -> str:
    """Give the text of a template: ``tools`` (chat and tool calls), ``damaged`` (careless port)."""
    if name not in template_names():
        raise UsageError(f"unknown template {name!r}; known are {', '.join(template_names())}")
    return (FOLDER / f"{name}.jinja").read_text("utf-8")
