"""The weights table: which share of the stage's traffic each replica is to get. Pure.

::

    {"schema": "denv.weights/1", "stage": "http://stage.example.com/v1", "version": 7,
     "weights": [
       {"release": "chat-r8", "replica": "a", "url": "http://10.0.0.8/v1", "weight": 0.1},
       {"release": "chat-r7", "replica": "b", "url": "http://10.0.0.7/v1", "weight": 0.9}]}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from denv import strictjson

SCHEMA = "denv.weights/1"


class WeightsError(ValueError):
    """A text is no table of weights; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Weight:
    """The share of traffic of one replica, from 0 to 1."""

    release: str
    replica: str
    url: str
    weight: float


@dataclass(frozen=True, slots=True)
class Table:
    """All weights of a stage; a table of a higher version replaces one of a lower."""

    stage: str
    version: int
    weights: tuple[Weight, ...]

    def to_json(self) -> bytes:
        """Write the table as one line of strict JSON."""
        plain = {
            "schema": SCHEMA,
            "stage": self.stage,
            "version": self.version,
            "weights": [
                {"release": w.release, "replica": w.replica, "url": w.url, "weight": w.weight}
                for w in self.weights
            ],
        }
        return json.dumps(plain, allow_nan=False, ensure_ascii=True).encode() + b"\n"

    @classmethod
    def from_json(cls, text: bytes) -> Table:
        """Read a table; the order of keys and the way numbers are written do not matter.

        Raises
        ------
        WeightsError
            It is no table of this form.
        """
        try:
            plain = strictjson.loads(text)
        except strictjson.StrictJsonError as error:
            raise WeightsError(f"no strict JSON: {error}") from None
        if not isinstance(plain, dict) or plain.get("schema") != SCHEMA:
            raise WeightsError(f"no table of the form {SCHEMA}")
        stage, version, rows = plain.get("stage"), plain.get("version"), plain.get("weights")
        if not isinstance(stage, str) or type(version) is not int or not isinstance(rows, list):
            raise WeightsError("stage, version or weights are missing or of another type")
        return cls(stage=stage, version=version, weights=tuple(_weight(row) for row in rows))


def _weight(row: Any) -> Weight:
    if not isinstance(row, dict):
        raise WeightsError("a weight is not an object")
    release, replica, url, value = (row.get(n) for n in ("release", "replica", "url", "weight"))
    if not (isinstance(release, str) and isinstance(replica, str) and isinstance(url, str)):
        raise WeightsError("a weight lacks its release, replica or url")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WeightsError("a weight is not a number")
    try:
        weight = float(value)
    except OverflowError:
        raise WeightsError("a weight is beyond measure") from None
    if not isfinite(weight):
        raise WeightsError("a weight is not a number")
    return Weight(release, replica, url, weight=weight)


@dataclass(frozen=True, slots=True)
class Party:
    """A release with those of its replicas that take part, as (name, url)."""

    release: str
    replicas: Sequence[tuple[str, str]]


def table_of(
    stage: str,
    *,
    share: Fraction,
    newcomer: Party,
    incumbent: Party | None,
    version: int,
) -> Table:
    """Split traffic between a release and the incumbent, evenly within each.

    The rest of a first release, which has no incumbent, goes nowhere. Replicas of weight 0 stay
    in the table, so that who reads it knows that they are to get nothing.
    """
    rows = _rows(newcomer, share)
    if incumbent is not None:
        rows += _rows(incumbent, 1 - share)
    return Table(stage=stage, version=version, weights=tuple(rows))


def with_newcomers(table: Table | None, newcomer: Party, *, stage: str, version: int) -> Table:
    """Add those of a release's replicas that a table lacks, at weight 0; no other row changes.

    A router knows them then, and customers do not get to them.

    Raises
    ------
    WeightsError
        A name stands for another release's replica, or for one at another URL.
    """
    rows = () if table is None else table.weights
    there = {row.replica: row for row in rows}
    added = []
    for name, url in newcomer.replicas:
        row = there.get(name)
        if row is None:
            added.append(Weight(newcomer.release, name, url, 0.0))
        elif (row.release, row.url) != (newcomer.release, url):
            raise WeightsError(f"the name {name} stands for a replica of {row.release} already")
    return Table(stage=stage, version=version, weights=(*rows, *added))


def _rows(party: Party, share: Fraction) -> list[Weight]:
    each = float(share / len(party.replicas)) if party.replicas else 0.0
    return [Weight(party.release, name, url, each) for name, url in party.replicas]
