"""All gates, played between servers of which every fault is known."""

from __future__ import annotations

import jsonschema
import pytest

from denv.instruments.gates import Gates
from denv.instruments.probes import SideFacts, play
from denv.records import Side
from denv.schemas import schema
from tests.instruments.gates.toy import CODE_POINTS, SELFCHECK, Toy, check, measure, states

API = Toy(engine="api")
VLLM = Toy(engine="vllm")
ALL_PASS = dict.fromkeys(("G1", "G2", "G3", "G4", "G5", "G6"), "pass")


@pytest.fixture(scope="module")
def twins():
    """Two servers that serve alike."""
    return measure(Toy())


def test_equal_servers_pass_every_gate(twins):
    """Nothing differs, nothing is unknown, and every measurement is admissible."""
    assert states(twins) == ALL_PASS
    assert twins["verdict"] == "pass"
    assert set(twins["admissible"].values()) == {True}
    assert twins["reasons"] == {}


def test_every_gate_has_evidence(twins):
    """No check passes without a figure behind it."""
    for gate in twins["gates"]:
        assert gate["evidence"]["checks"]
        assert all(one["evidence"] for one in gate["evidence"]["checks"])


def test_other_engines_with_the_same_model_pass():
    """What one engine shows as text and the other as ids is compared all the same."""
    found = measure(VLLM)
    assert states(found) == ALL_PASS
    assert check(found, "G3", "tools", None)["evidence"]["stage"]["path"] == (
        "/v1/chat/completions/render"
    )


def test_chat_alone_leaves_the_raw_path_unknown():
    """Two APIs that offer chat alone: counts and logprobs are compared, the raw path is not."""
    found = measure(API, API)
    assert states(found) == ALL_PASS | {"G5": "unknown"}
    assert found["verdict"] == "unknown"
    assert check(found, "G2", "counts", None)["state"] == "pass"
    assert check(found, "G3", "plain", None)["evidence"]["by"] == "counts"
    assert found["admissible"]["logprobs-close"] is True


def test_a_bare_api_is_mostly_unknown():
    """Without counts, logprobs and raw completion hardly anything is known, and nothing passes."""
    bare = Toy(engine="api", counts=False, logprobs=False)
    found = measure(bare, bare)
    known = {"G1": "pass", "G2": "unknown", "G3": "unknown", "G4": "pass", "G5": "unknown"}
    assert states(found) == known | {"G6": "unknown"}
    allowed = {name for name, may in found["admissible"].items() if may}
    assert not allowed & {"logprobs-close", "tokens"}


def test_a_bare_reference_is_not_held_against_the_stage():
    """A chat-only reference without logprobs leaves the stage's own gates to the stage."""
    found = measure(Toy(), Toy(engine="api", logprobs=False))
    assert states(found) == ALL_PASS
    assert "the reference gives no logprobs" in found["gates"][5]["finding"]
    assert found["admissible"]["logprobs-close"] is False
    assert found["admissible"]["tokens"] is True


def test_a_stage_that_does_not_answer_is_unknown():
    """Errors of the server are no evidence of anything."""
    found = measure(Toy(down=True))
    assert set(states(found).values()) == {"pass", "unknown"}
    assert states(found)["G1"] == "pass"
    assert found["verdict"] == "unknown"


FAULTS = [
    ("other pieces", Toy(pieces=CODE_POINTS), "G2", "is cut differently from token"),
    ("other ids", Toy(ids_from=11), "G2", "'prose' is cut differently from token 0"),
    ("another system prompt", Toy(system="You are bad."), "G3", "character 27: the stage has `"),
    ("another end of turn", Toy(turn_end="</s>\n"), "G3", "You are a helpful toy.</s>"),
    ("tools lost", Toy(with_tools=False), "G3", "tools: the prompts part at character"),
    ("beginning doubled", Toy(doubled=True), "G3", "every prompt of the stage has 1 more tokens"),
    ("role refused", Toy(refuses="developer"), "G3", "developer: only the stage refuses it"),
    ("drift", Toy(drift=0.4), "G4", "the stage answers otherwise when asked"),
    ("sampled", Toy(temperature=1.0), "G4", "are not the most probable ones"),
    (
        "thinking left",
        Toy(think="<think>\nHm.\n</think>\n\n"),
        "G5",
        "leaves reasoning in the content",
    ),
    ("thinking cut", Toy(reasoning="Hm."), "G5", "closes its reasoning at once"),
    (
        "another path",
        Toy(default_penalty=2.0),
        "G5",
        "does not answer as the completion of its own",
    ),
    ("default penalty", Toy(default_penalty=2.0), "G6", "has a penalty on by default"),
    ("penalties ignored", Toy(penalties=False), "G6", "the stage ignores frequency_penalty"),
    ("stop ignored", Toy(stops=False), "G6", "the stage goes on after a stop string"),
    ("default of 16", Toy(default_max_tokens=16), "G6", "the stage cuts after 16 tokens"),
    ("head cut", Toy(keep=900), "G6", "tokens of a prompt that has"),
    ("head cut, hidden", Toy(keep=900, honest_count=False), "G6", "does not see the head of"),
    ("short context", Toy(most_prompt=150), "G6", "the stage refuses a prompt of"),
    ("greedy at 1", Toy(temperature=0.0), "G6", "48 times the same token"),
    ("colder", Toy(temperature=0.5), "G6", "they look like temperature 0."),
    ("top_p ignored", Toy(takes_top_p=False), "G6", "do not keep to its"),
    ("scaled by 2", Toy(scale=2.0), "G6", "the stage's logprobs are 2 times"),
    ("scaled by 0.5", Toy(scale=0.5), "G6", "the probabilities sum to more than 1"),
    ("scaled by 1.1", Toy(scale=1.1), "G6", "are 1.1 times those of its raw completion"),
    ("sentinels", Toy(sentinels=True), "G6", "are placeholders"),
    ("few alternatives", Toy(most_top=3), "G6", "gives 3 alternatives where 20 are asked for"),
]


@pytest.mark.parametrize(
    ("stage", "gate", "says"), [row[1:] for row in FAULTS], ids=[r[0] for r in FAULTS]
)
def test_each_fault_fails_its_gate(stage, gate, says):
    """The gate fails, and its finding names what differs."""
    found = measure(stage)
    one = next(one for one in found["gates"] if one["id"] == gate)
    assert one["state"] == "fail", one
    texts = [one["finding"], *(each["finding"] for each in one["evidence"]["checks"])]
    assert any(says in text for text in texts), texts
    assert found["verdict"] == "fail"


@pytest.mark.parametrize(
    ("reference", "gate"),
    [
        (Toy(temperature=1.0), "G4"),
        (Toy(think="<think>\nHm.\n</think>\n\n"), "G5"),
        (Toy(stops=False), "G6"),
        (Toy(scale=0.5), "G6"),
    ],
)
def test_a_fault_of_the_reference_is_found_as_well(reference, gate):
    """Which side it is that serves wrongly makes no difference."""
    assert states(measure(Toy(), reference))[gate] == "fail"


@pytest.mark.parametrize("reference", [Toy(penalties=False), Toy(most_prompt=150)])
def test_a_reference_that_takes_less_is_no_fault_of_the_stage(reference):
    """A stage may take a longer prompt and apply a penalty that the reference does not."""
    assert states(measure(Toy(), reference))["G6"] == "pass"


def test_gates_of_other_faults_hold():
    """A lost template of tools leaves the other gates as they are."""
    found = measure(Toy(with_tools=False))
    assert states(found) == ALL_PASS | {"G3": "fail"}
    allowed = {name for name, may in found["admissible"].items() if may}
    assert allowed == {"equals", "contains", "regex", "tool-call", "speed"}
    assert found["reasons"]["answers"][0].startswith("G3 template: tools: the prompts part")


def test_declared_sampling_is_no_greedy_choice():
    """A side that is known to sample fails, whatever its few answers look like."""
    found = measure(Toy(), stage_facts=SideFacts("toy", sampled=True))
    assert check(found, "G4", "greedy")["finding"] == (
        "the stage samples although temperature 0 is sent"
    )
    assert found["admissible"]["equals"] is False


def test_a_side_may_say_itself_that_it_samples():
    """What a side has told of its thinking mode is said with the temperature."""
    found = measure(Toy(), stage_facts=SideFacts("toy", sampled=True, sampled_at=1.0))
    greedy = check(found, "G4", "greedy")
    assert greedy["finding"] == (
        "in thinking mode the stage samples although temperature 0 is sent: at temperature 1.0"
    )
    assert greedy["evidence"] == {"declared": True, "temperature": 1.0}


def test_one_request_at_a_time_tries_no_batches():
    """With a concurrency of 1 nothing runs beside a request, and that is said."""
    found = measure(Toy(), stage_facts=SideFacts("toy", concurrency=1))
    assert check(found, "G4", "batched")["state"] == "unknown"
    assert states(found)["G4"] == "pass"


def test_fields_that_an_api_does_not_know_are_left_out():
    """A server that refuses top_k is sampled with the API's own fields alone."""
    found = measure(Toy(neutral=False))
    assert check(found, "G6", "temperature")["state"] == "pass"
    assert check(found, "G6", "temperature")["evidence"]["neutral_fields"] == []


def test_what_both_sides_refuse_is_said_and_not_failed():
    """A group that neither side takes leaves the gate to the others."""
    found = measure(Toy(refuses="developer"), Toy(refuses="developer"))
    assert states(found)["G3"] == "pass"
    assert "developer: both sides refuse it" in found["gates"][2]["finding"]


def test_a_switch_that_one_api_does_not_know_is_no_difference():
    """The field chat_template_kwargs is an engine's own: a refusal of it is said."""
    found = measure(Toy(), Toy(refuses="chat_template_kwargs"))
    assert states(found)["G3"] == "pass"
    assert "the reference does not take chat_template_kwargs" in found["gates"][2]["finding"]


def test_the_document_follows_its_schema(twins):
    """The body, under the head that every measurement has, is what the schema says."""
    side = {
        "url": "http://h/v1",
        "name": None,
        "model": "m",
        "engine": None,
        "sampled": False,
        "concurrency": 8,
    }
    spent = {"requests": 1, "prompt_tokens": 2, "completion_tokens": 3}
    document = {
        "schema": "denv.parity.gates/1",
        "measure": "gates-1",
        "started": "2026-11-30T14:19:07Z",
        "finished": "2026-11-30T14:24:19Z",
        "denv": {"version": "0.1.0", "python": "3.11.7"},
        "stage": side,
        "reference": side,
        "settings": dict(Gates(SELFCHECK).settings()),
        **{name: part for name, part in twins.items() if name != "verdict"},
        "spent": {"stage": spent, "reference": spent},
    }
    jsonschema.validate(document, schema("gates-1"))


def test_the_cost_is_an_upper_limit():
    """What is asked at most is at least what was asked, on either side."""
    asked = dict.fromkeys(Side, 0)
    toy = Toy()

    def count(probe):
        asked[probe.side] += 1
        return toy(probe)

    gates = Gates(SELFCHECK, context_tokens=200, default_tokens=60)
    play(gates.strand({side: SideFacts("toy") for side in Side}), count)
    for side in Side:
        assert asked[side] <= gates.cost()[side].requests
    assert gates.cost()[Side.STAGE].completion_tokens > 0
