"""The document of all measurements on a terminal and as a page: each part as its command shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from denv.records import Json
from denv.report import answers, derivations, gates, tokens
from denv.report.measure_page import Part, measure_page
from denv.report.text import line

Document = Mapping[str, Json]

RENDERERS: Mapping[str, Callable[[Document], RenderableType]] = {
    "gates": gates.render,
    "tokens": tokens.render,
    "answers": answers.render,
    "derivations": derivations.render,
}

PARTS: Mapping[str, Callable[[Document], Part]] = {
    "gates": gates.part,
    "tokens": tokens.part,
    "answers": answers.part,
    "derivations": derivations.part,
}

VERDICTS = {
    "faithful": "The stage serves what the reference serves, by all three measurements.",
    "different": "The stage does not serve what the reference serves.",
    "undecided": "The measurements do not show whether the stage serves what the reference does.",
}

_STYLES = {"faithful": "bold green", "different": "bold red", "undecided": "bold yellow"}


def render(document: Document) -> RenderableType:
    """Show the verdict of all and why, then each part that was measured."""
    verdict = document["verdict"]
    blocks: list[RenderableType] = []
    for name, renderer in RENDERERS.items():
        if document[name] is not None:
            shown = {**document, **document[name]}
            blocks += [Text(name.upper(), style="bold"), renderer(shown), Text()]
    blocks.append(Text(verdict.upper(), style=_STYLES[verdict]))
    blocks += [
        Padding(Text(line(reason, 500), overflow="fold"), (0, 0, 0, 2))
        for reason in document["reasons"]
    ]
    blocks.append(Padding(Text(_level(document), style="dim"), (0, 0, 0, 2)))
    return Group(*blocks)


def page(document: Document) -> str:
    """Give the document as one web page that needs nothing else: the verdict, then each part."""
    return measure_page(document, head(document), parts(document))


def head(document: Document) -> Part:
    """Give the verdict of all with what it says."""
    verdict = document["verdict"]
    return Part(
        title="measure all",
        verdict=verdict,
        says=VERDICTS[verdict],
        reasons=document["reasons"],
        summary=_level(document),
    )


def parts(document: Document) -> list[Part]:
    """Give each part that was measured, for a page."""
    return [
        part({**document, **document[name]})
        for name, part in PARTS.items()
        if document[name] is not None
    ]


def _level(document: Document) -> str:
    looks = document["looks"]
    return f"{looks['number']} looks, each at {looks['alpha_each']:.4f} of {looks['alpha']:g}"
