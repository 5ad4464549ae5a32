"""The measurements by their instruments: their names, and what each shows of its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from denv.records import Json
from denv.report import measure_all
from denv.report.measure_page import TONES, Part, Section, Table
from denv.report.speed import sections
from denv.serve.pages.drawing import DRAWING, embedded, with_images

Document = Mapping[str, Json]

SPEED = "speed"
"""The one instrument that has no verdict on its page either."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """How an instrument is called, what it asks, and the command that makes one."""

    title: str
    asks: str
    command: str


INSTRUMENTS: Mapping[str, Instrument] = {
    "all": Instrument(
        "Measure all",
        "Gates, tokens, answers and derivations, with one verdict.",
        "denv parity measure all",
    ),
    "gates": Instrument(
        "Gates",
        "Do both sides tokenize, render, repeat themselves, stop and sample as they must?",
        "denv parity gates",
    ),
    "tokens": Instrument(
        "Tokens",
        "How far is each next-token distribution from the reference's?",
        "denv parity measure tokens",
    ),
    "answers": Instrument(
        "Answers",
        "Questions with a computed truth, in pairs: what was lost?",
        "denv parity measure answers",
    ),
    "derivations": Instrument(
        "Derivations",
        "Problems of many steps, judged by computer algebra, in pairs.",
        "denv parity measure derivations",
    ),
    "sentinel": Instrument(
        "Sentinel",
        "A schedule's cheap look between its full runs.",
        "denv parity schedule add --sentinel-every 30m",
    ),
    SPEED: Instrument(
        "Speed",
        "How fast is it, by depth, draft length and requests at once? Never part of a verdict.",
        "denv bench speed",
    ),
}

ENDS: Mapping[str, str] = {**TONES, "calm": "pass", "escalate": "inconclusive"}
"""The colour of each word that a measurement may end with, by the verdicts' names."""

STATES: Mapping[str, str] = {
    "running": "It is under way, or the process that asked was killed.",
    "stopped": "It was interrupted. What was answered is kept and is not asked again.",
}

_SEEN = ("asked", "answered", "passed")


def title_of(instrument: str) -> str:
    """Name an instrument; one of a later version by its own name."""
    known = INSTRUMENTS.get(instrument)
    return known.title if known else instrument


def parts_of(instrument: str, document: Document) -> tuple[Part, Sequence[Part]]:
    """Give a measurement's verdict with what it says, and the parts that it is made of."""
    if instrument == "sentinel":
        return _sentinel(document), ()
    with DRAWING:
        if instrument == "all":
            return measure_all.head(document), [*map(with_images, measure_all.parts(document))]
        return with_images(measure_all.PARTS[instrument](document)), ()


def speed_of(document: Document) -> Sequence[Section]:
    """Give a speed run's figures and notes, each under its heading."""
    with DRAWING:
        found = sections(document)
    return [replace(one, pictures=[embedded(each) for each in one.pictures]) for one in found]


def _sentinel(document: Document) -> Part:
    why = document["why"]
    says = "Something changed: a full run was asked for." if why else "Both sides are as before."
    rows = [
        [side, *(str(seen[name]) for name in _SEEN), ", ".join(seen["failed"]) or "none"]
        for side, seen in document["seen"].items()
    ]
    table = Table("Prompts of each side", ("side", *_SEEN, "that fail"), rows)
    return Part(
        title="sentinel",
        verdict="escalate" if why else "calm",
        says=says,
        reasons=why,
        sections=[Section("What was seen", tables=[table])],
    )
