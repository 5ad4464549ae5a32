"""Each way to force a text gives the engine's own distribution at each of its tokens."""

from __future__ import annotations

import json

import numpy as np
import pytest

from denv.instruments.bank import Prompt
from denv.instruments.probes import Probe, play
from denv.instruments.tokens.abilities import TRIAL, chat_body, find_abilities, read_text
from denv.instruments.tokens.forcing import CompletionSteps, ForcingError
from denv.instruments.tokens.prefill import Prefill
from denv.instruments.tokens.runs import SlotRuns
from denv.instruments.tokens.targets import Target, Text
from denv.records import Exchange, Side, TokenLogprob
from tests.instruments.tokens.synthetic import END, PIECES, SPECIALS, WORDS, Engine

PROMPT = Prompt("p", "prose", ({"role": "user", "content": "tell of the sea"},), max_tokens=32)
ALL = len(WORDS) + 1


def target(engine: Engine, count: int = 24) -> Target:
    """Take a text of another model, so that the engine would often say something else."""
    other = Engine(noise=1.5, seed=engine.seed)
    prompt = engine.cut(engine.render(PROMPT.messages).encode())
    ids = other.generate(prompt, count)
    read = tuple(TokenLogprob("", None, PIECES[i], i + engine.spelling) for i in ids)
    text = Text(PROMPT, tuple(i + engine.spelling for i in ids), read, None)
    shifted = tuple(i + engine.spelling for i in prompt)
    return Target(text, shifted, text.ids or (), same_ids=True)


@pytest.mark.parametrize("flavour", ["llama", "vllm", "sglang", "echo", "prefill"])
def test_every_path_reads_the_same_distributions(flavour):
    """At each token the listed values are the model's, and the text's own token is among them."""
    engine = Engine(flavour)
    forcers = play(find_abilities(Side.STAGE, top=100), engine).forcers
    wanted = target(engine)
    for forcer in forcers.values():
        forced = play(forcer.force(wanted, repeat=0), engine)
        assert len(forced) == len(wanted.ids)
        for at, entry in enumerate(forced):
            exact = engine.distribution([*wanted.prompt, *wanted.ids[:at]])
            token = wanted.ids[at]
            place = 0 if token == END else 1 + token - len(SPECIALS)
            assert entry.logprob == pytest.approx(exact[place], abs=1e-12)
            listed = sorted((one.logprob for one in entry.top), reverse=True)
            assert listed == pytest.approx(sorted(exact, reverse=True)[: len(listed)], abs=1e-12)


PATHS = {
    "llama": ["stepwise"],
    "vllm": ["prompt-logprobs", "stepwise"],
    "sglang": ["prompt-logprobs"],
    "echo": ["prompt-logprobs"],
    "prefill": ["assistant-prefill"],
    "chat": [],
}


@pytest.mark.parametrize("flavour", PATHS)
def test_paths_are_found_by_their_answers(flavour):
    """What an engine ignores or refuses is no path of it."""
    abilities = play(find_abilities(Side.STAGE, top=100), Engine(flavour))
    assert list(abilities.forcers) == PATHS[flavour]
    assert abilities.warnings == ()


def test_a_shorter_list_is_asked_for_where_the_long_one_is_refused():
    """A server that lists 20 at the most is asked for 20."""
    abilities = play(find_abilities(Side.STAGE, top=100), Engine("vllm", most=20))
    assert {getattr(forcer, "top", None) for forcer in abilities.forcers.values()} == {20}


def test_a_chat_that_opens_another_turn_is_no_prefill():
    """A server that answers after the begun message, instead of going on, is not relied on."""
    engine = Engine("chat")
    forcer = Prefill(Side.STAGE, "continue_final_message")
    text = play(_texts(engine), engine)
    assert not play(forcer.trial(text), engine)
    assert play(forcer.trial(text), Engine("prefill"))


def _texts(engine):
    exchange = yield Probe(
        Side.STAGE, "/v1/chat/completions", chat_body(TRIAL, max_tokens=8, shows_ids=False)
    )
    return read_text(TRIAL, exchange, side=Side.STAGE)


def test_prefill_leaves_out_positions_whose_prompt_does_not_add_up():
    """Where a template trims the begun message, its positions are missing, and none is wrong."""

    class Trimming(Engine):
        def _conversation(self, body):
            prompt, prefix = super()._conversation(body)
            return prompt, prefix[:-1] if prefix[-1:] == [trimmed] else prefix

    wanted = target(Engine("prefill"))
    trimmed = wanted.ids[5]
    engine = Trimming("prefill")
    forced = play(Prefill(Side.STAGE, "plain").force(wanted, repeat=0), engine)
    assert None not in forced  # "plain" continues nothing here, so each prompt is as long as said

    forcer = Prefill(Side.STAGE, "continue_final_message")
    forced = play(forcer.force(wanted, repeat=0), engine)
    missing = [at for at, entry in enumerate(forced) if entry is None]
    assert missing == [at for at in range(1, len(wanted.ids)) if wanted.ids[at - 1] == trimmed]


def test_runs_cost_few_requests_where_the_stage_agrees():
    """A text that the server would say itself takes far fewer requests than tokens."""
    engine = Engine()
    prompt = engine.cut(engine.render(PROMPT.messages).encode())
    ids = tuple(engine.generate(prompt, 32))
    text = Text(PROMPT, ids, (), None)
    forcer = SlotRuns(Side.STAGE, 100)
    forced = play(forcer.force(Target(text, tuple(prompt), ids, True), repeat=0), engine)
    assert [entry.id for entry in forced] == list(ids)
    assert len(engine.seen) <= 1 + len(ids) / 3


def test_a_token_that_is_not_listed_is_asked_for_alone():
    """Where lists are short the text's own token has its raw logprob all the same."""
    engine = Engine(most=2)
    wanted = target(engine)
    forcer = SlotRuns(Side.STAGE, 2)
    forced = play(forcer.force(wanted, repeat=0), engine)
    exact = [
        engine.distribution([*wanted.prompt, *wanted.ids[:at]])[
            0 if token == END else 1 + token - len(SPECIALS)
        ]
        for at, token in enumerate(wanted.ids)
    ]
    assert [entry.logprob for entry in forced] == pytest.approx(exact, abs=1e-12)
    outside = [e for e in forced if all(one.id != e.id for one in e.top[:2])]
    assert outside


def test_a_text_begins_without_the_slots_last_prompt():
    """The first request takes nothing from the cache, the others all of it, on one slot."""
    engine = Engine()
    play(SlotRuns(Side.STAGE, 100).force(target(engine), repeat=0), engine)
    bodies = [probe.body or {} for probe in engine.seen]
    assert [body["cache_prompt"] for body in bodies] == [False] + [True] * (len(bodies) - 1)
    assert {body["id_slot"] for body in bodies} == {0}


def test_a_server_that_cannot_take_back_is_asked_one_token_at_a_time():
    """Where a prompt had to be read anew, no more is generated than is kept."""

    class Recurrent(Engine):
        def _completion(self, body):
            found = super()._completion(body)
            return {**found, "timings/prompt_n": len(body["prompt"])}

    engine = Recurrent()
    play(SlotRuns(Side.STAGE, 100).force(target(engine), repeat=0), engine)
    asked = [(probe.body or {})["n_predict"] for probe in engine.seen]
    assert max(asked) > 1
    assert set(asked[2:]) == {1}, asked


@pytest.mark.parametrize("flavour", ["llama", "vllm", "sglang", "echo", "prefill"])
def test_a_refusal_in_the_middle_is_a_reason(flavour):
    """A path that stops to answer raises one line, and no half of a text is taken for whole."""
    engine = Engine(flavour)
    forcers = play(find_abilities(Side.STAGE, top=100), engine).forcers
    wanted = target(engine)
    for forcer in forcers.values():
        left = iter([True] * (3 if forcer.path != "prompt-logprobs" else 0))

        def answer(probe: Probe, left=left) -> Exchange:
            return engine(probe) if next(left, False) else Exchange(503, body=b"busy\nnow")

        with pytest.raises(ForcingError, match="503") as caught:
            play(forcer.force(wanted, repeat=0), answer)
        assert "\n" not in str(caught.value)


def test_answers_of_another_length_are_refused():
    """Prompt logprobs that do not end with the text's own tokens are no reading of it."""
    engine = Engine("vllm")
    wanted = target(engine)
    forcer = play(find_abilities(Side.STAGE, top=100), engine).forcers["prompt-logprobs"]

    def answer(probe: Probe) -> Exchange:
        asked = probe.body or {}
        body = {**asked, "prompt": [*asked["prompt"], 5]}
        return engine(Probe(probe.side, probe.path, body))

    with pytest.raises(ForcingError):
        play(forcer.force(wanted, repeat=0), answer)


def test_the_models_of_these_tests_are_distributions():
    """The synthetic probabilities sum to one."""
    for context in ([1], [1, 2, 3], list(range(12))):
        assert np.exp(Engine(noise=0.5).distribution(context)).sum() == pytest.approx(1)


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_parts_of_characters_are_read_all_the_same(noise):
    """llama.cpp lists nothing for a token that ends inside a character; its position is read."""
    part = len(SPECIALS) + 4  # the word that is taken for half a character here

    class Silent(Engine):
        def _completion(self, body):
            found = super()._completion(body)
            listed = found["completion_probabilities"]
            kept = [entry for entry in listed if entry["id"] != part]
            return {**found, "completion_probabilities": kept}

    engine = Silent(seed=3)
    prompt = tuple(engine.cut(engine.render(PROMPT.messages).encode()))
    other = Engine(noise=noise, seed=3)
    ids = (*other.generate(prompt, 12), part, *other.generate(prompt, 6), part)
    wanted = Target(Text(PROMPT, ids, (), None), prompt, ids, same_ids=True)
    plain = engine.cut(b"x")[0]
    forcer = SlotRuns(Side.STAGE, 100, plain)
    forced = play(forcer.force(wanted, repeat=0), engine)
    for at, entry in enumerate(forced):
        exact = engine.distribution([*prompt, *ids[:at]])
        place = 0 if ids[at] == END else 1 + ids[at] - len(SPECIALS)
        assert entry.id == ids[at]
        assert entry.logprob == pytest.approx(exact[place], abs=1e-12), at


def test_without_a_plain_token_a_part_of_a_character_is_a_reason():
    """A position that cannot be read ends the text, and is never another position's."""
    engine = Engine()

    def silent(probe: Probe) -> Exchange:
        answer = json.loads(engine(probe).body)
        return Exchange(200, body=json.dumps({**answer, "completion_probabilities": []}).encode())

    with pytest.raises(ForcingError, match="no probabilities"):
        play(SlotRuns(Side.STAGE, 100).force(target(engine), repeat=0), silent)


def test_a_push_that_moves_values_is_not_used():
    """An engine that lists values after the bias is asked without it, and its own are read."""

    class Biased(Engine):
        pushed: set[int] = set()  # noqa: RUF012 - one engine a test

        def _listed(self, context, count):
            found = super()._listed(context, count)
            return [(t, 0.0 if t in self.pushed else v - 9.0 * bool(self.pushed)) for t, v in found]

        def _completions(self, body):
            self.pushed = set(map(int, body.get("logit_bias", {})))
            return super()._completions(body)

    wanted = ("stepwise",)
    plain = play(find_abilities(Side.STAGE, top=100, wanted=wanted), Engine("vllm"))
    biased = play(find_abilities(Side.STAGE, top=100, wanted=wanted), Biased("vllm"))
    pushes = [getattr(one.forcers["stepwise"], "pushes", None) for one in (plain, biased)]
    assert pushes == [True, False]


def test_a_deep_token_is_read_by_steps_too():
    """With lists of two, pushing the text's own token shows its value."""
    engine = Engine("vllm", most=5)
    wanted = target(engine)
    forced = play(CompletionSteps(Side.STAGE, 2).force(wanted, repeat=0), engine)
    exact = [
        engine.distribution([*wanted.prompt, *wanted.ids[:at]])[
            0 if token == END else 1 + token - len(SPECIALS)
        ]
        for at, token in enumerate(wanted.ids)
    ]
    assert [entry.logprob for entry in forced] == pytest.approx(exact, abs=1e-12)
