"""``denv parity measure answers``, against stub servers in a model's place.

The servers are scripted: how often each is right, how sure it is, and what is cut off is known,
so that the command must find exactly that.
"""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from denv.instruments.answers import Condition, items
from denv.schemas import schema
from tests.stubs import answers
from tests.stubs.models import answered, cut, looping, model, script, unsure

COUNT = 80
BANK = items(count=COUNT)
PROMPTS = [item.prompt(Condition.FORCED) for item in BANK]
FORCED = ("--items", COUNT, "--condition", "forced", "--concurrency", 8, "--retries", 0)


def right(place):
    return answered(BANK[place].truth, logprob=-0.1)


def wrong(place):
    return answered(BANK[place].truth + 1, logprob=-0.7)


FAIR = script(PROMPTS, {right: 65, wrong: 15})


@pytest.fixture
def ask(denv, serve):
    """Run the command between two scripted models."""

    async def run(stage, reference, *options):
        ours, theirs = await serve(model(stage)), await serve(model(reference))
        ended = await denv(
            "parity", "measure", "answers", "--stage", ours.url, "--reference", theirs.url,
            *FORCED, *options,
        )  # fmt: skip
        return ended, ours, theirs

    return run


async def test_a_faithful_stage(ask, tmp_path):
    """Cost first, then lengths before the verdict on standard error; document and page in files."""
    ended, ours, theirs = await ask(
        FAIR, FAIR, "--json", tmp_path / "a.json", "--html", tmp_path / "a.html"
    )
    assert (ended.code, ended.out) == (0, "")
    assert ended.lines[0].startswith("stage: at most 80 requests, ")
    assert ended.err.index("characters, median") < ended.err.index("FAITHFUL")
    document = json.loads((tmp_path / "a.json").read_text("utf-8"))
    Draft202012Validator(schema("answers-1")).validate(document)
    keys = list(document)
    assert keys.index("traces") < keys.index("verdict")
    assert document["spent"]["stage"]["requests"] == COUNT
    sides = document["conditions"]["forced"]["sides"]
    assert (sides["stage"]["right"], sides["stage"]["auroc"]["value"]) == (65, 1.0)
    page = (tmp_path / "a.html").read_text("utf-8")
    assert "<svg" in page
    assert "Both sides on the same items" in page
    sent = [[seen.body for seen in stub.seen if seen.method == "POST"] for stub in (ours, theirs)]
    assert sorted(sent[0]) == sorted(sent[1])


async def test_a_stage_that_lost_answers(ask):
    """20 of 65 right answers lost are different; loops and cuts are told apart from wrong ones."""
    loops = {PROMPTS[n]: looping() for n in range(3)}
    cuts = {PROMPTS[n]: cut() for n in range(60, 63)}
    worse = {**FAIR, **{PROMPTS[n]: wrong(n) for n in range(3, 20)}, **loops, **cuts}
    ended, *_ = await ask(worse, FAIR, "--json", "-", "--quiet")
    document = json.loads(ended.out)
    ours = document["conditions"]["forced"]["sides"]["stage"]
    assert (ours["right"], ours["wrong"]) == (65 - 20 - 3, 15 + 17)
    assert (ours["degenerate"], ours["truncated"]) == (3, 3)
    assert document["conditions"]["forced"]["pairs"]["reference_only"] == 20
    assert (ended.code, document["verdict"]) == (1, "different")


async def test_what_cannot_be_told(ask):
    """A model at the floor, and a side that does not answer, are undecided: exit 3."""
    floor = script(PROMPTS, {right: 4, wrong: 76})
    ended, *_ = await ask(floor, floor)
    assert ended.code == 3
    assert "floor: the reference is right in 5.0 %" in ended.err
    broken = {**FAIR, **dict.fromkeys(PROMPTS[:12], lambda: answers.error(500, "out of memory"))}
    ended, *_ = await ask(broken, FAIR)
    assert ended.code == 3
    assert "12 of 80 pairs are open" in ended.err
    assert "12 answers of the stage: HTTP 500" in ended.err


async def test_both_conditions_are_asked(denv, serve):
    """Without the option each item is asked twice, and UNSURE is counted where it is allowed."""
    told = {
        item.prompt(condition): unsure() if condition is Condition.UNSURE and n < 10 else right(n)
        for n, item in enumerate(BANK)
        for condition in Condition
    }
    stub = await serve(model(told))
    ended = await denv(
        "parity", "measure", "answers", "--stage", stub.url, "--reference", stub.url,
        "--items", 20, "--json", "-",
    )  # fmt: skip
    document = json.loads(ended.out)
    assert list(document["conditions"]) == ["forced", "unsure"]
    assert document["conditions"]["unsure"]["sides"]["reference"]["unsure"] == 10
    assert document["spent"]["reference"]["requests"] == 40
    assert ended.code == 3  # all right where they answer: the ceiling


async def test_gates_close_it(ask, tmp_path):
    """A document that does not admit answers: nothing is asked, exit 3; forced, it warns."""
    gates = tmp_path / "gates.json"
    gates.write_text(json.dumps({
        "schema": "denv.parity.gates/1", "admissible": {"answers": False},
        "reasons": {"answers": ["G3 template: the prompts part"]},
    }))  # fmt: skip
    ended, ours, _ = await ask(FAIR, FAIR, "--gates", gates)
    assert ended.code == 3
    assert "the gates do not admit answers: G3 template: the prompts part" in ended.err
    assert ours.chats == 1  # the preflight's
    ended, *_ = await ask(FAIR, FAIR, "--gates", gates, "--force")
    assert ended.code == 0
    assert "forced although the gates do not admit answers" in ended.err


async def test_resuming_asks_nothing_again(denv, serve, ask):
    """The items' seed and number are settings: the same measurement goes on, another does not."""
    ended, ours, theirs = await ask(FAIR, FAIR)
    name = next(word for word in ended.err.split() if word.startswith("answers-"))
    again = ("--stage", ours.url, "--reference", theirs.url, "--resume", name)
    before = ours.chats
    ended = await denv("parity", "measure", "answers", *again, *FORCED)
    assert (ended.code, ours.chats) == (0, before + 1)
    ended = await denv("parity", "measure", "answers", *again, *FORCED, "--seed", 7)
    assert ended.code == 2
    assert "these have changed: instrument.seed" in ended.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--margin", "0"), "--margin 0: must lie between 0 % and 100 %"),
        (("--margin", "x"), "--margin"),
        (("--confidence", "90%"), "--confidence 90%: must be at least 95 %"),
        (("--confidence", "100%"), "--confidence 100%: must lie between 0 % and 100 %"),
        (("--gates", "nowhere.json"), "--gates nowhere.json: No such file or directory"),
        (("--items", "0"), "--items"),
        (("--condition", "any"), "--condition"),
    ],
)
async def test_what_is_asked_for_wrongly(denv, options, said):
    """One line that names the option, exit 2, and nothing is sent."""
    url = "http://127.0.0.1:9/v1"
    ended = await denv("parity", "measure", "answers", "--stage", url, "--reference", url, *options)
    assert (ended.code, len(ended.lines)) == (2, 1)
    assert said in ended.lines[0]


async def test_another_document_is_no_gates(denv, tmp_path):
    """A document of another schema is refused by name."""
    other = tmp_path / "other.json"
    other.write_text('{"schema": "denv.parity.tokens/1"}')
    url = "http://127.0.0.1:9/v1"
    ended = await denv(
        "parity", "measure", "answers", "--stage", url, "--reference", url, "--gates", other
    )
    assert ended.lines == [f"denv: --gates {other}: not a document of denv.parity.gates/1"]
