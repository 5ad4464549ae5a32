"""The reports' pictures as images: the pages' policy allows no style that stands in a page."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from functools import cache
from html import unescape
from importlib.resources import files
from threading import Lock

from markupsafe import Markup

from denv.report.measure_page import Part
from denv.report.pictures import STYLE
from denv.report.schedule_pictures import ON_PAPER

DRAWING = Lock()
"""Held while something is drawn: Matplotlib's settings are those of the whole process."""

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.DOTALL)
_SAYS = re.compile(r"<desc[^>]*>(.*?)</desc>", re.DOTALL)
_COLOURS = re.compile(r":root \{[^}]*\}")
_VARIABLES = dict(
    zip(ON_PAPER.values(), ("ink", "soft", "line", "series-0", "series-1"), strict=True)
)
_PAPER, _BLACK = "#ffffff", "#000000"
_SIZE = re.compile(r' (?:width|height)="[\d.]+pt"')


def embedded(drawn: str) -> Markup:
    """Give an inline SVG of the reports as an image, with what it says as its alternative."""
    found = (pattern.search(drawn) for pattern in (_TITLE, _SAYS))
    return image(drawn, says=": ".join(unescape(match[1]) for match in found if match))


def with_images(part: Part) -> Part:
    """Give a measurement's part with its pictures as images."""
    sections = [
        replace(one, pictures=[embedded(each) for each in one.pictures]) for one in part.sections
    ]
    return replace(part, sections=sections)


def on_screen(paper: bytes) -> str:
    """Give a picture that was drawn for paper in the page's colours and on its ground."""
    drawn = paper.decode()
    drawn = _SIZE.sub("", drawn[drawn.index("<svg") :], count=2)
    drawn = drawn.replace(f"fill: {_PAPER}", "fill: none")
    for colour, name in {**_VARIABLES, _BLACK: "ink"}.items():
        drawn = drawn.replace(colour, f"var(--{name})")
    return drawn


def image(drawn: str, *, says: str) -> Markup:
    """Give an SVG as an image that follows light and dark as the page does."""
    data = base64.b64encode(alone(drawn)).decode()
    return Markup('<img class="picture" alt="{}" src="data:image/svg+xml;base64,{}">').format(
        says, data
    )


def alone(drawn: str) -> bytes:
    """Give an inline SVG as a file of its own, in colours that follow light and dark."""
    start = drawn.index(">") + 1
    return f"{drawn[:start]}<style>{_palette()}</style>{drawn[start:]}".encode("utf-8", "replace")


@cache
def _palette() -> str:
    """Give the reports' colours, which an image cannot have from the page around it."""
    sheet = files("denv.report").joinpath("templates", "report.css").read_text("utf-8")
    found = [_COLOURS.findall(each)[:2] for each in (sheet, STYLE)]
    light, dark = (" ".join(each) for each in zip(*found, strict=True))
    # words that were drawn in no colour of their own are black otherwise, also on a dark page
    words = "text { fill: var(--ink) }"
    return f"{light} @media (prefers-color-scheme: dark) {{ {dark} }} {words}"
