"""Whole measurements between engines whose divergence is known."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from denv.instruments.bank import Prompt
from denv.instruments.probes import Probe, SideFacts, Together, play
from denv.instruments.tokens import Margins, Tokens
from denv.instruments.tokens.passes import force_all
from denv.instruments.tokens.runs import SlotRuns
from denv.instruments.tokens.targets import Target, Text
from denv.records import Exchange, Side
from tests.instruments.tokens.measuring import FACTS, SMALL, measure
from tests.instruments.tokens.synthetic import Engine

LIKE = ["llama", "vllm", "sglang"]


@pytest.mark.parametrize("flavour", LIKE)
def test_the_same_model_is_faithful(flavour):
    """Equal engines have a divergence of 0, agree everywhere, and so is their floor."""
    document = measure(Engine(flavour), Engine(flavour))
    assert document["verdict"] == "faithful", document["reasons"]
    assert document["path"] == document["reference_path"]
    assert document["kl_lower_bound"]["value"] == 0
    assert document["top1_agreement"]["value"] == 1
    assert document["floor"]["kl_lower_bound"]["value"] == 0
    assert document["matched"]["ids"] == document["texts"] == 10
    assert document["warnings"] == []


@pytest.mark.parametrize("flavour", LIKE)
def test_the_divergence_is_the_models_own(flavour):
    """With whole lists the bound is the divergence, summed over the whole vocabulary."""
    stage, reference = Engine(flavour, noise=0.5), Engine(flavour)
    instrument = Tokens(**SMALL)
    document = measure(stage, reference)
    exact, changes, agreed = [], [], []
    for prompt in instrument.prompts():
        context = reference.cut(reference.render(prompt.messages).encode())
        for token in reference.generate(context, 12):
            p, q = reference.distribution(context), stage.distribution(context)
            exact.append(reference.exact_kl(stage, context))
            place = 0 if token == 2 else token - 2
            changes.append(np.exp(q[place]) - np.exp(p[place]))
            agreed.append(p.argmax() == q.argmax())
            context = [*context, token]
    assert document["tokens"] == len(exact)
    assert document["kl_lower_bound"]["value"] == pytest.approx(np.mean(exact), abs=1e-9)
    assert document["delta_p"]["mean"]["value"] == pytest.approx(np.mean(changes), abs=1e-9)
    rms = np.sqrt(np.mean(np.square(changes)))
    assert document["delta_p"]["rms"]["value"] == pytest.approx(rms, abs=1e-9)
    assert document["top1_agreement"]["value"] == pytest.approx(np.mean(agreed))
    assert document["verdict"] == "different"


def test_short_lists_bound_the_divergence_from_below():
    """Lists of three of thirteen tokens show less of the divergence, and more may be unseen."""
    whole = measure(Engine(noise=0.5), Engine())
    short = measure(Engine(noise=0.5, most=3), Engine(most=3))
    assert 0 < short["kl_lower_bound"]["value"] < whole["kl_lower_bound"]["value"]
    assert short["total_variation"]["value"] > whole["total_variation"]["value"]
    seen = short["total_variation"]["seen"]["value"]
    assert seen <= whole["total_variation"]["value"] + 1e-9


def test_short_lists_of_equal_engines_are_undecided():
    """What no list shows may differ: too much of it is no proof of the same distribution."""
    document = measure(Engine(most=2), Engine(most=2))
    assert document["kl_lower_bound"]["value"] == 0
    assert document["verdict"] == "undecided"
    assert "is not listed" in document["reasons"][0]
    wide = measure(Engine(most=2), Engine(most=2), margins=Margins(total_variation=0.9))
    assert wide["verdict"] == "faithful"


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_prompt_logprobs_and_stepwise_give_the_same_figures(noise):
    """The path changes what it costs and nothing that is found."""
    found = [
        measure(Engine("vllm", noise=noise), Engine("vllm"), path=path)
        for path in ("prompt-logprobs", "stepwise")
    ]
    for name in ("kl_lower_bound", "total_variation", "top1_agreement", "delta_nll"):
        assert found[0][name]["value"] == pytest.approx(found[1][name]["value"], abs=1e-12)
    assert [one["path"] for one in found] == ["prompt-logprobs", "stepwise"]


@pytest.mark.parametrize("stage", ["llama", "vllm", "sglang", "echo", "prefill"])
def test_a_reference_with_chat_alone_is_taken_at_its_word(stage):
    """Where the reference cannot be forced, its own logprobs stand for it, by bytes."""
    document = measure(Engine(stage), Engine("chat"))
    assert document["reference_path"] == "chat"
    assert document["kl_lower_bound"]["value"] == pytest.approx(0, abs=1e-12)
    assert document["matched"]["bytes"] == document["texts"]
    assert "stage's own" in document["floor"]["of"]
    assert document["floor"]["kl_lower_bound"]["value"] == pytest.approx(0, abs=1e-12)


def test_tokenizers_with_other_ids_are_compared_by_bytes():
    """Ids that mean other tokens on the other side are never compared."""
    document = measure(Engine(spelling=7), Engine())
    assert document["matched"] == {"ids": 0, "bytes": 10, "skipped_tokens": 0}
    assert document["top1_agreement"]["value"] == 1
    assert document["kl_lower_bound"]["value"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("shown", ["none", "zero", "sentinel", "above"])
def test_without_a_real_distribution_there_is_no_divergence(shown):
    """Logprobs of the reference that are not real leave top 1, rank and NLL."""
    document = measure(Engine(), Engine("chat", logprobs=shown))
    for name in ("kl_lower_bound", "delta_nll", "total_variation", "delta_p"):
        assert document[name] is None
    assert document["nll"]["reference"] is None
    assert document["nll"]["stage"]["value"] > 0
    assert document["top1_agreement"]["value"] == 1
    assert document["rank"]["first"]["value"] == 1
    assert document["verdict"] == "undecided"


def test_agreement_alone_can_show_a_difference():
    """A stage that says other tokens than the reference, and agrees with itself, is different."""
    document = measure(Engine(noise=2.0), Engine("chat", logprobs="none"), texts=24)
    assert document["verdict"] == "different", document["top1_agreement"]


def test_a_stage_without_any_path_is_undecided():
    """A stage that offers chat alone, and does not continue, cannot be forced."""
    document = measure(Engine("chat"), Engine())
    assert document["verdict"] == "undecided"
    assert document["path"] is None
    assert "no way to force" in document["reasons"][0]


# ---------------------------------------------------------------- texts that are lost


def test_refused_prompts_are_counted_with_their_reason():
    """A prompt that a side refuses is listed, and the others decide."""

    def long(probe: Probe) -> bool:
        body = probe.body or {}
        messages = body.get("messages") or [{}]
        return probe.path.endswith("chat/completions") and "tide" in str(messages[0])

    document = measure(Engine(), Engine(refuses=long), texts=11)
    assert document["unusable"]["texts"] == 1
    assert document["unusable"]["reasons"][0]["side"] == "reference"
    assert "no such path" in document["unusable"]["reasons"][0]["reason"]
    assert document["texts"] == 10
    assert document["verdict"] == "faithful"


def test_a_stage_that_answers_too_few_texts_is_not_called_faithful():
    """What the stage refuses could hide a difference: four of ten are too many."""
    asked: list[str] = []

    def refuses(probe: Probe) -> bool:
        if probe.path != "/completion" or (probe.body or {}).get("cache_prompt"):
            return False
        asked.append(probe.path)
        return len(asked) > 7  # one of them is the trial's

    document = measure(Engine(refuses=refuses), Engine())
    assert document["kl_lower_bound"]["value"] == 0
    assert document["texts"] == 6
    assert document["unusable"]["texts"] == 4
    assert document["verdict"] == "undecided"


def test_five_texts_decide_nothing():
    """Of fewer than six texts there is no verdict but undecided."""
    for stage in (Engine(), Engine(noise=2.0)):
        document = measure(stage, Engine(), texts=5)
        assert document["verdict"] == "undecided"
        assert "fewer than 6" in document["reasons"][0]


def test_without_texts_there_is_a_document():
    """A reference that answers nothing leaves every figure null."""
    document = measure(Engine(), Engine(refuses=lambda probe: "chat" in probe.path))
    assert document["verdict"] == "undecided"
    assert document["texts"] == 0
    assert document["unusable"]["texts"] == 10


# ---------------------------------------------------------------- gates, warnings


GATES = {"schema": "denv.parity.gates/1", "stage": {"model": "m"}, "reference": {"model": "other"}}


def test_gates_that_do_not_admit_tokens_end_it():
    """Nothing is asked where the gates say that tokens would mean nothing."""
    gates = {**GATES, "admissible": {"tokens": False}, "reasons": {"tokens": ["G3: templates"]}}
    stage, reference = Engine(), Engine()
    document = measure(stage, reference, gates=gates)
    assert document["verdict"] == "undecided"
    assert document["reasons"] == [
        "the gates do not admit tokens: G3: templates",
        "the gates asked another reference: its model is other, here it is m",
    ]
    assert stage.seen == reference.seen == []
    forced = measure(stage, reference, gates=gates, force=True)
    assert forced["verdict"] == "faithful"
    assert any("forced although" in each for each in forced["warnings"])
    assert any("another reference" in each for each in forced["warnings"])


def test_gates_that_admit_tokens_say_nothing():
    """With the gates' leave there is no warning of them."""
    gates = {**GATES, "reference": {"model": "m"}, "admissible": {"tokens": True}}
    assert measure(Engine(), Engine(), gates=gates)["warnings"] == []


def test_a_sampling_reference_is_warned_of():
    """Its texts are no greedy ones."""
    facts = {**FACTS, Side.REFERENCE: SideFacts(model="m", sampled=True)}
    assert "samples" in measure(Engine(), Engine(), facts=facts)["warnings"][0]


class OtherTemplate(Engine):
    """Renders another prompt of the same messages."""

    def render(self, messages):
        return super().render(messages).replace("<assistant>", ".<assistant>")


def test_other_templates_are_warned_of():
    """Both prompts are shown, so that a template that differs is named as one."""
    document = measure(OtherTemplate(), Engine())
    assert any("render 10 of 10 prompts" in each for each in document["warnings"])
    assert document["verdict"] == "different"


class HiddenStart(Engine):
    """Chat's prompt begins with a token that the rendered text does not show."""

    hidden = True

    def _conversation(self, body):
        prompt, prefix = super()._conversation(body)
        return [1, *prompt], prefix


def test_a_prompt_of_another_length_than_chat_counts_is_warned_of():
    """What is forced would stand behind another prompt than the one that is served."""
    document = measure(HiddenStart(), HiddenStart())
    assert any("chat counts" in each for each in document["warnings"])


# ---------------------------------------------------------------- how it is asked


def test_texts_begin_alone_and_go_on_together():
    """While a slot reads a prompt nothing else is under way; then all slots run side by side."""
    engine = Engine()
    prompt = tuple(engine.cut(b"<user>x<assistant>"))
    asked = [Prompt(f"p{number}", "prose", ()) for number in range(5)]
    ids = tuple(engine.generate(prompt, 9))
    targets = [Target(Text(one, ids, (), None), prompt, ids, same_ids=True) for one in asked]
    strand = force_all(targets, SlotRuns(Side.STAGE, 100), lanes=2)
    kinds: list[Any] = []
    step = next(strand)
    while True:
        match step:
            case Probe():
                kinds.append("begin")
                assert not (step.body or {})["cache_prompt"]  # each text's first request
                sent: Any = engine(step)
            case Together():
                sent = [play(each, engine) for each in step.strands]
                asked_for = (engine.seen[-1].body or {})["prompt"]
                kinds.append(len(asked_for) if isinstance(asked_for[0], list) else 1)
            case _:
                pytest.fail("no work is asked for")
        try:
            step = strand.send(sent)
        except StopIteration as end:
            found = end.value
            break
    assert kinds[:3] == ["begin", "begin", 2]
    assert kinds.count("begin") == len(asked)
    assert kinds.count(2) > kinds.count(1)
    assert all(len(found[one.id]) == len(ids) for one in asked)


def test_the_second_pass_takes_other_slots_in_another_order():
    """The floor is what a side differs by from itself, not one answer read twice."""
    reference = Engine()
    measure(Engine(), reference)
    steps = [(p.repeat, p.body or {}) for p in reference.seen if p.path == "/completion"]
    begun = [(repeat, body) for repeat, body in steps if not body["cache_prompt"]]
    first, second = ([body for repeat, body in begun if repeat == n][-10:] for n in (0, 1))
    assert [body["prompt"] for body in first] == [body["prompt"] for body in reversed(second)]
    assert [body["id_slot"] for body in first] != [body["id_slot"] for body in second]


@pytest.mark.parametrize(("stage", "path"), [("llama", "auto"), ("vllm", "prompt-logprobs")])
def test_the_cost_is_an_upper_bound(stage, path):
    """No side is asked more than was said before."""
    engines = {Side.STAGE: Engine(stage), Side.REFERENCE: Engine(stage)}
    measure(engines[Side.STAGE], engines[Side.REFERENCE], path=path)
    costs = Tokens(**SMALL, path=path).cost()
    for side, engine in engines.items():
        assert len(engine.seen) <= costs[side].requests


def test_settings_hold_all_that_decides():
    """Every field of the instrument changes its settings, so that no resumed run mixes two."""
    plain = Tokens()
    others: dict[str, Any] = {
        "texts": 7, "max_tokens": 9, "categories": ("code",), "path": "stepwise", "top": 20,
        "margins": Margins(kl=0.5), "alpha": 0.01, "gates": {"admissible": {"tokens": True}},
        "force": True, "seed": 3, "resamples": 100,
    }  # fmt: skip
    for name, value in others.items():
        assert replace(plain, **{name: value}).settings() != plain.settings(), name
    assert set(others) == {one.name for one in fields(Tokens)}


def test_the_wanted_path_alone_is_taken():
    """A path that is named and not there is not replaced by another."""
    document = measure(Engine(), Engine(), path="prompt-logprobs")
    assert document["path"] is None


def test_confidence_widens_intervals():
    """A smaller alpha, for several looks, gives wider intervals."""
    narrow, wide = (measure(Engine(noise=0.3), Engine(), alpha=a) for a in (0.2, 0.001))
    (low, high), (lower, higher) = (one["kl_lower_bound"]["interval"] for one in (narrow, wide))
    assert lower < low < high < higher
    assert wide["confidence"] == pytest.approx(0.999)


def test_the_same_answers_give_the_same_document():
    """Nothing in it is drawn by chance: a resumed measurement ends where the first would have."""
    assert measure(Engine(noise=0.3), Engine()) == measure(Engine(noise=0.3), Engine())


def test_faults_of_the_transport_are_reasons():
    """A side that answers with server errors throughout is undecided, and no crash."""
    instrument = Tokens(**SMALL)

    def broken(probe: Probe) -> Exchange:
        return Exchange(503, body=b"")

    finding = play(instrument.strand(FACTS), broken)
    assert finding.exit_verdict == "undecided"
