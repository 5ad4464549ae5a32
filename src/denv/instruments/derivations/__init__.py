"""Derivations (T2): multi-step problems with computed truths, and an oracle for their answers.

``items`` makes the prompts, ``extract_final`` cuts the declared answer out of a text, ``score``
judges it with an oracle: ``oracle.compare`` here, or one that runs it in a killable process.
"""

from denv.instruments.derivations.bank import FIELDS, items
from denv.instruments.derivations.final import extract_final
from denv.instruments.derivations.forms import Form, Item
from denv.instruments.derivations.scoring import (
    Comparison,
    Oracle,
    Outcome,
    Result,
    Scored,
    score,
)

__all__ = [
    "FIELDS",
    "Comparison",
    "Form",
    "Item",
    "Oracle",
    "Outcome",
    "Result",
    "Scored",
    "extract_final",
    "items",
    "score",
]
