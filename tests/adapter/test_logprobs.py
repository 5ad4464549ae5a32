"""Logprobs with alternatives and bytes, which need token ids and the model's tokenizer."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from denv.adapter.engines.protocol import EngineFault, Token
from denv.adapter.formats import Format
from tests.adapter.asking import CHAT, FLASH, FORMATS, RESPONSES, adapting, ask, body_of, refused
from tests.adapter.reading import frames, streamed, whole
from tests.adapter.scripted import IDS, STOP, Scripted, Step, likely, said
from tests.adapter.test_formats import CALLS, DSML, SPOKEN, THOUGHT
from tests.adapter.vocabulary import MARKS, tokenizer, write_tokenizer

OTHER = (ord("x"), -2.5)


def spelled(text: str) -> list[Step]:
    """Spell a text by marks and bytes: every character beyond ASCII is split over tokens."""
    steps: list[Step] = []
    for id_ in tokenizer().encode(text):
        raw = bytes([id_]) if id_ < 256 else MARKS[id_ - 256].encode()
        steps.append(likely(id_, raw, (id_, -0.5), OTHER, (0xC3, -9.0)))
    return steps


def thinking(thought: str, answer: str) -> list[Step]:
    return [*spelled(f"{thought}</think>{answer}"), STOP]


async def adapter_of(steps: list[Step], tmp_path: Any) -> Any:
    path = write_tokenizer(tmp_path)
    return await adapting(Scripted(steps, info=IDS), tokenizer=str(path))


@pytest.mark.parametrize("stream", [False, True])
async def test_chat(tmp_path: Any, stream: bool) -> None:
    """Each token has its logprob, its bytes and as many alternatives as were asked for."""
    adapter = await adapter_of(thinking("né", "é☀!"), tmp_path)
    body = body_of(CHAT, logprobs=True, top_logprobs=2, stream=stream)
    raw = await ask(adapter, CHAT, body)
    if stream:
        sent = frames(raw)
        read = streamed("chat", sent)
        choices = [json.loads(data)["choices"][0] for _, data in sent[:-1]]
        entries = [e for c in choices for e in (c["logprobs"] or {}).get("content") or ()]
        thoughts = [
            e for c in choices for e in (c["logprobs"] or {}).get("reasoning_content") or ()
        ]
    else:
        read = whole("chat", raw)
        logprobs = json.loads(raw)["choices"][0]["logprobs"]
        entries, thoughts = logprobs["content"], logprobs["reasoning_content"]
    assert (read.reasoning, read.text) == ("né", "é☀!")
    assert bytes(b for entry in entries for b in entry["bytes"]).decode() == "é☀!"
    assert bytes(b for entry in thoughts for b in entry["bytes"]).decode() == "né"
    for entry in entries:
        assert entry["logprob"] == -0.5
        assert [top["logprob"] for top in entry["top_logprobs"]] == [-0.5, -2.5]
        assert entry["top_logprobs"][1]["bytes"] == [ord("x")]
    assert read.usage["completion_tokens"] == 3 + 1 + 6
    assert read.usage["completion_tokens_details"]["reasoning_tokens"] == 3


async def test_responses(tmp_path: Any) -> None:
    """Responses has them beside its output text."""
    adapter = await adapter_of(thinking("n", "é"), tmp_path)
    fields: dict[str, Any] = {"top_logprobs": 1, "include": ["message.output_text.logprobs"]}
    document = json.loads(await ask(adapter, RESPONSES, body_of(RESPONSES, **fields)))
    message = next(item for item in document["output"] if item["type"] == "message")
    entries = message["content"][0]["logprobs"]
    assert [entry["bytes"] for entry in entries] == [[0xC3], [0xA9]]
    assert [len(entry["top_logprobs"]) for entry in entries] == [1, 1]
    assert document["usage"]["output_tokens_details"]["reasoning_tokens"] == 1


async def test_its_own_alone(tmp_path: Any) -> None:
    """Without top_logprobs a token has its own logprob and no alternatives."""
    adapter = await adapter_of(thinking("n", "a"), tmp_path)
    document = json.loads(await ask(adapter, CHAT, body_of(CHAT, logprobs=True)))
    (entry,) = document["choices"][0]["logprobs"]["content"]
    assert entry["top_logprobs"] == []


async def test_impossible_tokens(tmp_path: Any) -> None:
    """A logprob of minus infinity is written as the API writes it, since JSON has none."""
    steps: list[Step] = [likely(97, b"a", (98, -math.inf), logprob=-math.inf), STOP]
    adapter = await adapter_of(steps, tmp_path)
    body = body_of(CHAT, thinking=False, logprobs=True, top_logprobs=1)
    (entry,) = json.loads(await ask(adapter, CHAT, body))["choices"][0]["logprobs"]["content"]
    assert entry["logprob"] == entry["top_logprobs"][0]["logprob"] == -9999.0


async def test_refused_without_tokenizer() -> None:
    """Where nothing can make logprobs of tokens they are refused, not left out."""
    status, error = await refused(await adapting(Scripted()), CHAT, body_of(CHAT, logprobs=True))
    assert status == 400
    assert "logprobs" in error["message"]


@pytest.mark.parametrize(
    ("step", "what"),
    [
        (Token("a", b"a"), "token ids"),
        (Token("a", b"a", 97), "no logprobs"),
        (likely(99_999, b"?"), "not of the tokenizer"),
        (likely(97, b"b"), "not of the tokenizer"),
    ],
)
async def test_engine_that_gives_none(tmp_path: Any, step: Token, what: str) -> None:
    """An engine that keeps back what logprobs are made of is at fault."""
    adapter = await adapter_of([step, STOP], tmp_path)
    with pytest.raises(EngineFault, match=what):
        await ask(adapter, CHAT, body_of(CHAT, thinking=False, logprobs=True, top_logprobs=1))


async def test_marks_that_are_only_spelled(tmp_path: Any) -> None:
    """As ids, a mark that the model spells out is content: only its own token calls."""
    calls = DSML[FLASH]
    steps: list[Step] = [likely(byte, bytes([byte])) for byte in calls.encode()]
    adapter = await adapter_of([*steps, STOP], tmp_path)
    body = body_of(CHAT, thinking=False, tools=True)
    read = whole("chat", await ask(adapter, CHAT, body))
    assert (read.text, read.calls) == (calls, ())


@pytest.mark.parametrize("format_", FORMATS, ids=lambda f: f.name)
async def test_ids_spell_calls(tmp_path: Any, format_: Format) -> None:
    """Thoughts, content and calls that come as ids of marks and bytes are read as text is."""
    adapter = await adapter_of(thinking(THOUGHT, f"{SPOKEN}\n\n{DSML[FLASH]}"), tmp_path)
    body = body_of(format_, tools=True)
    one = whole(format_.name, await ask(adapter, format_, body))
    other = streamed(format_.name, frames(await ask(adapter, format_, body | {"stream": True})))
    assert one == other
    assert (one.reasoning, one.text, one.calls) == (THOUGHT, SPOKEN, CALLS)


async def test_tokens_that_came_as_one(tmp_path: Any) -> None:
    """Several tokens that an engine tells as one are text without logprobs; others have theirs."""
    merged = Token("🙂", "🙂".encode(), count=4)
    steps: list[Step] = [merged, *spelled("a"), merged, *spelled("b"), STOP]
    adapter = await adapter_of(steps, tmp_path)
    body = body_of(CHAT, thinking=False, logprobs=True)
    document = json.loads(await ask(adapter, CHAT, body))
    (choice,) = document["choices"]
    assert choice["message"]["content"] == "🙂a🙂b"
    assert [entry["token"] for entry in choice["logprobs"]["content"]] == ["a", "b"]
    assert document["usage"]["completion_tokens"] == 10


async def test_characters_that_come_late(tmp_path: Any) -> None:
    """Ids are believed where the engine holds back the bytes of a split character."""
    first, *rest = "é".encode()
    steps: list[Step] = [
        Token("", b"", first),
        Token("é", "é".encode(), rest[0]),
        Token("!", b"!", ord("!")),
        STOP,
    ]
    adapter = await adapter_of(steps, tmp_path)
    read = whole("chat", await ask(adapter, CHAT, body_of(CHAT, thinking=False)))
    assert (read.text, read.usage["completion_tokens"]) == ("é!", 3)


async def test_text_where_ids_are_missing(tmp_path: Any) -> None:
    """With a tokenizer and an engine that tells no ids, text is read; the prompt is counted."""
    adapter = await adapter_of(said(["a</think>", b"\xc3", b"\xa9"]), tmp_path)
    read = whole("chat", await ask(adapter, CHAT, body_of(CHAT)))
    assert (read.reasoning, read.text) == ("a", "é")
