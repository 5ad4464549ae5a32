"""One failing case as its part of the page lays it out: bounded, and fit to be shown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from denv.report.diff import Comparison, Piece, compare
from denv.report.model import Document
from denv.report.text import clipped, line, visible

_ROWS = 20
_BOOKKEEPING = frozenset({"exchanges", "prompt", "tools", "unanswered"})
"""Parts of a case's detail that the run adds up; each answer shows its own share of them."""

_EDGES = re.compile(r"^ +| +$")


@dataclass(frozen=True, slots=True)
class Figures:
    """Rows of figures under column names, for what a check gives as a list."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    more: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Single figures of a check, or of one object in them, by name."""

    name: str
    rows: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """One side: what it said in pieces, or why there is nothing."""

    side: str
    document: Document | None
    pieces: tuple[Piece, ...]
    after: int
    calls: tuple[Piece, ...]
    reasoning: str | None


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case with its answers compared, and its check's figures sorted by form."""

    document: Document
    answers: tuple[Answer, ...]
    texts: Comparison | None
    marked: bool
    facts: tuple[Facts, ...]
    figures: tuple[Figures, ...]
    first: bool


def view(document: Document, *, limit: int, first: bool = False) -> CaseView:
    """Lay out a case; ``limit`` bounds each of its texts, ``first`` shows it open."""
    stage, reference = document["stage"], document["reference"]
    texts = _compared(_text(stage), _text(reference), limit)
    calls = _compared(_calls(stage), _calls(reference), limit)
    facts, figures = _detail(document["detail"])
    answers = tuple(
        Answer(
            side=name,
            document=side,
            pieces=_shown(_text(side), texts, name, limit),
            after=getattr(texts, f"{name}_after") if texts else 0,
            calls=_shown(_calls(side), calls, name, limit),
            reasoning=_reasoning(side, limit // 2),
        )
        for name, side in (("stage", stage), ("reference", reference))
    )
    return CaseView(
        document=document,
        answers=answers,
        texts=texts,
        marked=any(found is not None and not found.equal for found in (texts, calls)),
        facts=tuple(facts),
        figures=tuple(figures),
        first=first,
    )


def _text(side: Document | None) -> str | None:
    text: str | None = side["text"] if side is not None else None
    return text


def _reasoning(side: Document | None, limit: int) -> str | None:
    if side is None or not side["reasoning"]:
        return None
    return visible(clipped(side["reasoning"], limit))


def _calls(side: Document | None) -> str | None:
    """Write tool calls as JSON with sorted keys, so that their order makes no difference."""
    if side is None or not side["tool_calls"]:
        return None
    return "\n\n".join(call_text(call, indent=2) for call in side["tool_calls"][:_ROWS])


def call_text(call: Document, *, indent: int | None = None) -> str:
    """Write a tool call as its name and its arguments, with what is wrong about them."""
    arguments = call["arguments"]
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, indent=indent, sort_keys=True, ensure_ascii=False)
    error = f"\n\N{WARNING SIGN} {call['error']}" if call["error"] else ""
    return f"{call['name'] or '(no name)'} {arguments}{error}"


def _compared(stage: str | None, reference: str | None, limit: int) -> Comparison | None:
    if stage is None or reference is None:
        return None
    return compare(stage, reference, limit=limit)


def _shown(
    text: str | None, comparison: Comparison | None, side: str, limit: int
) -> tuple[Piece, ...]:
    if text is None:
        return ()
    if comparison is None:
        return (Piece(visible(clipped(text, limit)), differs=False),)
    pieces: tuple[Piece, ...] = getattr(comparison, side)
    return tuple(Piece(_seen(piece), piece.differs) for piece in pieces)


def _seen(piece: Piece) -> str:
    """Make a difference visible that is nothing but white space."""
    if piece.differs and not piece.text.strip():
        spelt = (
            piece.text.replace(" ", "·")
            .replace("\t", "⇥\t")
            .replace("\n", "⏎\n")
            .replace("\xa0", r"\xa0")
        )
        return visible(spelt)
    return visible(piece.text)


def _detail(detail: Mapping[str, Any]) -> tuple[list[Facts], list[Figures]]:
    """Sort a check's figures: a list of objects is a table, all else are facts."""
    single: list[tuple[str, object]] = []
    groups: list[Facts] = []
    tables: list[Figures] = []
    shown = [item for item in detail.items() if item[0] not in _BOOKKEEPING]
    for name, value in shown[:_ROWS]:
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            tables.append(_table(name, value))
        elif isinstance(value, dict) and any(value.values()):
            rows = ((_name(key), _cell(each)) for key, each in list(value.items())[:_ROWS])
            groups.append(Facts(_name(name), tuple(rows)))
        elif value is not None and not isinstance(value, dict) and value != []:
            single.append((_name(name), _cell(value)))
    return [Facts("", tuple(single)), *groups], tables


def _name(key: str) -> str:
    return line(key, 60).replace("_", " ")


def _table(name: str, items: Sequence[Mapping[str, Any]]) -> Figures:
    columns = tuple(dict.fromkeys(key for item in items[:_ROWS] for key in item))[:8]
    rows = tuple(tuple(_cell(item.get(key)) for key in columns) for item in items[:_ROWS])
    shown = tuple(_name(column) for column in columns)
    return Figures(_name(name), shown, rows, max(0, len(items) - _ROWS))


def _cell(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _EDGES.sub(lambda spaces: "·" * len(spaces[0]), line(value, 200))
    return line(json.dumps(value, ensure_ascii=False), 200)
