"""The instrument of answers, from its probes to its document, without a socket."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from denv.instruments.answers import Answers, Condition, items
from denv.instruments.exchanges import exchange_of
from denv.instruments.probes import CHAT, Probe, SideFacts, play
from denv.records import Side
from denv.schemas import schema
from tests.instruments.paired.documents import FACTS, answering, document_of, measure
from tests.stubs.models import Said, Script, answered, cut, looping, model, script, unsure

COUNT = 100
BANK = items(count=COUNT)
FORCED = Answers(items=COUNT, conditions=(Condition.FORCED,))
PROMPTS = [item.prompt(Condition.FORCED) for item in BANK]


def right(place: int) -> Said:
    """Be right, surely and unsurely in turn."""
    return answered(BANK[place].truth, logprob=-0.1 if place % 2 else -0.9)


def wrong(place: int) -> Said:
    return answered(BANK[place].truth + 1, logprob=-0.5)


def both_prompts(say) -> Script:
    """Answer the same in both conditions."""
    return {
        item.prompt(condition): say(place)
        for place, item in enumerate(BANK)
        for condition in Condition
    }


FAIR = script(PROMPTS, {right: 80, wrong: 20})


def forced(stage: Script, reference: Script = FAIR, **settings: Any) -> dict[str, Any]:
    """Measure in the forced condition and give its part of the document."""
    instrument = Answers(items=COUNT, conditions=(Condition.FORCED,), **settings)
    found: dict[str, Any] = measure(instrument, stage, reference)["conditions"]["forced"]
    return found


# ---------------------------------------------------------------- what is asked


def test_both_sides_are_asked_the_same():
    """Each item in each condition is one greedy chat with logprobs, the same for both sides."""
    asked: dict[Side, list[Probe]] = {side: [] for side in Side}
    answer = answering(dict.fromkeys(Side, both_prompts(right)))

    def watch(probe: Probe):
        asked[probe.side].append(probe)
        return answer(probe)

    play(Answers(items=COUNT).strand(FACTS), watch)
    stage, reference = (asked[side] for side in Side)
    assert [probe.body for probe in stage] == [probe.body for probe in reference]
    assert {probe.path for probe in stage} == {CHAT}
    assert len(stage) == 2 * COUNT
    assert stage[0].body == {
        "messages": [{"role": "user", "content": PROMPTS[0]}],
        "temperature": 0,
        "seed": 0,
        "stream": False,
        "max_tokens": 1024,
        "logprobs": True,
        "top_logprobs": 5,
    }


def test_cost_is_no_less_than_what_is_asked():
    """Requests are exact; prompt tokens of 40 characters are no fewer than a real count."""
    cost = Answers(items=10, max_tokens=64).cost()[Side.STAGE]
    assert (cost.requests, cost.completion_tokens) == (20, 20 * 64)
    assert cost.prompt_tokens > 20 * 64


def test_settings_name_the_items():
    """All that decides what is asked and found stands in the settings, as strict JSON."""
    settings = Answers(items=7, seed=3, alpha=0.0125).settings()
    assert json.loads(json.dumps(settings, allow_nan=False)) == settings
    assert (settings["items"], settings["seed"], settings["confidence"]) == (7, 3, 0.9875)


# ---------------------------------------------------------------- known models


def test_known_figures_are_found():
    """Rates, confidence and paired counts are those of the scripts.

    Of 100 items the reference is right in 80. The stage is right in 70 of these, wrong in 26
    and cut off in 4 that both got wrong. Confidences of right answers lie half above and half
    below those of the wrong ones: the area is 1/2.
    """
    stage = script(PROMPTS, {right: 70, wrong: 26, lambda _: cut(): 4})
    found = forced(stage)
    sides = found["sides"]
    assert sides["reference"]["accuracy"]["count"] == 80
    assert (sides["stage"]["right"], sides["stage"]["wrong"]) == (70, 26)
    assert sides["stage"]["truncated"] == 4
    assert sides["stage"]["accuracy_bounds"] == {
        "lower": 0.70, "upper": 0.74, "complete_case": pytest.approx(70 / 96),
    }  # fmt: skip
    assert found["pairs"] == {
        "both": 70, "reference_only": 10, "stage_only": 0, "neither": 16,
        "maybe_reference_only": 0, "maybe_stage_only": 4, "either_way": 0, "open": 4,
    }  # fmt: skip
    assert found["drop"]["value"] == pytest.approx(10 / 96)
    assert sides["stage"]["answered_and_wrong"]["value"] == 0.26
    assert sides["stage"]["auroc"]["value"] == 0.5
    assert (sides["stage"]["auroc"]["right"], sides["stage"]["auroc"]["wrong"]) == (70, 26)


def test_calibration_sorts_by_confidence():
    """Confidences e^-0.1, e^-0.5 and e^-0.9 lie in three bins, with what is right in each."""
    bins = forced(FAIR)["sides"]["stage"]["calibration"]
    held = {(one["from"], one["to"]): one["right"] for one in bins if one["right"]["of"]}
    assert {edges: (one["count"], one["of"]) for edges, one in held.items()} == {
        (0.0, 0.5): (40, 40),
        (0.5, 0.7): (0, 20),
        (0.9, 0.95): (40, 40),
    }
    assert sum(one["right"]["of"] for one in bins) == 100


def test_verdicts():
    """Equal answers are faithful, 30 more wrong ones different, a cut fifth neither."""
    assert forced(FAIR)["verdict"] == "faithful"
    assert forced(script(PROMPTS, {right: 50, wrong: 50}))["verdict"] == "different"
    assert forced(script(PROMPTS, {right: 80, lambda _: cut(): 20}))["verdict"] == "undecided"
    floor = script(PROMPTS, {wrong: 100})
    assert "floor" in forced(floor, floor)["reasons"][0]
    ceiling = script(PROMPTS, {right: 100})
    assert "ceiling" in forced(ceiling, ceiling)["reasons"][0]


def test_fewer_looks_need_less():
    """At a smaller level the same answers are no longer enough for faithful."""
    assert forced(FAIR)["verdict"] == "faithful"
    assert forced(FAIR, alpha=0.0005)["verdict"] == "undecided"


def test_both_conditions():
    """A stage that says UNSURE where the reference answers is different in that condition."""
    reference = both_prompts(lambda place: right(place) if place < 80 else wrong(place))
    shy = {item.prompt(Condition.UNSURE): unsure() for item in BANK[:40]}
    document = measure(Answers(items=COUNT), {**reference, **shy}, reference)
    verdicts = {name: part["verdict"] for name, part in document["conditions"].items()}
    assert verdicts == {"forced": "faithful", "unsure": "different"}
    assert document["verdict"] == "different"
    assert document["conditions"]["unsure"]["sides"]["stage"]["unsure"] == 40


# ---------------------------------------------------------------- traces


def test_traces_stand_first():
    """The lengths come before the verdict, and a stage that stops working is warned of.

    The working is one line of 66 characters; the stage writes it in none of its answers.
    """
    hasty = {prompt: answered(BANK[n].truth, working="") for n, prompt in enumerate(PROMPTS)}
    finding = play(FORCED.strand(FACTS), answering({Side.STAGE: hasty, Side.REFERENCE: FAIR}))
    assert next(iter(finding.body)) == "traces"
    document = document_of(FORCED, finding)
    traces = document["traces"]["forced"]
    assert traces["reference"]["characters"]["median"] == 66
    assert traces["reference"]["characters"]["quartiles"] == [66, 66]
    assert (traces["reference"]["short"]["count"], traces["stage"]["short"]["count"]) == (0, 100)
    assert traces["difference"]["characters"]["median"] == -66
    assert traces["difference"]["short_rise"]["value"] == 1.0
    assert traces["reference"]["without_reasoning"]["count"] == 100
    (warning,) = document["warnings"]
    assert warning.startswith("forced: the stage answers without working")


def test_reasoning_counts_as_working():
    """Reasoning in a field of its own, and inline without its tags, is part of the trace."""
    thought = "Let me think about it. " * 4  # 91 characters without the last blank
    one = {
        prompt: Said(((f"ANSWER: {BANK[n].truth}", -0.1),), reasoning=thought)
        for n, prompt in enumerate(PROMPTS)
    }
    other = {
        prompt: Said(((f"<think>\n{thought}\n</think>\n\nANSWER: {BANK[n].truth}", -0.1),))
        for n, prompt in enumerate(PROMPTS)
    }
    empty = {
        prompt: Said(((f"<think>\n\n</think>\n\nANSWER: {BANK[n].truth}", -0.1),))
        for n, prompt in enumerate(PROMPTS)
    }
    traces = measure(FORCED, other, one)["traces"]["forced"]
    for side in ("reference", "stage"):
        assert traces[side]["reasoning_characters"]["median"] == 91
        assert traces[side]["without_reasoning"]["count"] == 0
    closed = measure(FORCED, empty, one)["traces"]["forced"]
    assert closed["stage"]["short"]["count"] == COUNT


# ---------------------------------------------------------------- hostile and broken


DIGITS = "".join(map(str, range(200_000)))  # over 10^6 of them

HOSTILE = {
    "code": (Said((("ANSWER: __import__('os').abort()", -0.1),)), "absent"),
    "evaluated": (Said((("ANSWER: 9**9**9**9", -0.1),)), "absent"),
    "tower": (Said((("ANSWER: 9^{9^{9^{9}}}", -0.1),)), "absent"),
    "digits": (answered(DIGITS), "wrong"),
    "nines": (answered("9" * 10**6), "degenerate"),
    "blank": (Said((("   \n", -0.1),)), "absent"),
    "reasoning": (Said((), reasoning="ANSWER: 67"), "absent"),
    "inline": (Said((("<think>ANSWER: 67", -0.1),)), "absent"),
    "loop": (looping(), "degenerate"),
    "cut": (cut(), "truncated"),
    "surrogate": (Said((("ANSWER: \ud800", -0.1),)), "absent"),
    "empty": (exchange_of({"body": {"choices": []}}), "unusable"),
    "page": (exchange_of({"raw": "<html>Sorry</html>"}), "unusable"),
    "refused": (exchange_of({"status": 400, "raw": '{"error": "no"}'}), "unusable"),
    "fault": (
        exchange_of({"fault": {"kind": "cut", "message": "reset by peer"}}),
        "unusable",
    ),
}


def bytes_of(said: Any) -> Any:
    """Give an answer whose text no UTF-8 holds as the escapes that a server sends."""
    if isinstance(said, Said) and "\ud800" in said.text:
        return exchange_of({"raw": json.dumps({"choices": [
            {"message": {"content": said.text}, "finish_reason": "stop"}]})})  # fmt: skip
    return said


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers(name):
    """Nothing is evaluated, and what is no answer is counted as what it is, never as wrong."""
    said, state = HOSTILE[name]
    stage = {**FAIR, PROMPTS[0]: bytes_of(said)}
    document = measure(FORCED, stage, FAIR)
    part = document["conditions"]["forced"]
    row = part["items"][0]["stage"]
    assert row["state"] == state
    assert part["sides"]["stage"]["right"] == 79
    assert part["sides"]["stage"]["wrong"] == 20 + (state == "wrong")
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    text.encode()
    assert len(text) < 200_000


def test_unusable_answers_have_their_reasons():
    """What went wrong is counted by its reason, on the side where it did."""
    fault = exchange_of({"fault": {"kind": "cut", "message": "reset by peer"}})
    stage = {**FAIR, **dict.fromkeys(PROMPTS[:3], fault)}
    part = forced(stage)
    (reason,) = part["sides"]["stage"]["unusable_reasons"]
    assert reason["answers"] == 3
    assert "reset by peer" in reason["reason"]
    assert part["sides"]["reference"]["unusable_reasons"] == []
    assert part["pairs"]["maybe_reference_only"] == 3


def test_logprobs_that_are_none():
    """NaN, absent and zero logprobs give no confidence; the answers stand, and it is said."""

    def with_logprobs(place: int, value: Any) -> Any:
        body = right(place).completion()
        for entry in body["choices"][0]["logprobs"]["content"]:
            entry["logprob"] = value
            entry["top_logprobs"] = []
        return exchange_of({"raw": json.dumps(body)})

    for value in (float("nan"), None, 0, -9999.0):
        stage = {prompt: with_logprobs(place, value) for place, prompt in enumerate(PROMPTS)}
        document = measure(FORCED, stage, FAIR)
        ours = document["conditions"]["forced"]["sides"]["stage"]
        assert (ours["right"], ours["with_confidence"], ours["auroc"]) == (100, 0, None)
        assert document["warnings"] == [
            "forced: the stage gives no confidence that can be read from its logprobs"
        ]


# ---------------------------------------------------------------- gates and facts

CLOSED = {
    "schema": "denv.parity.gates/1",
    "admissible": {"answers": False},
    "reasons": {"answers": ["G3 template: they part at <|im_end|>"]},
    "stage": {"model": "another"},
}


def test_inadmissible_answers_are_not_asked():
    """Where the gates close it, nothing is asked, and the document says why."""

    def never(probe: Probe):
        raise AssertionError(probe)

    instrument = Answers(items=5, gates=CLOSED)
    document = document_of(instrument, play(instrument.strand(FACTS), never))
    assert (document["verdict"], document["asked"]) == ("undecided", 0)
    assert document["reasons"] == [
        "the gates do not admit answers: G3 template: they part at <|im_end|>",
        "the gates asked another stage: its model is another, here it is m",
    ]
    assert document["settings"]["gates"] is False


def test_forced_it_warns():
    """Forced, it is measured, and the warning says what stood in the way."""
    instrument = Answers(items=COUNT, conditions=(Condition.FORCED,), gates=CLOSED, force=True)
    document = measure(instrument, FAIR, FAIR)
    assert document["verdict"] == "faithful"
    assert document["warnings"] == [
        "forced although the gates do not admit answers: G3 template: they part at <|im_end|>",
        "forced although the gates asked another stage: its model is another, here it is m",
    ]


@pytest.mark.parametrize("gates", [{}, {"admissible": {}}, {"admissible": {"answers": "yes"}}])
def test_gates_that_do_not_say_so_do_not_admit(gates):
    """Silence is no permission."""
    instrument = Answers(items=1, gates=gates)
    assert instrument.settings()["gates"] is False
    assert play(instrument.strand(FACTS), lambda _: None).exit_verdict == "undecided"  # type: ignore[arg-type, return-value]


def test_gates_that_admit():
    """An open gate changes nothing."""
    gates = {"admissible": {"answers": True}}
    instrument = Answers(items=COUNT, conditions=(Condition.FORCED,), gates=gates)
    document = measure(instrument, FAIR, FAIR)
    assert (document["verdict"], document["warnings"]) == ("faithful", [])
    assert document["settings"]["gates"] is True


def test_sampled_sides_are_warned_of():
    """A side that samples is said to."""
    facts = {**FACTS, Side.STAGE: SideFacts(model="m", sampled=True)}
    document = measure(FORCED, FAIR, FAIR, facts=facts)
    assert document["warnings"][0].startswith("the stage samples in spite of temperature 0")


def test_the_schema_is_one():
    """The shipped schema is a valid one, and refuses a document without its traces."""
    Draft202012Validator.check_schema(schema("answers-1"))
    document = dict(measure(FORCED, FAIR, FAIR))
    del document["traces"]
    assert list(Draft202012Validator(schema("answers-1")).iter_errors(document))


def test_the_stub_is_a_model():
    """What the scripted server sends is what the script says."""
    body = model(FAIR)({"messages": [{"role": "user", "content": PROMPTS[3]}]}, 0)
    assert body["choices"][0]["message"]["content"].endswith(f"ANSWER: {BANK[3].truth}")
