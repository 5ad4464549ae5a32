"""The instrument of derivations, from its probes to its document, without a socket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from denv.instruments.derivations import Comparison, oracle
from denv.instruments.derivations.instrument import Derivations
from denv.instruments.exchanges import exchange_of
from denv.instruments.probes import CHAT, Probe, SideFacts, play
from denv.records import Side
from denv.runner.proving import KillableOracle
from denv.schemas import schema
from tests.instruments.derivations.questions import shaken
from tests.instruments.paired.documents import FACTS, answering, document_of, measure
from tests.stubs.models import Said, Script, cut, declared, looping, script

compare = lru_cache(maxsize=None)(oracle.compare)
ONE_EACH = Derivations(compare, per_template=1)
BANK = ONE_EACH.items()
PROMPTS = [item.prompt for item in BANK]
COUNT = len(BANK)


def right(place: int) -> Said:
    return declared(BANK[place].truth)


def wrong(place: int) -> Said:
    return declared(shaken(BANK[place].truth)[0])


def first(parts: Mapping[Any, int]) -> Script:
    """Answer the first prompts as the parts say, and 15 of the others wrong, the rest right."""
    used = sum(parts.values())
    return script(PROMPTS, {**parts, wrong: 15, right: COUNT - used - 15})


FAIR = first({})


# ---------------------------------------------------------------- what is asked


def test_both_sides_are_asked_the_same():
    """Each problem is one greedy chat without logprobs, the same for both sides."""
    asked: dict[Side, list[Probe]] = {side: [] for side in Side}
    answer = answering(dict.fromkeys(Side, FAIR))

    def watch(probe: Probe):
        asked[probe.side].append(probe)
        return answer(probe)

    play(ONE_EACH.strand(FACTS), watch)
    stage, reference = (asked[side] for side in Side)
    assert [probe.body for probe in stage] == [probe.body for probe in reference]
    assert {probe.path for probe in stage} == {CHAT}
    assert [probe.body["messages"][0]["content"] for probe in stage if probe.body] == PROMPTS
    assert stage[0].body == {
        "messages": [{"role": "user", "content": PROMPTS[0]}],
        "temperature": 0,
        "seed": 0,
        "stream": False,
        "max_tokens": 4096,
    }


def test_settings_name_the_items():
    """All that decides what is asked and found stands in the settings, as strict JSON."""
    instrument = Derivations(compare, per_template=2, seed=3, fields=("algebra",), max_tokens=64)
    settings = instrument.settings()
    assert json.loads(json.dumps(settings, allow_nan=False)) == settings
    assert (settings["per_template"], settings["seed"]) == (2, 3)
    assert settings["fields"] == ["algebra"]
    assert {item.field for item in instrument.items()} == {"algebra"}
    cost = instrument.cost()[Side.REFERENCE]
    assert cost.requests == len(instrument.items()) == 2 * 15
    assert cost.completion_tokens == 30 * 64


# ---------------------------------------------------------------- known models


def test_known_figures_are_found():
    """Counts, bounds and pairs are those of the scripts.

    Of the first 20 items, which the reference has right, the stage has 5 cut off, 4 without a
    FINAL line, 3 in no notation, 2 in a loop and 6 wrong. The reference has 15 others wrong.
    """
    reference = script(PROMPTS, {right: COUNT - 15, wrong: 15})
    parts = {
        lambda _: cut(): 5,
        lambda _: Said((("It is 12.", -0.1),)): 4,
        lambda _: declared("I do not know"): 3,
        lambda _: looping(): 2,
    }
    lost = {**script(PROMPTS[:14], parts), **{PROMPTS[n]: wrong(n) for n in range(14, 20)}}
    document = measure(ONE_EACH, {**reference, **lost}, reference)
    ours = document["sides"]["stage"]
    states = ("truncated", "absent", "unreadable", "degenerate", "undecided", "unusable")
    assert [ours[state] for state in states] == [5, 4, 3, 2, 0, 0]
    assert (ours["right"], ours["wrong"]) == (COUNT - 15 - 20, 15 + 6)
    assert ours["accuracy_bounds"]["lower"] == pytest.approx((COUNT - 35) / COUNT)
    assert ours["accuracy_bounds"]["upper"] == pytest.approx((COUNT - 30) / COUNT)
    assert document["pairs"] == {
        "both": COUNT - 35, "reference_only": 15, "stage_only": 0, "neither": 15,
        "maybe_reference_only": 5, "maybe_stage_only": 0, "either_way": 0, "open": 5,
    }  # fmt: skip
    assert document["degenerate_rise"]["value"] == pytest.approx(2 / COUNT)
    assert document["verdict"] == "different"
    fields = document["by_field"]
    assert fields["algebra"]["both"] == 0
    assert sum(sum(table[k] for k in ("both", "reference_only", "neither", "open"))
               for table in fields.values()) == COUNT  # fmt: skip


def test_verdicts():
    """Equal answers are faithful, a lost fifth different, a cut fifth neither."""
    reference = script(PROMPTS, {right: COUNT - 15, wrong: 15})
    assert measure(ONE_EACH, reference, reference)["verdict"] == "faithful"
    lost = {PROMPTS[n]: wrong(n) for n in range(16)}
    assert measure(ONE_EACH, {**reference, **lost}, reference)["verdict"] == "different"
    open_ = {PROMPTS[n]: cut() for n in range(16)}
    assert measure(ONE_EACH, {**reference, **open_}, reference)["verdict"] == "undecided"
    floor = script(PROMPTS, {wrong: COUNT})
    assert measure(ONE_EACH, floor, floor)["reasons"][0].startswith("floor: the reference is right")


def test_undecided_answers_are_open():
    """What the oracle cannot decide is neither right nor wrong, and judged once for both sides."""
    calls = []

    def blind(answer, truth, form):
        calls.append((answer, truth))
        return Comparison("undecided", "the comparison took over 10 s of processor time")

    document = measure(Derivations(blind, per_template=1, fields=("algebra",)), FAIR, FAIR)
    assert document["sides"]["stage"]["undecided"] == 15
    assert document["pairs"]["either_way"] == 15
    assert (document["verdict"], len(calls)) == ("undecided", 15)
    assert document["items"][0]["stage"]["reason"].startswith("the comparison took over")


# ---------------------------------------------------------------- traces


def test_traces_stand_first():
    """The lengths come before the verdict, and a stage that stops working is warned of.

    The working is one line of 66 characters; a FINAL that is named in it ends nothing.
    """
    hasty = {prompt: declared(BANK[n].truth, working="") for n, prompt in enumerate(PROMPTS)}
    finding = play(ONE_EACH.strand(FACTS), answering({Side.STAGE: hasty, Side.REFERENCE: FAIR}))
    assert next(iter(finding.body)) == "traces"
    document = document_of(ONE_EACH, finding)
    traces = document["traces"]
    assert traces["reference"]["characters"]["median"] == 66
    assert traces["stage"]["short"]["value"] == 1.0
    assert traces["difference"]["characters"] == {
        "pairs": COUNT, "median": -66, "interval": [-66, -66],
    }  # fmt: skip
    assert document["warnings"][0].startswith("the stage answers without working")


def test_reasoning_alone_declares_nothing():
    """A FINAL line in the reasoning is no answer, in a field of its own or left in the content."""
    thought = f"I think:\nFINAL: {BANK[0].truth}"
    for said in (
        Said((), reasoning=thought),
        Said((("The sum is clear.", -0.1),), reasoning=thought),
        Said(((f"<think>{thought}\n</think>\nThat is it.", -0.1),)),
        Said(((f"<think>{thought}", -0.1),)),
    ):
        document = measure(ONE_EACH, {**FAIR, PROMPTS[0]: said}, FAIR)
        row = document["items"][0]["stage"]
        assert (row["state"], row["final"]) == ("absent", None)
        assert row["reasoning_characters"] >= len(thought)
        assert document["sides"]["stage"]["wrong"] == 14


# ---------------------------------------------------------------- hostile and broken

DIGITS = "".join(map(str, range(200_000)))  # over 10^6 of them
LOUD = "print('ran', file=__import__('sys').stderr)"

HOSTILE = {
    "code": (declared(LOUD), {"unreadable"}),
    "abort": (declared("__import__('os').abort()"), {"unreadable"}),
    "attributes": (declared("().__class__.__base__.__subclasses__()"), {"unreadable"}),
    "tower": (declared("9**9**9**9"), {"undecided"}),
    "latex tower": (declared("9^{9^{9^{9^{9}}}}"), {"undecided"}),
    "endless": (declared("sin(exp(exp(exp(3))))"), {"undecided"}),
    "factorials": (declared("((99!)^99)^99"), {"undecided"}),
    "digits": (declared(DIGITS), {"undecided"}),
    "nines": (declared("9" * 10**6), {"degenerate"}),
    "brackets": (declared("(" * 10**5 + "1"), {"undecided"}),
    "surrogate": (declared("\ud800"), {"unreadable"}),
    "control": (declared("\x1b[2J 3\u202e"), {"unreadable"}),
    "blank": (Said((("  \n ", -0.1),)), {"absent"}),
    "nothing declared": (declared(""), {"absent"}),
    "placeholder": (declared("<expr>"), {"absent"}),
    "empty": (exchange_of({"body": {"choices": []}}), {"unusable"}),
    "page": (exchange_of({"raw": "<html>Sorry</html>"}), {"unusable"}),
    "refused": (exchange_of({"status": 400, "raw": '{"error": "no"}'}), {"unusable"}),
}


@pytest.fixture(scope="module")
def killable():
    with KillableOracle(cpu_s=2) as comparing:
        yield comparing


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers(name, killable, capfd):
    """Answers that would run, or never end, cost bounded time and are what they are; never wrong.

    The oracle is the one in the process that can be killed, asked of a problem whose answer is
    one number.
    """
    said, states = HOSTILE[name]
    instrument = Derivations(killable, per_template=1, fields=("number theory",))
    place = next(n for n, item in enumerate(instrument.items()) if item.form.kind == "number")
    prompt = instrument.items()[place].prompt
    if isinstance(said, Said):  # as escapes, which a text that UTF-8 does not hold needs
        said = exchange_of({"raw": json.dumps(said.completion_without_logprobs())})
    quiet = dict.fromkeys(PROMPTS, Said((("I give up.", -0.1),)))
    document = measure(instrument, {**quiet, prompt: said}, quiet)
    assert document["items"][place]["stage"]["state"] in states
    assert document["sides"]["stage"]["wrong"] == 0
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    text.encode()
    assert len(text) < 100_000
    assert "ran" not in capfd.readouterr().err


# ---------------------------------------------------------------- gates and facts

CLOSED = {
    "schema": "denv.parity.gates/1",
    "admissible": {"derivations": False, "answers": True},
    "reasons": {"derivations": ["G5 serving path: traces of 4 characters"]},
}


def test_inadmissible_derivations_are_not_asked():
    """Where the gates close it, nothing is asked, and the document says why."""

    def never(probe: Probe):
        raise AssertionError(probe)

    instrument = Derivations(compare, gates=CLOSED)
    document = document_of(instrument, play(instrument.strand(FACTS), never))
    assert (document["verdict"], document["asked"], document["traces"]) == ("undecided", 0, None)
    assert document["reasons"] == [
        "the gates do not admit derivations: G5 serving path: traces of 4 characters"
    ]


def test_forced_it_warns():
    """Forced, it is measured, and the warnings say what stood in the way."""
    facts = {**FACTS, Side.REFERENCE: SideFacts(model="m", sampled=True)}
    instrument = Derivations(compare, per_template=1, gates=CLOSED, force=True)
    document = measure(instrument, FAIR, FAIR, facts=facts)
    assert document["verdict"] == "faithful"
    assert document["warnings"][0].startswith("the reference samples in spite of temperature 0")
    assert document["warnings"][1].startswith("forced although the gates do not admit derivations")


def test_the_schema_is_one():
    """The shipped schema is a valid one, and refuses a document without its traces."""
    Draft202012Validator.check_schema(schema("derivations-1"))
    document = dict(measure(ONE_EACH, FAIR, FAIR))
    del document["traces"]
    assert list(Draft202012Validator(schema("derivations-1")).iter_errors(document))
