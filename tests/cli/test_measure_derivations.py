"""``denv parity measure derivations``, against stub servers in a model's place.

The servers are scripted, so that what is right, unreadable and cut off is known; what they write
is judged by the real oracle in its own process.
"""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from denv.instruments.derivations import items
from denv.schemas import schema
from tests.instruments.derivations.questions import shaken
from tests.stubs.models import cut, declared, model, script

SEED = 20_250
BANK = items(SEED)
PROMPTS = [item.prompt for item in BANK]
COUNT = len(BANK)
SMALL = ("--per-template", 1, "--concurrency", 8, "--retries", 0)


def right(place):
    return declared(BANK[place].truth)


def wrong(place):
    return declared(shaken(BANK[place].truth)[0])


FAIR = script(PROMPTS, {right: COUNT - 15, wrong: 15})


@pytest.fixture
def ask(denv, serve):
    """Run the command between two scripted models."""

    async def run(stage, reference, *options):
        ours, theirs = await serve(model(stage)), await serve(model(reference))
        ended = await denv(
            "parity", "measure", "derivations", "--stage", ours.url, "--reference", theirs.url,
            *SMALL, *options,
        )  # fmt: skip
        return ended, ours, theirs

    return run


async def test_a_faithful_stage(ask, tmp_path):
    """Cost first, then lengths before the verdict on standard error; document and page in files."""
    ended, ours, theirs = await ask(
        FAIR, FAIR, "--json", tmp_path / "d.json", "--html", tmp_path / "d.html"
    )
    assert (ended.code, ended.out) == (0, ""), ended.err
    assert ended.lines[0].startswith(f"stage: at most {COUNT} requests, ")
    assert ended.err.index("characters, median") < ended.err.index("FAITHFUL")
    document = json.loads((tmp_path / "d.json").read_text("utf-8"))
    Draft202012Validator(schema("derivations-1")).validate(document)
    keys = list(document)
    assert keys.index("traces") < keys.index("verdict")
    assert document["sides"]["stage"]["right"] == COUNT - 15
    assert "By field" in (tmp_path / "d.html").read_text("utf-8")
    sent = [[seen.body for seen in stub.seen if seen.method == "POST"] for stub in (ours, theirs)]
    assert sorted(sent[0]) == sorted(sent[1])


async def test_a_stage_that_lost_answers(ask):
    """A fifth lost is different; hostile, unreadable and cut answers are told apart from wrong."""
    told = {
        **FAIR,
        **{PROMPTS[n]: wrong(n) for n in range(14)},
        PROMPTS[14]: declared("__import__('os').abort()"),
        PROMPTS[15]: declared("9**9**9**9"),
        PROMPTS[16]: declared("7" * 100 + "12" * 2_000),
        PROMPTS[17]: cut(),
    }
    ended, *_ = await ask(told, FAIR, "--json", "-", "--quiet")
    document = json.loads(ended.out)
    ours = document["sides"]["stage"]
    assert (ours["right"], ours["wrong"]) == (COUNT - 15 - 18, 15 + 14)
    assert ours["truncated"] == 1
    assert ours["unreadable"] + ours["undecided"] + ours["degenerate"] == 3
    assert (ended.code, document["verdict"]) == (1, "different")


async def test_fields_and_the_floor(ask):
    """Problems of the named fields alone are asked, in the bank's order; the floor is exit 3."""
    floor = script(PROMPTS, {wrong: COUNT})
    ended, ours, _ = await ask(floor, floor, "--fields", "probability,algebra", "--json", "-")
    document = json.loads(ended.out)
    assert document["settings"]["fields"] == ["algebra", "probability"]
    assert list(document["by_field"]) == ["algebra", "probability"]
    assert document["asked"] == ours.chats - 1 == 32
    assert ended.code == 3
    assert document["reasons"][0].startswith("floor: the reference is right in 0.0 %")


async def test_gates_close_it(ask, tmp_path):
    """A document that does not admit derivations: nothing is asked, exit 3."""
    gates = tmp_path / "gates.json"
    gates.write_text(json.dumps({"schema": "denv.parity.gates/1", "admissible": {}}))
    ended, ours, _ = await ask(FAIR, FAIR, "--gates", gates)
    assert ended.code == 3
    assert "the gates do not admit derivations" in ended.err
    assert ours.chats == 1  # the preflight's


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fields", "algebra,topology"), "--fields: no field 'topology'; there are algebra, "),
        (("--per-template", "0"), "--per-template"),
        (("--confidence", "0.5"), "--confidence 0.5: must be at least 95 %"),
        (("--max-tokens", "0"), "--max-tokens"),
    ],
)
async def test_what_is_asked_for_wrongly(denv, options, said):
    """One line that names the option, exit 2, and nothing is sent."""
    url = "http://127.0.0.1:9/v1"
    ended = await denv(
        "parity", "measure", "derivations", "--stage", url, "--reference", url, *options
    )
    assert (ended.code, len(ended.lines)) == (2, 1)
    assert said in ended.lines[0]
