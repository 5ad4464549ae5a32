"""Gates: what must hold of both sides before a measurement of them can mean anything."""

from denv.instruments.gates.gates import Gates
from denv.instruments.gates.model import Check, Gate, State

__all__ = ["Check", "Gate", "Gates", "State"]
