"""Statistics with exact right values, each with the source that gave them."""

import json
from pathlib import Path

HALF_A_DIGIT = 5.001e-9
"""The recorded values are rounded to eight places."""


def recorded(name: str) -> dict:
    """Give the input and the expected value recorded under ``name``."""
    for file in sorted((Path(__file__).parent / "data").glob("statistics_*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            case: dict = json.loads(line)
            if case["id"] == name:
                return case
    raise KeyError(name)
