"""What an import makes: cases, and a list of all that could not be carried over."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from denv.errors import UsageError
from denv.records import Case
from denv.suite.line import MAX_ID, parse_line
from denv.suite.request import NOT_OF_A_CASE, REQUEST_FIELDS

MAX_BYTES = 256 * 1024**2
"""Of all cases as lines of a suite: they are in memory until the suite is written."""

_DIGEST_TAG = b"denv.import/1\0"
_DIGITS = 12
_PLAIN = re.compile(r"[^\w.-]+")


class UncarriedError(Exception):
    """Why something cannot be carried over; whoever reads a source notes it and goes on."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that was not carried over: where it stands, and why.

    ``case`` says that a whole case is missing; else a case was carried without this part of it.
    """

    where: str
    why: str
    case: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """The cases of an import, in their order, and what was left behind."""

    cases: tuple[Case, ...]
    leftovers: tuple[Leftover, ...]


@dataclass(slots=True)
class Gathering:
    """Collects cases, each of them valid as a line of a suite, and what is left behind."""

    source: str
    cases: list[Case] = field(default_factory=list)
    leftovers: list[Leftover] = field(default_factory=list)
    _places: dict[str, str] = field(default_factory=dict)
    _fields: Counter[tuple[str, str]] = field(default_factory=Counter)
    _bytes: int = 0

    def add(self, where: str, fields: Mapping[str, Any], *, expect: Mapping[str, Any]) -> None:
        """Add a case; what no suite could hold, or what stands there already, is left behind.

        ``fields`` may hold an ``id`` and ``tags``; without an id the case gets one from what it
        asks and expects, which stays the same when other cases come and go.
        """
        given = {key: value for key, value in fields.items() if value is not None}
        line = {"id": given.pop("id", None) or _digest_id({**given, "expect": expect}), **given}
        first = self._places.get(line["id"])
        if first is not None:
            self.leave(where, f"the same case stands at {first}")
            return
        raw = json.dumps({**line, "expect": expect}).encode()
        self._bytes += len(raw)
        if self._bytes > MAX_BYTES:
            most = MAX_BYTES // 1024**2
            raise UsageError(f"{self.source}: its cases are larger than {most} MiB in all")
        _, found = parse_line(raw, line=len(self.cases) + 1, index=len(self.cases))
        if isinstance(found, Case):
            self._places[found.id] = where
            self.cases.append(found)
            return
        self.leave(where, "; ".join(f"{field}: {what}" for field, what in found))

    def leave(self, where: str, why: str) -> None:
        """Note that a whole case is left behind."""
        self.leftovers.append(Leftover(where, why, case=True))

    def without(self, where: str, why: str) -> None:
        """Note that a case is carried without a part of it."""
        self.leftovers.append(Leftover(where, why, case=False))

    def request_fields(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Take the fields of a Chat Completions request that a case may carry, and count others."""
        kept = {}
        for name, value in request.items():
            if name in REQUEST_FIELDS:
                kept[name] = value
            elif value is not None:
                self.count_field(name, NOT_OF_A_CASE.get(name, "not a field of a case"))
        return kept

    def count_field(self, name: str, why: str) -> None:
        """Note that a field was left out of some sample; it is told once, with a count."""
        self._fields[name, why] += 1

    def imported(self) -> Imported:
        """Give all that was gathered."""
        told = [
            Leftover(f"{self.source}: field {name}, in {count}", why, case=False)
            for (name, why), count in sorted(self._fields.items())
        ]
        return Imported(tuple(self.cases), tuple(dict.fromkeys([*self.leftovers, *told])))


def plain_id(*parts: object) -> str:
    """Make an id of names and numbers that are stable in the source."""
    return "-".join(_PLAIN.sub("-", str(part)).strip("-") for part in parts)[:MAX_ID]


def _digest_id(line: Mapping[str, Any]) -> str:
    raw = json.dumps(line, sort_keys=True, ensure_ascii=True).encode()
    return "case-" + hashlib.sha256(_DIGEST_TAG + raw).hexdigest()[:_DIGITS]
