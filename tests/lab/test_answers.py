"""Answers and derivations of a real model on a real llama.cpp server.

The small model gets next to nothing of either bank right, so that no verdict but *undecided, at
the floor* is true of it. Known accuracies are recovered from scripted servers, in
``tests/cli/test_measure_answers.py`` and ``test_measure_derivations.py``: stubs, since no model
that a test machine can run has an accuracy that is known.
"""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from denv.instruments.answers import Answers
from denv.instruments.derivations.instrument import Derivations
from denv.records import Endpoint
from denv.runner import run_measure
from denv.runner.proving import KillableOracle
from denv.schemas import schema
from denv.store import open_store
from tests.stubs import StubServer
from tests.stubs.models import declared, model

pytestmark = pytest.mark.lab


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Open a store in a fresh data folder."""
    monkeypatch.setenv("DENV_HOME", str(tmp_path / "home"))
    opened = open_store(tmp_path / "home")
    yield opened
    opened.close()


async def measure(instrument, stage, reference, *, store):
    """Measure two servers by their URLs; the document fits its schema, and nothing is decided."""
    sides = [Endpoint(url=url, concurrency=4) for url in (stage, reference)]
    measured = await run_measure(instrument, stage=sides[0], reference=sides[1], store=store)
    Draft202012Validator(schema(f"{instrument.name}-1")).validate(measured.document)
    assert measured.exit_verdict == "undecided"
    return measured.document


def check_side(side, asked):
    """Every item is in one state, and none was lost on the way."""
    states = [value for value in side.values() if isinstance(value, int)]
    assert side["items"] == asked
    assert sum(states) - side["items"] - side.get("with_confidence", 0) == asked
    assert (side["unusable"], side["unusable_reasons"]) == (0, [])


@pytest.mark.slow
async def test_answers_of_a_real_model(lab_server, store):
    """Three questions in both conditions: the floor, with counts and lengths that add up."""
    instrument = Answers(items=3, max_tokens=32)
    document = await measure(instrument, lab_server.url, lab_server.url, store=store)
    assert document["asked"] == 3
    assert document["spent"]["stage"]["requests"] == 6
    assert all("floor: " in reason for reason in document["reasons"])
    for name, part in document["conditions"].items():
        for side in ("stage", "reference"):
            check_side(part["sides"][side], 3)
            lengths = document["traces"][name][side]
            assert lengths["tokens"]["answers"] == 3
            assert 0 < lengths["tokens"]["longest"] <= 32
            assert lengths["reasoning_characters"]["longest"] == 0
        given = [row["stage"] for row in part["items"] if row["stage"]["value"] is not None]
        assert all(one["logprob"] is not None for one in given)
    total = sum(row["stage"]["tokens"] for part in document["conditions"].values()
                for row in part["items"])  # fmt: skip
    assert total == document["spent"]["stage"]["completion_tokens"]


@pytest.mark.slow
async def test_derivations_of_a_real_model(lab_server, store):
    """A reference at the floor decides nothing, though the stage, a stub, has all of it right.

    With a short budget most answers of the real model are cut off, and none of these is wrong.
    """
    with KillableOracle() as oracle:
        instrument = Derivations(oracle, per_template=1, fields=("algebra",), max_tokens=8)
        told = {item.prompt: declared(item.truth) for item in instrument.items()}
        async with StubServer(model(told)) as stub:
            document = await measure(instrument, stub.url, lab_server.url, store=store)
    asked, sides = document["asked"], document["sides"]
    assert asked == document["spent"]["reference"]["requests"] == len(told)
    assert sides["stage"]["right"] == asked
    check_side(sides["reference"], asked)
    assert sides["reference"]["truncated"] > asked / 2
    assert sides["reference"]["wrong"] + sides["reference"]["right"] < asked / 2
    assert document["pairs"]["maybe_stage_only"] == sides["reference"]["truncated"]
    assert document["traces"]["reference"]["tokens"]["longest"] == 8
    (reason,) = document["reasons"]
    assert reason.startswith("floor: ") or reason == "no answer of the reference is known"
