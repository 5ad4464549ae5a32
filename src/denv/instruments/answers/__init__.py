"""Answers (T1, T1b): integer questions to both sides, with and without leave to be unsure.

``Answers`` is the instrument. ``items`` gives the bank, ``Item.prompt`` what is asked,
``read_answer`` what became of it on one side, ``assess`` the verdict on both.
"""

from __future__ import annotations

from denv.instruments.answers.bank import Condition, Item, items
from denv.instruments.answers.confidence import Confidence, measure_confidence
from denv.instruments.answers.extract import Absent, Given, Unsure, extract_answer
from denv.instruments.answers.instrument import Answers
from denv.instruments.answers.readings import Reading, State, read_answer
from denv.instruments.answers.scoring import Assessment, ConditionResult, assess
from denv.instruments.paired.judging import Settings, Verdict

__all__ = [
    "Absent",
    "Answers",
    "Assessment",
    "Condition",
    "ConditionResult",
    "Confidence",
    "Given",
    "Item",
    "Reading",
    "Settings",
    "State",
    "Unsure",
    "Verdict",
    "assess",
    "extract_answer",
    "items",
    "measure_confidence",
    "read_answer",
]
