"""Each fault decided from a pair of exchanges, as a run decides it once they are recorded."""

from __future__ import annotations

import dataclasses
import json
from functools import partial

import pytest

from denv.checks.regex import search_within
from denv.encode import DEFAULT_MAX_TOKENS
from denv.observe import observe
from denv.outcome import Answer, decide
from denv.records import Side
from denv.suite import load_suite
from tests.faults.rows import differences, exchange, tries

TRIES = tries()


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Load all cases from one suite file."""
    path = tmp_path_factory.mktemp("faults") / "suite.jsonl"
    path.write_text("".join(f"{one.suite_line}\n" for one in TRIES), "utf-8")
    return {case.id: case for case in load_suite(path).iter_cases()}


def answered(given, case, *, streamed):
    sent = case.fields.get("max_tokens", DEFAULT_MAX_TOKENS)
    return [Answer(observe(exchange(one, streamed=streamed)), sent) for one in given]


@pytest.mark.parametrize("one", TRIES, ids=lambda one: one.id)
def test_pair_is_decided_right(cases, one):
    """What a server did wrong is seen, and nothing else is held against it."""
    case = cases[one.id]
    result = decide(
        case,
        stage=answered(one.stage, case, streamed=one.streamed),
        reference=answered(one.reference, case, streamed=one.streamed),
        search=partial(search_within, timeout_s=0.2),
        sampled=frozenset(map(Side, one.sampled)),
    )
    found = json.loads(json.dumps(dataclasses.asdict(result), allow_nan=False, default=str))
    assert differences(one.right, found) == []
