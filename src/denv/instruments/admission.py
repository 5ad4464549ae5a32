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


def refusal_of(gates: Mapping[str, Json] | None, name: str) -> str | None:
    """Say why the gates do not allow a measurement, None where they do or were not asked."""
    if gates is None or is_admissible(gates, name):
        return None
    reasons = gates.get("reasons")
    listed = reasons.get(name) if isinstance(reasons, dict) else None
    said = [str(one)[:_CLIP] for one in listed] if isinstance(listed, list) else []
    return f"the gates do not admit {name}" + (f": {'; '.join(said)}" if said else "")


def gate_warnings(
    gates: Mapping[str, Json] | None, name: str, *, facts: Mapping[Side, SideFacts]
) -> list[str]:
    """Say what the gates cast doubt on in a measurement that is made all the same."""
    if gates is None:
        return []
    refusal = refusal_of(gates, name)
    found = [] if refusal is None else [f"forced although {refusal}"]
    for side in Side:
        named = gates.get(side.value)
        model = named.get("model") if isinstance(named, dict) else None
        if model is not None and model != facts[side].model:
            found.append(
                f"the gates were asked of another model of the {side}: {str(model)[:_CLIP]}"
            )
    return found
