"""What an instrument does with the gates' document: refuse, or warn where it is forced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from denv.instruments.probes import SideFacts
from denv.records import Json, Side

GATES_SCHEMA = "denv.parity.gates/1"

_CLIP = 200
"""Code points of a reason or a name that are repeated: the document is a file of the user's."""


def is_admissible(gates: Mapping[str, Any], name: str) -> bool:
    """Tell whether a gates document allows a measurement; one that does not say so does not."""
    admissible = gates.get("admissible")
    return isinstance(admissible, dict) and admissible.get(name) is True


def refusals_of(
    gates: Mapping[str, Json] | None, name: str, *, facts: Mapping[Side, SideFacts]
) -> list[str]:
    """Say why a measurement means nothing by the gates; nothing where they were not asked.

    What they do not admit is refused, and so is a document that was found on other servers or
    models: it says nothing of these.
    """
    if gates is None:
        return []
    found = [] if is_admissible(gates, name) else [_why_not(gates, name)]
    for side in Side:
        found += _elsewhere(gates.get(side.value), facts[side], side)
    return found


def gate_warnings(
    gates: Mapping[str, Json] | None, name: str, *, facts: Mapping[Side, SideFacts]
) -> list[str]:
    """Say what the gates cast doubt on in a measurement that is made all the same."""
    return [f"forced although {each}" for each in refusals_of(gates, name, facts=facts)]


def _why_not(gates: Mapping[str, Json], name: str) -> str:
    reasons = gates.get("reasons")
    listed = reasons.get(name) if isinstance(reasons, dict) else None
    said = [str(one)[:_CLIP] for one in listed] if isinstance(listed, list) else []
    return f"the gates do not admit {name}" + (f": {'; '.join(said)}" if said else "")


def _elsewhere(asked: Json, facts: SideFacts, side: Side) -> list[str]:
    """Say in what the side that the gates asked is another one; what is not told is not."""
    told = asked if isinstance(asked, dict) else {}
    pairs = (
        ("URL", told.get("url"), facts.url),
        ("model", told.get("model"), facts.model),
    )
    return [
        f"the gates asked another {side}: its {what} is {there[:_CLIP]}, here it is {here}"
        for what, there, here in pairs
        if isinstance(there, str) and here is not None and _plain(there) != _plain(here)
    ]


def _plain(name: str) -> str:
    return name.rstrip("/")
