"""A whole measurement between synthetic engines, without a socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from denv.instruments.probes import Finding, SideFacts, play
from denv.instruments.tokens import SCHEMA, Tokens
from denv.records import Side
from denv.schemas import schema
from tests.instruments.tokens.synthetic import Engine, both

FACTS = {side: SideFacts(model="m", concurrency=4) for side in Side}
SMALL: dict[str, Any] = {
    "texts": 10,
    "max_tokens": 12,
    "categories": ("prose", "code"),
    "resamples": 499,
}

SIDE = {"url": "http://127.0.0.1:1/v1", "name": None, "model": "m", "engine": None,
        "sampled": False, "concurrency": 4}  # fmt: skip


def measure(
    stage: Engine, reference: Engine, *, facts: Mapping[Side, SideFacts] = FACTS, **settings: Any
) -> Mapping[str, Any]:
    """Measure and give the whole document, which fits its schema."""
    instrument = Tokens(**{**SMALL, **settings})
    finding = play(instrument.strand(facts), both(stage, reference))
    return document_of(instrument, finding)


def document_of(instrument: Tokens, finding: Finding) -> Mapping[str, Any]:
    """Add what every document has, and hold it against the schema."""
    spent = {"requests": 0, "prompt_tokens": 0, "completion_tokens": 0}
    document = {
        "schema": SCHEMA,
        "measure": "tokens-1",
        "started": "2026-11-30T12:00:00Z",
        "finished": "2026-11-30T12:01:00Z",
        "denv": {"version": "0", "python": "3"},
        "stage": SIDE,
        "reference": SIDE,
        "settings": dict(instrument.settings()),
        **finding.body,
        "spent": {"stage": spent, "reference": spent},
    }
    Draft202012Validator(schema("tokens-1")).validate(document)
    assert finding.exit_verdict == document["verdict"]
    return document
