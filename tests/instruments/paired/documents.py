"""A whole document of an instrument that was played without a socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from denv.instruments.exchanges import exchange_of
from denv.instruments.probes import Finding, Instrument, Probe, SideFacts, play
from denv.records import Exchange, Side
from denv.schemas import schema
from tests.stubs.models import Said, Script

FACTS = {side: SideFacts(model="m", concurrency=4) for side in Side}

SIDE = {"url": "http://127.0.0.1:1/v1", "name": None, "model": "m", "engine": None,
        "sampled": False, "concurrency": 4}  # fmt: skip


def answering(scripts: Mapping[Side, Script]) -> Callable[[Probe], Exchange]:
    """Answer probes as scripted servers would."""

    def answer(probe: Probe) -> Exchange:
        assert probe.body is not None
        said = scripts[probe.side][probe.body["messages"][-1]["content"]]
        if isinstance(said, Exchange):
            return said
        return exchange_of({"body": said.completion() if isinstance(said, Said) else said})

    return answer


def measure(
    instrument: Instrument,
    stage: Script,
    reference: Script,
    *,
    facts: Mapping[Side, SideFacts] = FACTS,
) -> Mapping[str, Any]:
    """Measure and give the whole document, which fits its schema."""
    scripts = {Side.STAGE: stage, Side.REFERENCE: reference}
    return document_of(instrument, play(instrument.strand(facts), answering(scripts)))


def document_of(instrument: Instrument, finding: Finding) -> Mapping[str, Any]:
    """Add what every document has, and hold it against the schema."""
    spent = {"requests": 0, "prompt_tokens": 0, "completion_tokens": 0}
    document = {
        "schema": instrument.schema,
        "measure": f"{instrument.name}-1",
        "started": "2026-11-30T12:00:00Z",
        "finished": "2026-11-30T12:01:00Z",
        "denv": {"version": "0", "python": "3"},
        "stage": SIDE,
        "reference": SIDE,
        "settings": dict(instrument.settings()),
        **finding.body,
        "spent": {"stage": spent, "reference": spent},
    }
    Draft202012Validator(schema(f"{instrument.name}-1")).validate(document)
    assert finding.exit_verdict == document["verdict"]
    return document
