"""What a real vLLM and a real llama.cpp answered, read by the gates' own means."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from denv.instruments.gates import State
from denv.instruments.gates.asking import Reply
from denv.instruments.gates.groups import GROUPS
from denv.instruments.gates.logprobs_real import factor_check, logprob_checks
from denv.instruments.gates.prompts import Reading, compare
from denv.instruments.gates.rendering import Path as Way
from denv.instruments.gates.rendering import Renderer
from denv.instruments.gates.serving_path import Raw
from denv.instruments.gates.tokenizer import judge_cuts
from denv.instruments.gates.tokenizing import Form, Tokenizer
from denv.instruments.probes import CHAT, play
from denv.observe import observe
from denv.records import Exchange, Side
from tests.stubs.replay import load, significant

FOLDER = Path(__file__).parents[1] / "recorded" / "vllm"
TEXTS = json.loads((FOLDER / "texts.json").read_text("utf-8"))
VLLM = Tokenizer(Side.STAGE, Form.VLLM)
LLAMA = Tokenizer(Side.REFERENCE, Form.LLAMA_CPP)


@cache
def recorded(name):
    """Index a file's exchanges by path and by what of a request decides its answer."""
    rows = load(FOLDER / f"{name}.jsonl.xz").values()
    return {(row.path, json.dumps(row.asked, sort_keys=True)): row for row in rows}


def engine(name):
    """Answer probes by what was recorded; anything else is 404."""

    def answer(probe):
        asked = significant(probe.path, dict(probe.body))
        for body in (asked, asked | {"return_token_strs": True}):  # a flag that only adds to it
            row = recorded(name).get((probe.path, json.dumps(body, sort_keys=True)))
            if row is not None:
                return Exchange(row.status, body=row.answer)
        return Exchange(404)

    return answer


def chats(name):
    """Give each text's own greedy chat, asked with 20 alternatives."""
    shown = {"return_token_ids": True} if name.startswith("vllm") else {}
    found = []
    for text in TEXTS:
        body = {"messages": text["messages"], "temperature": 0, "seed": 0, "stream": False}
        body |= {"max_tokens": 48, "logprobs": True, "top_logprobs": 20, **shown}
        row = recorded(name)[CHAT, json.dumps(significant(CHAT, body), sort_keys=True)]
        found.append(Reply(observe(Exchange(row.status, body=row.answer))))
    return found


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["name"])
def test_both_engines_cut_alike(text):
    """The two forms of /tokenize give the same ids of the same texts."""
    for content, ids in ((text["prompt"], text["prompt_ids"]), (text["answer"], None)):
        ours = play(VLLM.cut(content), engine("vllm-float32"))
        theirs = play(LLAMA.cut(content), engine("llama"))
        assert ours is not None
        assert theirs is not None
        assert ours.ids == theirs.ids
        assert ids is None or list(ours.ids) == ids
        assert theirs.pieces is not None


@pytest.mark.parametrize("way", [Way.RENDER, Way.TOKENIZE, Way.CHAT])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["name"])
def test_prompts_of_both_engines_are_the_same(text, way):
    """Whichever way vLLM shows its prompt, it is compared with llama.cpp's text by ids."""
    fields = {"messages": text["messages"]}
    ours = play(Renderer(Side.STAGE, way, VLLM).render(fields), engine("vllm-float32"))
    theirs = play(Renderer(Side.REFERENCE, Way.APPLY, LLAMA).render(fields), engine("llama"))
    assert ours is not None
    assert theirs is not None
    stage, reference = Reading(ours, len(ours.ids or ())), Reading(theirs)
    found = compare(GROUPS[0], stage, reference, same_ids=True, counts_move=True)
    assert found.state is State.PASS
    assert found.figures["by"] == "ids"


def test_generated_text_is_cut_alike_by_both_engines():
    """Emoji and Japanese too, of which each engine lists the parts in its own way."""
    found = judge_cuts(chats("vllm-float32"), chats("llama"))
    assert found.state is State.PASS
    assert found.evidence["bytes"] > 1000


@pytest.mark.parametrize("name", ["vllm-float32", "llama"])
def test_logprobs_of_real_engines_are_real(name):
    """Every check of an engine's own logprobs passes on all of its answers."""
    checks = logprob_checks(Side.STAGE, chats(name), Raw(lacking="-"), drift_nats=0.0)
    assert {one.name: one.finding for one in checks if one.state is not State.PASS} == {}
    assert len(checks) == 3


@pytest.mark.parametrize("scale", [1.0, 1.2, 0.7])
def test_a_scale_is_found_between_engines(scale):
    """Two engines' rounding is no factor, and a factor is found through it."""
    stage = [_scaled(reply, scale) for reply in chats("vllm-float32")]
    found = factor_check(stage, chats("llama"))
    assert found.evidence["positions"] > 100
    if scale == 1.0:
        assert found.state is State.PASS
    else:
        assert found.state is State.FAIL
        assert found.evidence["factor"] == pytest.approx(scale, rel=0.01)


def _scaled(reply, factor):
    def of(entry):
        return replace(entry, logprob=None if entry.logprob is None else entry.logprob * factor)

    seen = reply.observation
    entries = tuple(replace(of(one), top=tuple(map(of, one.top))) for one in seen.logprobs or ())
    return Reply(replace(seen, logprobs=entries))
