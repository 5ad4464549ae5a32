"""Each way to force a text gives the engine's own distribution at each of its tokens."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from denv.instruments.bank import Prompt
from denv.instruments.probes import Probe, Together, play
from denv.instruments.tokens.abilities import TRIAL, chat_body, find_abilities, read_text
from denv.instruments.tokens.forcing import CompletionSteps, ForcingError
from denv.instruments.tokens.prefill import Prefill
from denv.instruments.tokens.runs import SlotRuns
from denv.instruments.tokens.targets import Target, Text
from denv.records import Exchange, Side, TokenLogprob
from tests.instruments.tokens.synthetic import END, PIECES, SPECIALS, WORDS, Engine

PROMPT = Prompt("p", "prose", ({"role": "user", "content": "tell of the sea"},), max_tokens=32)
ALL = len(WORDS) + 1


def target(engine: Engine, count: int = 24, begins: str = "") -> Target:
    """Take a text of another model, so that the engine would often say something else."""
    other = Engine(noise=1.5, seed=engine.seed)
    messages = [{"role": "user", "content": f"{begins}tell of the sea"}]
    prompt = engine.cut(engine.render(messages).encode())
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


class Refusing(Engine):
    """Takes one prompt a request."""

    def _completion(self, body):
        if isinstance(body["prompt"][0], list):
            raise ValueError("one prompt alone")  # noqa: TRY004 - what the engine refuses with
        return super()._completion(body)


class Unnumbered(Engine):
    """Answers several prompts without saying which answer is whose."""

    def _completion(self, body):
        found = super()._completion(body)
        if isinstance(found, list):
            return [{k: v for k, v in one.items() if k != "index"} for one in found]
        return found


class Forgetful(Engine):
    """Holds a prompt in each slot; several prompts get each other's slots."""

    def __init__(self, **options):
        super().__init__(**options)
        self.held: dict[int, list[int]] = {}

    def _completion(self, body):
        prompt = body["prompt"]
        if isinstance(prompt[0], list):
            parts = []
            for slot, one in enumerate(reversed(prompt)):
                parts.append(self._completion({**body, "prompt": one, "id_slot": slot}))
            return [{**part, "index": n} for n, part in enumerate(reversed(parts))]
        before = self.held.get(body["id_slot"], []) if body["cache_prompt"] else []
        same = next(
            (n for n, (a, b) in enumerate(zip(before, prompt, strict=False)) if a != b), len(before)
        )
        self.held[body["id_slot"]] = prompt
        found = super()._completion(body)
        return {**found, "timings/prompt_n": len(prompt) - min(same, len(prompt) - 1)}


def _several(engine):
    bodies = [probe.body or {} for probe in engine.seen]
    return [body for body in bodies if isinstance(body["prompt"][0], list)]


def _are_exact(found, wanted, engine):
    for text, forced in zip(wanted, found, strict=True):
        assert not isinstance(forced, str)
        assert [entry.id for entry in forced] == list(text.ids)
        for at, entry in enumerate(forced):
            exact = engine.distribution([*text.prompt, *text.ids[:at]])
            token = text.ids[at]
            place = 0 if token == END else 1 + token - len(SPECIALS)
            assert entry.logprob == pytest.approx(exact[place], abs=1e-12)


def _foreign_texts():
    lengths = {"a": 5, "b": 24, "c": 11, "d": 17, "e": 24, "f": 11, "g": 17}
    return [target(Engine(seed=1), count, begins) for begins, count in lengths.items()]


@pytest.mark.parametrize("kind", [Engine, Refusing, Unnumbered, Forgetful])
def test_several_texts_are_read_as_one_is(kind):
    """Rounds of several prompts, and of one each where they are not taken, read the same."""
    engine, wanted = kind(slots=3), _foreign_texts()
    strand = SlotRuns(Side.STAGE, 100).force_all(wanted, slots=3, repeat=0)
    _are_exact(play(strand, engine), wanted, engine)
    assert (len(_several(engine)) > 1) is (kind is Engine)
    slots = [(probe.body or {}).get("id_slot") for probe in engine.seen]
    assert set(slots) - {None} == {0, 1, 2}


def test_lost_slots_begin_again_alone_and_still_read_runs():
    """Behind an answer that mixed up the slots each text is read anew by itself, then in runs."""
    engine = Forgetful(slots=3)
    play(SlotRuns(Side.STAGE, 100).force_all(_foreign_texts(), slots=3, repeat=0), engine)
    bodies = [probe.body or {} for probe in engine.seen]
    behind = bodies[bodies.index(_several(engine)[0]) + 1 :]
    assert [body["cache_prompt"] for body in behind[:3]] == [False, False, False]
    assert [body["n_predict"] for body in behind[:3]] == [1, 1, 1]
    assert max(body["n_predict"] for body in behind) > 1


def test_a_request_for_several_that_fails_costs_no_text():
    """One fault in between ends the requests for several, and each text is read all the same."""
    engine, wanted, asked = Engine(slots=3), _foreign_texts(), []

    def answer(probe: Probe) -> Exchange:
        if isinstance((probe.body or {})["prompt"][0], list):
            asked.append(probe)
            if len(asked) == 2:
                return Exchange(500, body=b"no")
        return engine(probe)

    strand = SlotRuns(Side.STAGE, 100).force_all(wanted, slots=3, repeat=0)
    _are_exact(play(strand, answer), wanted, engine)
    assert len(asked) == 2


def test_requests_do_not_depend_on_which_answer_came_first():
    """What is asked is the same in every order of answers, so that a journal serves a resumption.

    Half of the texts' tokens are not what the engine would say: runs and single ones mix.
    """
    engine, wanted = Engine(slots=4, noise=0.7, seed=1), _foreign_texts()
    asked = []
    for order in (1, -1):
        strand = SlotRuns(Side.STAGE, 3).force_all(wanted, slots=4, repeat=0)
        engine.seen.clear()
        _play_in_order(strand, engine, order)
        asked.append(sorted(json.dumps(probe.body) for probe in engine.seen))
    assert asked[0] == asked[1]


def _play_in_order(strand, answer, order):
    try:
        step = next(strand)
        while True:
            if isinstance(step, Together):
                done = [_play_in_order(each, answer, order) for each in step.strands[::order]]
                step = strand.send(done[::order])
            else:
                step = strand.send(answer(step))
    except StopIteration as end:
        return end.value


def test_a_text_that_fails_leaves_the_others():
    """A refusal ends its own text with the reason, and its slot goes to the next."""
    engine = Engine()
    wanted = [target(engine, count) for count in (9, 9, 9)]
    broken = replace(wanted[1], prompt=(END, *wanted[1].prompt))

    def answer(probe: Probe) -> Exchange:
        prompt = (probe.body or {})["prompt"]
        return Exchange(400, body=b"no") if prompt[0] == END else engine(probe)

    strand = SlotRuns(Side.STAGE, 100).force_all([wanted[0], broken, wanted[2]], slots=2, repeat=0)
    found = play(strand, answer)
    assert found[1] == "/completion: status 400: no"
    assert [len(found[0]), len(found[2])] == [9, 9]
