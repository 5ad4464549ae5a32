"""What a sentinel sees of engines whose distributions are known."""

from __future__ import annotations

import pytest

from denv.instruments.probes import SideFacts, play
from denv.records import Case, Contains, Side
from denv.rollout.schedules.glance import Glance
from tests.instruments.tokens.synthetic import Engine, both

FACTS = {side: SideFacts(model="m", concurrency=2) for side in Side}


def case(number, *, max_tokens=12):
    """Give a case that any text passes."""
    messages = [{"role": "user", "content": f"the sea of {number}"}]
    return Case(
        id=f"c{number}",
        index=number,
        line=number + 1,
        fields={"messages": messages, "max_tokens": max_tokens},
        check=Contains(""),
    )


CASES = tuple(case(number) for number in range(3))


def look(stage, reference, memory=None, **options):
    """Look once; give why, and the memory."""
    given = {"golden": True, "tokens": 500, **options}
    glance = Glance(CASES, memory=memory or {}, **given)
    found = play(glance.strand(FACTS), both(stage, reference))
    return found.body["why"], found.body["memory"], found.body["seen"]


@pytest.mark.parametrize("flavour", ["llama", "vllm", "sglang"])
def test_unchanged_sides_are_calm(flavour):
    """Tokens of its own earlier answers are as likely as they were, to the last bit."""
    engine = Engine(flavour)
    why, memory, _ = look(engine, engine)
    assert why == []
    assert memory["stage"]["forced"]
    assert memory["stage"]["floor"] == 0
    why, again, seen = look(engine, engine, memory)
    assert why == []
    assert again == memory
    assert seen["stage"]["forced_tokens"] > 0
    assert set(seen["stage"]["changes"].values()) == {0.0}


@pytest.mark.parametrize("flavour", ["llama", "vllm"])
@pytest.mark.parametrize("changed", list(Side))
def test_a_side_whose_probabilities_moved(flavour, changed):
    """Requantised weights move the tokens' probabilities although no golden prompt fails."""
    _, memory, _ = look(Engine(flavour), Engine(flavour))
    sides = {side: Engine(flavour, noise=0.3 if side is changed else 0.0) for side in Side}
    why, _, _ = look(sides[Side.STAGE], sides[Side.REFERENCE], memory)
    assert why
    assert all(line.startswith(f"the {changed} finds the tokens of c") for line in why)


def test_a_side_that_cannot_be_forced_is_held_to_its_texts():
    """Without any path its greedy texts are compared, where it repeated them."""
    plain = Engine("chat", logprobs="none")
    _, memory, _ = look(plain, plain)
    assert memory["stage"]["forced"] == {}
    assert look(plain, plain, memory)[0] == []
    why, _, _ = look(Engine("chat", logprobs="none", noise=2.0), plain, memory)
    assert len(why) == 1
    assert why[0].startswith("the stage says another thing than when the schedule began: c")


def test_a_path_that_is_gone_is_a_change():
    """A server that no longer shows what it showed is another one."""
    _, memory, _ = look(Engine("vllm"), Engine("vllm"))
    why, _, _ = look(Engine("chat"), Engine("vllm"), memory)
    assert "the stage no longer says how likely the tokens of c0 are" in why


def test_tokens_bound_what_is_asked():
    """Only as many cases are asked as fit; the first look, which asks twice, takes half."""

    def glance(**options):
        return Glance(CASES, golden=True, **options)

    assert len(glance(tokens=24).asked) == 1
    assert len(glance(tokens=24, memory={"stage": {}}).asked) == 2
    assert glance(tokens=10).asked == ()
    assert glance(tokens=1000).cost()[Side.STAGE].completion_tokens <= 2 * (3 * 12 + 2 * 24)
