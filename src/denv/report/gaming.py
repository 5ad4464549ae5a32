"""The private part in sentences, for every form of the report that people read."""

from __future__ import annotations

from collections.abc import Mapping

from denv.records import Json
from denv.report.model import Document
from denv.report.text import percent


def gaming_lines(head: Document) -> list[str]:
    """Say how both sides do on both parts and what it shows; nothing without a private part."""
    found = head.get("gaming")
    if found is None:
        return []
    lines = [_part(name, found[name]) for name in ("public", "private")]
    if found["verdict"] != "undecided":
        lines.append(_power(found))
    return [_sentence(found["reason"]), *lines]


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _part(name: str, part: Mapping[str, Json]) -> str:
    sides = " and ".join(
        f"the {side} passes {part[side]['pass']} ({percent(part[side]['pass_rate'])})"
        for side in ("stage", "reference")
    )
    return f"Of {part['counted']} {name} cases that were counted {sides}."


def _power(found: Mapping[str, Json]) -> str:
    """Say what so many cases find; a stage that fails hardly any private case can go unseen."""
    catches = ", ".join(
        f"{percent(float(share))} with a chance of {percent(chance)}"
        for share, chance in found["catches"].items()
    )
    return (
        "A stage that passes all public cases is found if of the private ones it fails "
        f"{catches}; one that treats both alike with at most {percent(found['level'])}."
    )
