"""The three APIs, whole and streamed: thinking, tools, stops and ends split anywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.adapter.engines.protocol import Ended
from denv.adapter.formats import Format
from tests.adapter.asking import CHAT, FLASH, FORMATS, MESSAGES, PRO, adapting, ask, body_of
from tests.adapter.reading import Read, frames, streamed, whole
from tests.adapter.scripted import STOP, Scripted, cut, said

CITY = 'Zürich "old" \\ 東京\n'


def dsml(block: str, space: str) -> str:
    """Write two calls, the second without arguments, in a version's own spelling of the marks."""
    invoke, parameter = f"｜DSML｜{space}invoke", f"｜DSML｜{space}parameter"
    return (
        f"<｜DSML｜{block}>\n"
        f'<{invoke} name="get_weather">\n'
        f'<{parameter} name="city" string="true">{CITY}</{parameter}>\n'
        f'<{parameter} name="days" string="false">3</{parameter}>\n'
        f"</{invoke}>\n"
        f'<{invoke} name="get_weather">\n</{invoke}>\n'
        f"</｜DSML｜{block}>"
    )


DSML = {FLASH: dsml(" calls", " "), PRO: dsml("tool_calls", "")}
CALLS: tuple[tuple[str, Any], ...] = (
    ("get_weather", {"city": CITY, "days": 3}),
    ("get_weather", {}),
)
THOUGHT, SPOKEN = "Wien 🙂 <thought>", "Je regarde : ☀️ < 3"
ENDS = {
    "chat": {"stop": "stop", "length": "length", "calls": "tool_calls"},
    "responses": {"stop": "completed", "length": "max_output_tokens", "calls": "completed"},
    "messages": {"stop": "end_turn", "length": "max_tokens", "calls": "tool_use"},
}


async def both(format_: Format, pieces: list[bytes], body: dict[str, Any]) -> Read:
    """Answer whole and streamed; both must say the same."""
    adapter = await adapting(Scripted(said(pieces)))
    one = whole(format_.name, await ask(adapter, format_, body))
    other = streamed(format_.name, frames(await ask(adapter, format_, body | {"stream": True})))
    assert one == other
    return one


@pytest.mark.parametrize("model", [FLASH, PRO])
@pytest.mark.parametrize("format_", FORMATS, ids=lambda f: f.name)
async def test_splits_at_every_byte(format_: Format, model: str) -> None:
    """Wherever one cut falls, streamed and whole answers agree and hold what was said."""
    raw = f"{THOUGHT}</think>{SPOKEN}\n\n{DSML[model]}".encode()
    body = body_of(format_, model=model, tools=True)
    for place in range(1, len(raw)):
        read = await both(format_, cut(raw, place), body)
        assert (read.reasoning, read.text, read.calls) == (THOUGHT, SPOKEN, CALLS), place
        assert read.finish == ENDS[format_.name]["calls"]


@pytest.mark.parametrize("format_", FORMATS, ids=lambda f: f.name)
async def test_single_bytes(format_: Format) -> None:
    """Bytes that come one by one make the same answer."""
    raw = f"{THOUGHT}</think>{SPOKEN}\n\n{DSML[FLASH]}".encode()
    read = await both(format_, [bytes([b]) for b in raw], body_of(format_, tools=True))
    assert (read.reasoning, read.text, read.calls) == (THOUGHT, SPOKEN, CALLS)


@given(data=st.data())
async def test_many_splits(data: st.DataObject) -> None:
    """Any set of cuts makes the same answer, tools or none, thinking or not."""
    format_ = data.draw(st.sampled_from(FORMATS))
    thinking, tools = data.draw(st.booleans()), data.draw(st.booleans())
    said_ = (f"{THOUGHT}</think>" if thinking else "") + SPOKEN
    raw = (said_ + (f"\n\n{DSML[FLASH]}" if tools else "")).encode()
    places = data.draw(st.sets(st.integers(1, len(raw) - 1), max_size=12))
    read = await both(format_, cut(raw, *places), body_of(format_, thinking=thinking, tools=tools))
    assert read.text == SPOKEN
    assert read.reasoning == (THOUGHT if thinking else "")
    assert read.calls == (CALLS if tools else ())


@given(data=st.data())
async def test_broken_markup(data: st.DataObject) -> None:
    """Markup that is cut off or damaged is answered, and the same whole and streamed."""
    raw = bytearray(f"a</think>b\n\n{DSML[FLASH]}".encode())
    for place in data.draw(st.sets(st.integers(0, len(raw) - 1), max_size=6)):
        raw[place] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(1, len(raw)))]
    adapter = await adapting(Scripted(said([bytes(raw)])))
    body = body_of(CHAT, tools=True)
    one = json.loads(await ask(adapter, CHAT, body))["choices"][0]
    sent = [
        json.loads(d) for _, d in frames(await ask(adapter, CHAT, body | {"stream": True}))[:-1]
    ]
    deltas = [chunk["choices"][0]["delta"] for chunk in sent]
    assert "".join(delta.get("content") or "" for delta in deltas) == one["message"]["content"]
    assert sent[-1]["choices"][0]["finish_reason"] == one["finish_reason"]
    arguments = [c["function"]["arguments"] for c in one["message"].get("tool_calls") or ()]
    pieces = [p for delta in deltas for p in delta.get("tool_calls") or ()]
    assert "".join(p["function"]["arguments"] for p in pieces) == "".join(arguments)


@pytest.mark.parametrize("format_", [CHAT, MESSAGES], ids=lambda f: f.name)
async def test_stop_strings(format_: Format) -> None:
    """A stop string ends the answer before it wherever it is cut, and the engine is let go."""
    raw = b"END</think>one ENDtwo"
    for place in range(1, len(raw)):
        engine = Scripted([*said([*cut(raw, place), b" three"]), *said([b"four"])])
        adapter = await adapting(engine)
        read = whole(format_.name, await ask(adapter, format_, body_of(format_, stop=["END"])))
        assert (read.reasoning, read.text) == ("END", "one ")
        assert read.finish == ("stop" if format_ is CHAT else "stop_sequence")
    assert engine.ended == ["cancelled"]
    assert engine.asked[0][1].stop == ()


@pytest.mark.parametrize("format_", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("text", ["mid tho", "a</think>spoken"])
async def test_length(format_: Format, text: str) -> None:
    """An engine that ran out of tokens says so in each API's own word."""
    adapter = await adapting(Scripted(said([text], end=Ended("length", 9, 0, 7))))
    body = body_of(format_, max_tokens=7)
    one = whole(format_.name, await ask(adapter, format_, body))
    other = streamed(format_.name, frames(await ask(adapter, format_, body | {"stream": True})))
    assert one == other
    assert one.finish == ENDS[format_.name]["length"]


async def test_half_a_character() -> None:
    """An answer that ends within a character shows that one is missing, and counts its tokens."""
    half = "☀".encode()[:2]
    adapter = await adapting(Scripted(said([b"a</think>b", half[:1], half[1:]])))
    read = whole("chat", await ask(adapter, CHAT, body_of(CHAT)))
    assert read.text == "b\ufffd"
    assert read.usage["completion_tokens"] == 3


async def test_tool_choice_required() -> None:
    """A call that must be made is begun by the prompt, and parsed without its beginning."""
    engine = Scripted(said([DSML[FLASH].removeprefix("<｜DSML｜ calls>\n")]))
    adapter = await adapting(engine)
    body = body_of(CHAT, thinking=False, tools=True, tool_choice="required")
    read = whole("chat", await ask(adapter, CHAT, body))
    assert read.calls == CALLS
    assert (engine.asked[0][0].text or "").endswith("<｜DSML｜ calls>\n")


async def test_json_output() -> None:
    """What stands around a JSON answer is blanked, as the official API does."""
    adapter = await adapting(Scripted(said(['a</think>Sure:\n```json\n{"a": 1}\n```\nBye'])))
    body = body_of(CHAT, text="Answer in json.", response_format={"type": "json_object"})
    read = whole("chat", await ask(adapter, CHAT, body))
    assert json.loads(read.text) == {"a": 1}


async def test_usage() -> None:
    """The engine's counts of the prompt stand in the usage, though they come last."""
    for format_ in FORMATS:
        read = await both(format_, [b"a</think>b"], body_of(format_))
        assert STOP.prompt_tokens == 20
        if format_ is CHAT:
            assert read.usage["prompt_tokens"] == 20
            assert read.usage["prompt_cache_hit_tokens"] == 4
            assert read.usage["prompt_cache_miss_tokens"] == 16
            assert read.usage["prompt_tokens_details"] == {"cached_tokens": 4}
            assert read.usage["total_tokens"] == 20 + read.usage["completion_tokens"]
        elif format_ is MESSAGES:
            assert (read.usage["input_tokens"], read.usage["cache_read_input_tokens"]) == (16, 4)
        else:
            assert read.usage["input_tokens"] == 20
            assert read.usage["input_tokens_details"] == {"cached_tokens": 4}


async def test_unknown_usage() -> None:
    """Counts that nobody knows are left out, never 0."""
    adapter = await adapting(Scripted(said(["a</think>b"], end=Ended("stop"))))
    for format_ in FORMATS:
        usage = whole(format_.name, await ask(adapter, format_, body_of(format_))).usage
        if format_ is MESSAGES:
            assert "input_tokens" not in usage
            assert usage["output_tokens"] == 1
        else:
            assert usage is None
