"""The five checks on recorded answers: each passes what meets it and fails what does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from denv.checks.regex import search_within
from denv.observe import observe
from denv.outcome import Answer, decide
from denv.suite import load_suite
from tests.faults.rows import exchange

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "checks" / "answers.jsonl")
    .read_text("utf-8")
    .split("\n")[:-1]
]
CHECKS = {"equals", "contains", "regex", "tool-call", "logprobs-close"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_check_holds(tmp_path, row):
    """An answer that meets its check passes, and one that does not fails."""
    line = {"id": row["id"], **row["case"]}
    path = tmp_path / "suite.jsonl"
    path.write_text(json.dumps(line) + "\n", "utf-8")
    [case] = load_suite(path).iter_cases()
    stage, reference = (
        Answer(observe(exchange(row[side], streamed=False)), 4096)
        for side in ("stage", "reference")
    )
    result = decide(case, stage=[stage], reference=[reference], search=search_within)
    assert result.outcome.value == row["outcome"]
    assert result.check == next(iter(row["case"]["expect"]))


def test_every_check_is_seen_both_ways():
    """Each check has answers that pass and answers that fail."""
    seen = {(next(iter(row["case"]["expect"])), row["outcome"]) for row in ROWS}
    assert {(check, outcome) for check in CHECKS for outcome in ("pass", "fail")} <= seen
