"""A measurement's document as one web page that needs nothing else, from its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from denv.records import Json
from denv.report import pictures
from denv.report.environment import environment
from denv.report.html import figure
from denv.report.text import line, without_surrogates

Document = Mapping[str, Json]
Rows = Sequence[Sequence[str]]

TONES = {
    "pass": "pass", "faithful": "pass",
    "fail": "fail", "different": "fail",
    "unknown": "inconclusive", "undecided": "inconclusive",
}  # fmt: skip
"""The colour of each word that a measurement may end with."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under their columns; ``prose`` says that cells hold sentences.

    Where rows stand by themselves, on a narrow page, their first cell is named by its column where
    it is ``labelled``.
    """

    title: str
    columns: Sequence[str]
    rows: Rows
    prose: bool = False
    labelled: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading; ``lists`` are titled, or not where the title is empty."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    pictures: Sequence[Markup] = ()
    lists: Sequence[tuple[str, Sequence[str]]] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One measurement: its verdict with what it says, and the sections behind it."""

    title: str
    verdict: str
    says: str
    reasons: Sequence[str] = ()
    summary: str = ""
    warnings: Sequence[str] = ()
    sections: Sequence[Section] = ()


def measure_page(document: Document, head: Part, parts: Sequence[Part] = ()) -> str:
    """Give a document as a page; ``head`` is its verdict, ``parts`` are those that it is made of.

    Parts that hold measurements of their own stand behind the sections of the head.
    """
    html = (
        _environment()
        .get_template("measure.html.j2")
        .render(
            document=document,
            head=head,
            parts=parts,
            settings=list(settings_of(document)),
            tones=TONES,
            style=Markup(_style() + pictures.STYLE),  # noqa: S704 - files of this package
        )
    )
    return without_surrogates(html)


def settings_of(document: Document) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Give the settings, those of each part by themselves."""
    plain = {k: v for k, v in document["settings"].items() if not isinstance(v, Mapping)}
    margins = document.get("margin")
    if isinstance(margins, Mapping):
        plain |= {f"margin: {name}": value for name, value in margins.items()}
    yield "Settings", plain
    for name, value in document["settings"].items():
        if isinstance(value, Mapping):
            yield f"Settings of {name}", value


def _style() -> str:
    return files("denv.report").joinpath("templates", "report.css").read_text("utf-8")


@cache
def _environment() -> Environment:
    return environment(line=line, figure=figure)
