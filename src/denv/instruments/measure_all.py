"""All measurements in the order from the cheapest and strongest on, as one document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from denv.instruments.probes import Cost, Finding, Instrument, SideFacts, Strand
from denv.records import Json, Side

LOOKS = ("tokens", "answers", "derivations")

Admitted = Callable[[Mapping[str, Json] | None, float], Instrument]
"""(gates document, None before they are asked; alpha of this look) → the instrument."""


@dataclass(frozen=True, slots=True)
class All:
    """Gates, tokens, answers and derivations, with the number of looks accounted for.

    Each of the three looks decides at ``alpha / 3`` (Bonferroni), so that a stage within all
    margins is called different by chance in at most ``alpha`` of such measurements. ``faithful``
    needs all three to say so. ``looks`` builds each instrument, by its name, once the gates are
    known; ``force`` measures what the gates do not admit.
    """

    gates: Instrument
    looks: Mapping[str, Admitted]
    alpha: float = 0.05
    force: bool = False

    name = "all"
    schema = "denv.parity.measure/1"

    def settings(self) -> Mapping[str, Json]:
        """Give all that decides what is asked and found."""
        return {
            "alpha": self.alpha,
            "alpha_each": self._each,
            "force": self.force,
            "gates": dict(self.gates.settings()),
            **{name: dict(self._look(name, None).settings()) for name in LOOKS},
        }

    def cost(self) -> Mapping[Side, Cost]:
        """Estimate what will be asked, at the most."""
        parts = [self.gates.cost(), *(self._look(name, None).cost() for name in LOOKS)]
        return {side: sum((part.get(side, Cost()) for part in parts), Cost()) for side in Side}

    def strand(self, facts: Mapping[Side, SideFacts]) -> Strand[Finding]:
        """Ask gate by gate, then measure what they admit."""
        gates: Mapping[str, Any] = (yield from self.gates.strand(facts)).body
        stopped = None if self.force else _stop(gates)
        findings: dict[str, Finding] = {}
        for name in LOOKS if stopped is None else ():
            findings[name] = yield from self._look(name, gates).strand(facts)
        return self._finding(gates, findings, stopped)

    @property
    def _each(self) -> float:
        return self.alpha / len(LOOKS)

    def _look(self, name: str, gates: Mapping[str, Json] | None) -> Instrument:
        return self.looks[name](gates, self._each)

    def _finding(
        self, gates: Mapping[str, Json], findings: Mapping[str, Finding], stopped: str | None
    ) -> Finding:
        verdict, reasons = _verdict(findings, stopped)
        parts = {name: dict(findings[name].body) if name in findings else None for name in LOOKS}
        body = {
            "verdict": verdict,
            "reasons": reasons,
            "stopped": stopped,
            "looks": {
                "number": len(LOOKS),
                "alpha": self.alpha,
                "alpha_each": self._each,
                "method": "bonferroni",
            },
            "gates": dict(gates),
            **parts,
        }
        return Finding(verdict, body)


def _stop(gates: Mapping[str, Any]) -> str | None:
    """Say why nothing is measured where the gates admit none of it."""
    if any(gates["admissible"][name] for name in LOOKS):
        return None
    failing = [f"{g['id']} {g['name']}: {g['finding']}" for g in gates["gates"] if _fails(g)]
    return "; ".join(failing) or "the gates admit none of the measurements"


def _fails(gate: Mapping[str, Json]) -> bool:
    return bool(gate["state"] == "fail")


def _verdict(findings: Mapping[str, Finding], stopped: str | None) -> tuple[str, list[str]]:
    if stopped is not None:
        return "undecided", [f"nothing was measured: {stopped}"]
    words = {name: finding.exit_verdict for name, finding in findings.items()}
    reasons = [f"{name}: {word}{_why(findings[name])}" for name, word in words.items()]
    return _worst(list(words.values())), reasons


def _worst(words: Sequence[str]) -> str:
    if "different" in words:
        return "different"
    return "faithful" if set(words) == {"faithful"} else "undecided"


def _why(finding: Finding) -> str:
    reasons = finding.body.get("reasons")
    return f" ({reasons[0]})" if isinstance(reasons, list) and reasons else ""
