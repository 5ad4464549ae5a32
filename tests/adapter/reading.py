"""Answers of the three APIs as a client reads them; streams are held to their grammar."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Frame = tuple[str | None, str]


@dataclass(frozen=True)
class Read:
    """What an answer says, whichever API it came by."""

    text: str
    reasoning: str
    calls: tuple[tuple[str, Any], ...]
    finish: str
    usage: Any


def frames(raw: bytes) -> list[Frame]:
    """Cut a stream into its events' names and data."""
    assert raw.endswith(b"\n\n")
    found: list[Frame] = []
    for block in raw[:-2].split(b"\n\n"):
        lines = block.decode().split("\n")
        name = next((line[7:] for line in lines if line.startswith("event: ")), None)
        data = [line[6:] for line in lines if line.startswith("data: ")]
        assert len(data) == 1
        assert len(lines) == 1 + (name is not None)
        found.append((name, data[0]))
    return found


def whole(api: str, body: bytes) -> Read:
    """Read an answer in one piece."""
    document = json.loads(body)
    return {"chat": _chat, "responses": _responses, "messages": _messages}[api](document)


def streamed(api: str, sent: Sequence[Frame]) -> Read:
    """Read a stream to its end."""
    readers = {
        "chat": _chat_stream,
        "responses": _responses_stream,
        "messages": _messages_stream,
    }
    return readers[api](sent)


# ---------------------------------------------------------------- Chat Completions


def _chat(document: dict[str, Any]) -> Read:
    (choice,) = document["choices"]
    message = choice["message"]
    calls = message.get("tool_calls") or ()
    return Read(
        message["content"] or "",
        message.get("reasoning_content") or "",
        tuple((c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls),
        choice["finish_reason"],
        document["usage"],
    )


def _chat_stream(sent: Sequence[Frame]) -> Read:
    assert sent[-1] == (None, "[DONE]")
    assert all(name is None for name, _ in sent)
    chunks = [json.loads(data) for _, data in sent[:-1]]
    assert len({(chunk["id"], chunk["model"], chunk["created"]) for chunk in chunks}) == 1
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert all("role" not in chunk["choices"][0]["delta"] for chunk in chunks[1:])
    text = reasoning = ""
    calls: dict[int, dict[str, str]] = {}
    for chunk in chunks:
        delta = chunk["choices"][0]["delta"]
        text += delta.get("content") or ""
        reasoning += delta.get("reasoning_content") or ""
        for piece in delta.get("tool_calls") or ():
            call = calls.setdefault(piece["index"], {"name": "", "arguments": ""})
            call["name"] += piece["function"].get("name", "")
            call["arguments"] += piece["function"].get("arguments", "")
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert reasons[:-1] == [None] * (len(reasons) - 1)
    assert all(chunk.get("usage") is None for chunk in chunks[:-1])
    return Read(
        text,
        reasoning,
        tuple((call["name"], json.loads(call["arguments"])) for call in calls.values()),
        reasons[-1],
        chunks[-1]["usage"],
    )


# ---------------------------------------------------------------- Responses


def _responses(document: dict[str, Any]) -> Read:
    text = reasoning = ""
    calls = []
    for item in document["output"]:
        if item["type"] == "message":
            text += "".join(part["text"] for part in item["content"])
        elif item["type"] == "reasoning":
            reasoning += "".join(part["text"] for part in item["content"])
        else:
            calls.append((item["name"], json.loads(item["arguments"])))
    why = document["incomplete_details"]
    finish = document["status"] if why is None else why["reason"]
    return Read(text, reasoning, tuple(calls), finish, document["usage"])


def _responses_stream(sent: Sequence[Frame]) -> Read:
    events = [json.loads(data) for _, data in sent]
    assert [name for name, _ in sent] == [event["type"] for event in events]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    kinds = [event["type"] for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] in {"response.completed", "response.incomplete"}
    _items_open_and_close(events)
    final = events[-1]["response"]
    read = _responses(final)
    deltas = {"response.output_text.delta": "", "response.reasoning_text.delta": ""}
    for event in events:
        if event["type"] in deltas:
            deltas[event["type"]] += event["delta"]
    assert deltas["response.output_text.delta"] == read.text
    assert deltas["response.reasoning_text.delta"] == read.reasoning
    return read


def _items_open_and_close(events: Sequence[dict[str, Any]]) -> None:
    """Each item is added, then done, before the next is added; indices count up."""
    open_: int | None = None
    following = 0
    for event in events:
        if event["type"] == "response.output_item.added":
            assert open_ is None
            assert event["output_index"] == following
            open_ = event["output_index"]
        elif event["type"] == "response.output_item.done":
            assert event["output_index"] == open_
            open_, following = None, following + 1
        elif "output_index" in event:
            assert event["output_index"] == open_
    assert open_ is None


# ---------------------------------------------------------------- Messages


def _messages(document: dict[str, Any]) -> Read:
    blocks = document["content"]
    return Read(
        "".join(b["text"] for b in blocks if b["type"] == "text"),
        "".join(b["thinking"] for b in blocks if b["type"] == "thinking"),
        tuple((b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"),
        document["stop_reason"],
        document["usage"],
    )


def _messages_stream(sent: Sequence[Frame]) -> Read:
    events = [json.loads(data) for _, data in sent]
    assert [name for name, _ in sent] == [event["type"] for event in events]
    kinds = [event["type"] for event in events if event["type"] != "ping"]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    blocks: list[dict[str, Any]] = []
    raw: dict[int, str] = {}
    open_: int | None = None
    for event in events:
        match event["type"]:
            case "content_block_start":
                assert open_ is None
                assert event["index"] == len(blocks)
                open_ = event["index"]
                blocks.append(dict(event["content_block"]))
            case "content_block_delta":
                assert event["index"] == open_
                _grow(blocks[-1], event["delta"], raw, event["index"])
            case "content_block_stop":
                assert event["index"] == open_
                open_ = None
    assert open_ is None
    for index, text in raw.items():
        blocks[index]["input"] = json.loads(text)
    (last,) = (event for event in events if event["type"] == "message_delta")
    stop = last["delta"]["stop_reason"]
    return _messages({"content": blocks, "stop_reason": stop, "usage": last["usage"]})


def _grow(block: dict[str, Any], delta: dict[str, Any], raw: dict[int, str], index: int) -> None:
    if delta["type"] == "input_json_delta":
        raw[index] = raw.get(index, "") + delta["partial_json"]
    else:
        name = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
        field = name[delta["type"]]
        block[field] += delta[field]
