"""The report as strict JSON, streamed, with "cases" last."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Any, TextIO

from denv.report.model import Document, Report, schema
from denv.report.output import Target, opened
from denv.report.text import escaped, without_surrogates

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


@cache
def _order(name: str | None = None) -> tuple[str, ...]:
    """Give the keys of an object in the schema's order: the document's own, or a definition's."""
    part = schema() if name is None else schema()["$defs"][name]
    return tuple(part["properties"])


def _ordered(document: Document, keys: Iterable[str]) -> dict[str, Any]:
    known = [key for key in keys if key in document]
    others = sorted(document.keys() - set(known))
    return {key: document[key] for key in chain(known, others)}


def _case(case: Document) -> dict[str, Any]:
    ordered = _ordered(case, _order("case"))
    for side in ("stage", "reference"):
        if isinstance(ordered.get(side), Mapping):
            ordered[side] = _ordered(ordered[side], _order("side"))
    return ordered


def _head(head: Document) -> dict[str, Any]:
    ordered = _ordered(head, _order())
    ordered.pop("cases", None)
    for side in ("stage", "reference"):
        ordered[side] = _ordered(ordered[side], _order("endpoint"))
    return ordered


class _Writer:
    """JSON text of values for one stream; what its encoding may lack is written as an escape."""

    def __init__(self, stream: TextIO) -> None:
        encoding = getattr(stream, "encoding", None) or "utf-8"
        self._escape = encoding.lower() not in {"utf-8", "utf8"}
        self._stream = stream

    def put(self, text: str) -> None:
        self._stream.write(text)

    def value(self, value: object) -> None:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text = escaped(without_surrogates(text))
        if self._escape:
            text = _BEYOND_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], text)
        self._stream.write(text)


def write_json(report: Report, file: Target) -> None:
    """Write the whole document, one case a line.

    Keys stand in the schema's order; a lone surrogate becomes U+FFFD, and
    what a terminal may obey stands as an escape.

    Raises
    ------
    ValueError
        For a figure that is not finite; a file that stood at the path is left as it was.
    """
    with opened(file) as stream:
        writer = _Writer(stream)
        writer.put("{\n")
        for key, value in _head(report.head).items():
            writer.value(key)
            writer.put(": ")
            writer.value(value)
            writer.put(",\n")
        writer.put('"cases": [')
        between = "\n"
        for case in report.cases():
            writer.put(between)
            writer.value(_case(case))
            between = ",\n"
        writer.put("\n]}\n")
