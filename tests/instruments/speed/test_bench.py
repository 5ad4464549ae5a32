"""Machines of known speeds are recovered, and asked no more than was said."""

from typing import Any

import pytest

from denv.errors import HarnessError
from denv.instruments.speed import Speed, Target
from denv.records import Side
from tests.instruments.speed.conftest import run
from tests.instruments.speed.scripted import Machine

SMALL: dict[str, Any] = {"tokens": 16, "depths": (300, 600), "levels": (1, 2)}


def cells(found):
    return [cell for row in found["depths"] for cell in row["cells"]]


def median(spread):
    return spread["median"]


@pytest.mark.parametrize("evaluation_s", [0.001, 0.02, 1.5])
@pytest.mark.parametrize("prefill", [50.0, 1000.0])
def test_the_speeds_of_a_machine_are_found(bench, evaluation_s, prefill):
    """Decode rate, time of an evaluation and prefill are those that the machine has."""
    found = bench(Machine(evaluation_s=evaluation_s, prefill=prefill), **SMALL)
    for cell in cells(found):
        assert median(cell["tokens_per_s"]) == pytest.approx(1 / evaluation_s)
        assert median(cell["ms_per_evaluation"]) == pytest.approx(1000 * evaluation_s)
        assert median(cell["server_side"]["tokens_per_s"]) == pytest.approx(1 / evaluation_s)
    for row in found["depths"]:
        (server,) = row["servers"]
        rate = server["prefill"]["tokens_per_s"]["median"]
        # the first token is an evaluation too, so the rate is below the machine's
        assert rate < prefill
        assert rate > prefill / (1 + 1.2 * evaluation_s * prefill / (300 / 3 - 30))


def test_figures_are_of_the_rounds_that_were_asked(bench):
    """Each has as many samples as there are rounds; the load one of each stream."""
    found = bench(Machine(), rounds=5, **SMALL)
    assert {cell["tokens_per_s"]["samples"] for cell in cells(found)} == {5}
    assert [row["tokens_per_s"]["samples"] for row in found["load"]] == [5, 5]
    assert [row["tokens_per_s_each"]["samples"] for row in found["load"]] == [5, 10]
    assert {row["servers"][0]["prefill"]["tokens_per_s"]["samples"] for row in found["depths"]} == {
        5
    }


def test_prompts_have_the_depth_that_was_asked_for(bench):
    """What the server counts is the depth, to a few words."""
    found = bench(Machine(), **SMALL)
    for row in found["depths"]:
        assert row["depth"] == pytest.approx(row["cells"][0]["prompt_tokens"]["median"], abs=8)


def test_the_prompt_cache_is_paid_once(bench):
    """All prompts of the depths together prefill the deepest once, and the questions beside it."""
    machine = Machine()
    found = bench(machine, **SMALL, rounds=3)
    new = sum(row["servers"][0]["prefill"]["new_tokens"] for row in found["depths"])
    # six steps, each with a question of at most 20 words and the template of 10
    assert 600 - 40 <= new <= 600 + 6 * 30
    for cell in cells(found):
        assert cell["prompt_tokens"]["median"] - cell["cached_tokens"]["median"] <= 30


def test_no_prompt_is_asked_twice(bench):
    """A question that a server has answered would find its drafts, and its prompt, in a cache."""
    machine = Machine()
    bench(machine, **SMALL, rounds=4)
    texts = [ask.text for ask in machine.asked]
    assert len(set(texts)) == len(texts)


def test_warm_ups_are_not_counted(bench):
    """The first answer of each depth is slow, and in no figure."""
    machine = Machine()
    slow = iter([True] + [False] * 3)

    class Waking(Machine):
        def answer(self, asks):
            decoding = asks[0].max_tokens > 1 and len(self.asked) > 4
            wakes = decoding and next(slow, False)
            self.evaluation_s = 9.0 if wakes or len(self.asked) < 2 else machine.evaluation_s
            return super().answer(asks)

    found = bench(Waking(), tokens=16, depths=(300,), levels=(1,))
    assert cells(found)[0]["tokens_per_s"]["min"] == pytest.approx(1 / machine.evaluation_s)


def test_streams_at_once(bench):
    """Two streams over two slots have twice the rate of one; over one slot no more than it."""
    for slots, gain in ((2, 2.0), (1, 1.0)):
        found = bench(Machine(slots=slots, prefill=1e9), **SMALL)
        one, two = (row["tokens_per_s"]["median"] for row in found["load"])
        assert two / one == pytest.approx(gain, rel=0.01)


def test_more_streams_than_slots_are_noted(bench):
    """A server that tells its slots is not blamed for what waits for one."""
    found = bench(Machine(), slots={"stage": 1}, **SMALL)
    assert "the stage has 1 slots: more requests at once wait for one" in found["notes"]
    assert not bench(Machine(), slots={"stage": 2}, **SMALL)["notes"]


# ---------------------------------------------------------------- drafts


def test_draft_lengths_are_columns(bench):
    """With every draft accepted the longest is the best, at each depth, and an evaluation stays."""
    found = bench(Machine(draft=4), drafts=(0, 1, 4), **SMALL)
    assert found["drafting"]["state"] == "settable"
    for row in found["depths"]:
        assert [cell["draft"] for cell in row["cells"]] == [0, 1, 4]
        assert row["best"] == {
            "stage": {"server": "stage", "draft": 4, "clear": True},
            "reference": None,
        }
        rates = [cell["tokens_per_s"]["median"] for cell in row["cells"]]
        # 15 tokens after the first are 15 evaluations of one, 8 of two, 3 of five
        assert rates == pytest.approx([50.0, 15 / (8 * 0.02), 15 / (3 * 0.02)])
        assert {round(c["ms_per_evaluation"]["median"], 6) for c in row["cells"]} == {20.0}


def test_no_column_is_always_asked_first(bench):
    """Each of three rounds begins with another length, after one that is not counted."""
    machine = Machine(draft=4)
    bench(machine, tokens=16, depths=(300,), levels=(1,), drafts=(0, 1, 4))
    decoded = [ask.draft for ask in machine.asked if ask.max_tokens > 1][4:16]
    assert decoded == [0, 1, 4, 1, 4, 0, 4, 0, 1, 0, 1, 4]


def test_a_field_that_is_ignored_gives_one_column(bench):
    """A server that drafts as it likes has one column, which says so."""
    found = bench(Machine(draft=4, obeys=False), drafts=(1, 4), **SMALL)
    assert found["drafting"]["state"] == "ignored"
    for row in found["depths"]:
        assert [cell["draft"] for cell in row["cells"]] == [None]
        assert row["best"]["stage"] is None


def test_drafts_that_nobody_asked_about_are_noted(bench):
    """Where drafts were made the user is told how to compare their lengths."""
    found = bench(Machine(draft=4), **SMALL)
    assert any("--draft" in note for note in found["notes"])
    assert cells(found)[0]["drafts"]["tokens_per_evaluation"] == pytest.approx(5.0)


def test_servers_with_their_own_lengths(bench):
    """Each server is a column; the best is found among those of one side alone."""
    others = {
        Target("stage, draft 2", Side.STAGE, draft=2): Machine(draft=2),
        Target("reference", Side.REFERENCE): Machine(evaluation_s=0.0001),
    }
    found = bench(Machine(), others=others, **SMALL)
    assert found["drafting"]["state"] == "servers"
    for row in found["depths"]:
        assert [(c["server"], c["draft"]) for c in row["cells"]] == [
            ("stage", None),
            ("stage, draft 2", 2),
            ("reference", None),
        ]
        assert row["best"]["stage"]["server"] == "stage, draft 2"
        assert row["best"]["reference"] is None


def test_all_servers_are_asked_the_same(bench):
    """Both sides get the same texts in the same order."""
    stage, reference = Machine(), Machine()
    bench(stage, others={Target("reference", Side.REFERENCE): reference}, **SMALL)
    assert [ask.text for ask in stage.asked] == [ask.text for ask in reference.asked]


# ---------------------------------------------------------------- what goes wrong


def test_a_depth_beyond_the_context(bench):
    """A refused depth is said with the server's words, and no deeper one is asked."""
    machine = Machine(context=500)
    found = bench(machine, tokens=16, depths=(300, 600, 10_000), levels=(1,))
    rows = [row["servers"][0] for row in found["depths"]]
    assert rows[0]["reason"] is None
    assert "exceeds the available context size" in rows[1]["reason"]
    assert rows[2]["reason"] == rows[1]["reason"]
    assert [len(row["cells"]) for row in found["depths"]] == [1, 0, 0]
    assert max(len(ask.text.split()) for ask in machine.asked) < 1000
    assert found["load"][0]["tokens_per_s"] is not None


def test_a_server_that_caches_nothing(bench):
    """Each request pays its whole prompt, and the page says so."""
    found = bench(Machine(caches=False), **SMALL)
    assert any("each request pays the prompt again" in note for note in found["notes"])
    prefill = found["depths"][1]["servers"][0]["prefill"]
    assert prefill["tokens_per_s"]["median"] == pytest.approx(1000.0, rel=0.05)


def test_a_server_that_tells_nothing(bench):
    """Prefill and evaluations are absent, with the reason; the decode rate stays."""
    found = bench(Machine(tells=False), **SMALL)
    for row in found["depths"]:
        assert row["servers"][0]["prefill"] is None
        assert row["servers"][0]["reason"] == "no prefill rate: how much was cached is not told"
    for cell in cells(found):
        assert cell["ms_per_evaluation"] is None
        assert cell["tokens_per_s"]["median"] == pytest.approx(50.0)
    assert any("does not tell its drafts" in note for note in found["notes"])


def test_a_prompt_that_the_server_cuts(bench):
    """A server that counts far fewer tokens than were sent has cut the prompt."""

    class Cutting(Machine):
        def _one(self, ask, slower):
            words = ask.text.split()
            cut = type(ask)(ask.server, " ".join(words[-200:]), ask.max_tokens)
            return super()._one(cut, slower)

    found = bench(Cutting(), **SMALL)
    assert any("it cut the prompt" in note for note in found["notes"])


def test_a_server_that_gives_no_stream():
    """The first answer that fails ends the run with the server's words."""
    with pytest.raises(HarnessError, match=r"the stage gives no stream: .*exceeds"):
        run(Speed(**SMALL), {"stage": Machine(context=5)})


def test_nothing_measured_is_an_error():
    """A run without a single rate is no empty table."""
    with pytest.raises(HarnessError, match="nothing could be measured: refused at 300 tokens"):
        run(Speed(**SMALL), {"stage": Machine(context=100)})


@pytest.mark.parametrize(
    "settings",
    [
        SMALL,
        {**SMALL, "drafts": (0, 2, 4), "rounds": 4},
        {"depths": (200,), "levels": (1, 3, 8), "tokens": 9},
    ],
)
def test_the_cost_is_kept(bench, settings):
    """No more is asked than was said before, in requests and in completion tokens."""
    machine = Machine(draft=4)
    bench(machine, **settings)
    said = Speed(**settings).cost()["stage"]
    assert len(machine.asked) == said.requests
    assert sum(ask.max_tokens for ask in machine.asked) == said.completion_tokens
    asked = sum(len(ask.text.split()) + machine.template for ask in machine.asked)
    assert said.prompt_tokens == pytest.approx(asked, rel=0.15)
