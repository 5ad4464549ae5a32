"""The document of all measurements as tables on a terminal: each part as its own command shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from denv.records import Json
from denv.report import answers, derivations, gates, tokens
from denv.report.text import line

Document = Mapping[str, Json]

RENDERERS: Mapping[str, Callable[[Document], RenderableType]] = {
    "gates": gates.render,
    "tokens": tokens.render,
    "answers": answers.render,
    "derivations": derivations.render,
}

_STYLES = {"faithful": "bold green", "different": "bold red", "undecided": "bold yellow"}


def render(document: Document) -> RenderableType:
    """Show the verdict of all and why, then each part that was measured."""
    verdict = document["verdict"]
    parts: list[RenderableType] = []
    for name, renderer in RENDERERS.items():
        if document[name] is not None:
            shown = {**document, **document[name]}
            parts += [Text(name.upper(), style="bold"), renderer(shown), Text()]
    looks = document["looks"]
    parts.append(Text(verdict.upper(), style=_STYLES[verdict]))
    parts += [
        Padding(Text(line(reason, 500), overflow="fold"), (0, 0, 0, 2))
        for reason in document["reasons"]
    ]
    level = f"{looks['number']} looks, each at {looks['alpha_each']:.4f} of {looks['alpha']:g}"
    parts.append(Padding(Text(level, style="dim"), (0, 0, 0, 2)))
    return Group(*parts)
