"""Record what a vLLM and a llama.cpp that serve the same weights answer to an audit's requests.

Usage: python scripts/record_vllm.py --vllm URL --llama URL folder [--name float32]

Both URLs end in /v1. It writes, into the folder,

* ``texts.json``: the greedy reference texts of llama.cpp, with the ids of prompt and answer;
* ``llama.jsonl.xz`` and ``vllm-NAME.jsonl.xz``: a request and its answer a line.

Without ``--llama`` the texts that the folder holds are forced through another vLLM.

Requests go one at a time, so that no batch's make-up is in the answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

import aiohttp

TOP = 20
MAX_TOKENS = 48
TIMEOUT_S = 600.0
TEXTS = "texts.json"

GREEDY = {"temperature": 0, "seed": 0, "stream": False}
PUSH = 100
"""A bias that makes sure of a token; reported logprobs are those without it."""

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
RENDER = "/v1/chat/completions/render"

Messages = list[dict[str, Any]]


def user(text: str) -> Messages:
    """Give the messages of a single question."""
    return [{"role": "user", "content": text}]


PROMPTS: Mapping[str, Messages] = {
    "prose": user("Tell me about a fishing harbour on a winter morning."),
    "explanation": user("Explain in two sentences why bread rises."),
    "code": user("Write a Python function that counts the vowels in a string."),
    "sql": user("Write an SQL query for the three largest orders of each customer."),
    "mathematics": user("Solve 3x + 7 = 31 for x, step by step."),
    "numbers": user("List the squares of the numbers from 11 to 20."),
    "json": user('Give a JSON object with "name", "year" and "tags" for an old film.'),
    "french": user("Écris deux phrases en français sur une île où il pleut."),
    "japanese": user("日本語で、猫について短い文を書いてください。"),
    "emoji": user("Repeat exactly: 🎉🎉 naïve café 東京 🚀"),
    "system": [{"role": "system", "content": "Answer with one word."}, *user("Capital of Italy?")],
    "turns": [
        *user("My dog is called Pim."),
        {"role": "assistant", "content": "Nice to meet Pim!"},
        *user("What is my dog called?"),
    ],
}
"""What the reference texts answer."""

CONTINUED = ("prose", "json", "french")
"""Texts that are forced through the chat endpoint as well, and by ``echo``."""

TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
}
GROUPS: Mapping[str, dict[str, Any]] = {
    "plain": {"messages": user("Hello")},
    "empty system": {"messages": [{"role": "system", "content": ""}, *user("Hello")]},
    "developer": {"messages": [{"role": "developer", "content": "Be brief."}, *user("Hello")]},
    "tools": {"messages": user("Weather in Oslo?"), "tools": [TOOL]},
    "tool result": {
        "messages": [
            *user("Weather in Oslo?"),
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "4 degrees, rain"},
        ],
        "tools": [TOOL],
    },
}
"""Conversations whose rendered prompts are asked for, beside those of the texts."""


@dataclass(frozen=True, slots=True)
class Text:
    """A reference text, forced through both engines by these ids.

    ``prefixes`` are the beginnings of the answer that cut no character; none where they are not
    asked for.
    """

    name: str
    messages: Messages
    prompt: str
    prompt_ids: list[int]
    answer: str
    answer_ids: list[int]
    finish_reason: str
    prefixes: list[str]

    def before(self, position: int) -> list[int]:
        """Give the ids of everything ahead of one token of the answer."""
        return self.prompt_ids + self.answer_ids[:position]


@dataclass(slots=True)
class Recorder:
    """Asks one server and keeps each exchange, the same request once."""

    base: str
    session: aiohttp.ClientSession
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask: GET without a body, else POST. Gives the JSON that came, None where none did."""
        key = json.dumps([path, body], sort_keys=True)
        if key not in self.rows:
            method = "GET" if body is None else "POST"
            async with self.session.request(method, self.base + path, json=body) as response:
                raw = await response.read()
                row = {"method": method, "path": path, "body": body, "status": response.status}
                self.rows[key] = {**row, "answer": json.loads(raw) if raw else None}
        return self.rows[key]["answer"]

    def write(self, file: Path) -> None:
        """Write a line an exchange; the same rows give the same bytes."""
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows.values())
        file.write_bytes(lzma.compress("".join(lines).encode(), preset=9))


@asynccontextmanager
async def recording(url: str, file: Path) -> AsyncIterator[Recorder]:
    """Record one server for the length of the block, then write the file."""
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        recorder = Recorder(url.rstrip("/").removesuffix("/v1"), session)
        yield recorder
        recorder.write(file)


def chat_body(messages: Messages, **fields: Any) -> dict[str, Any]:
    """Write a greedy chat that asks for logprobs."""
    asked = {"max_tokens": MAX_TOKENS, "logprobs": True, "top_logprobs": TOP}
    return {"messages": messages, **GREEDY, **asked, **fields}


def continued_body(text: Text, prefix: str, **fields: Any) -> dict[str, Any]:
    """Write a chat whose last message is the beginning of an answer, to be gone on with."""
    messages = [*text.messages, {"role": "assistant", "content": prefix}]
    return chat_body(messages, max_tokens=1, **fields)


# ---------------------------------------------------------------------------------- llama.cpp


async def reference_text(llama: Recorder, name: str, messages: Messages) -> Text:
    """Generate one text greedily, and get the ids of its prompt and answer.

    The entries of a chat's logprobs are no tokens: those that make up one character are one entry
    with the last one's id. So the ids are taken from a raw completion of the same prompt.
    """
    document = await llama.ask(CHAT, chat_body(messages))
    choice = document["choices"][0]
    answer = choice["message"]["content"]
    prompt = (await llama.ask("/apply-template", {"messages": messages}))["prompt"]
    prompt_ids = [one["id"] for one in await llama_ids(llama, prompt)]
    body = {**GREEDY, "n_probs": TOP, "return_tokens": True, "n_predict": MAX_TOKENS}
    raw = await llama.ask("/completion", {**body, "prompt": prompt_ids})
    if raw["content"].rstrip("\ufffd") != answer:  # the last character may be cut
        sys.exit(f"{name}: chat and completion part: {answer!r}, {raw['content']!r}")
    entries = [entry["bytes"] for entry in choice["logprobs"]["content"]]
    return Text(
        name=name,
        messages=messages,
        prompt=prompt,
        prompt_ids=prompt_ids,
        answer=answer,
        answer_ids=raw["tokens"],
        finish_reason=choice["finish_reason"],
        prefixes=beginnings(entries) if name in CONTINUED else [],
    )


def beginnings(entries: list[list[int]]) -> list[str]:
    """Give the texts that the first, the first two … entries make."""
    whole = b"".join(map(bytes, entries))
    ends = accumulate(len(entry) for entry in entries)
    return [whole[:end].decode() for end in ends if end < len(whole)]


async def llama_ids(llama: Recorder, text: str) -> list[dict[str, Any]]:
    """Cut a text with and without what goes ahead of a prompt; gives the latter, with pieces."""
    await llama.ask("/tokenize", {"content": text})
    cut = {"content": text, "parse_special": True, "with_pieces": True}
    await llama.ask("/tokenize", {**cut, "add_special": True})
    tokens: list[dict[str, Any]] = (await llama.ask("/tokenize", cut))["tokens"]
    return tokens


async def record_llama(llama: Recorder) -> list[Text]:
    """Record llama.cpp: the reference texts, and each of them step by step."""
    for path in ("/health", "/props", "/v1/models"):
        await llama.ask(path)
    texts = [await reference_text(llama, name, asked) for name, asked in PROMPTS.items()]
    for group in GROUPS.values():
        prompt = (await llama.ask("/apply-template", group))["prompt"]
        await llama_ids(llama, prompt)
    comma = (await llama.ask("/tokenize", {"content": ","}))["tokens"][0]
    for text in texts:
        say(f"llama.cpp: {text.name}, {len(text.answer_ids)} tokens")
        await llama_ids(llama, text.answer)
        await llama.ask("/detokenize", {"tokens": text.answer_ids})
        for position in range(len(text.answer_ids)):
            await step_llama(llama, text, position, whole_token=comma)
        for prefix in text.prefixes:
            await llama.ask(CHAT, continued_body(text, prefix))
    await llama.ask(
        "/completion", {**GREEDY, "prompt": [34] * 3000, "n_predict": 1, "n_probs": TOP}
    )
    await llama.ask(CHAT, {"messages": user("word " * 5000), **GREEDY, "max_tokens": 1})
    return texts


async def step_llama(llama: Recorder, text: Text, position: int, *, whole_token: int) -> None:
    """Ask for one position: as it comes, and with the reference token pushed.

    Where the token that comes is a part of a character no logprobs are reported; then a token
    that is whole is pushed.
    """
    asked = {"n_predict": 1, "n_probs": TOP, "cache_prompt": True, "return_tokens": True}
    body = {"prompt": text.before(position), **GREEDY, **asked}
    await llama.ask("/completion", body)
    for token in (text.answer_ids[position], whole_token):
        answer = await llama.ask("/completion", {**body, "logit_bias": {str(token): PUSH}})
        if "completion_probabilities" in answer:
            return


# --------------------------------------------------------------------------------------- vLLM


async def record_vllm(vllm: Recorder, texts: list[Text], *, model: str) -> None:
    """Record vLLM: the same texts forced in each way that it offers, and what it refuses."""
    for path in ("/health", "/version", "/v1/models"):
        await vllm.ask(path)
    for group in GROUPS.values():
        await shown_prompt(vllm, {"model": model, **group})
    for text in texts:
        say(f"vLLM: {text.name}")
        shown = await shown_prompt(vllm, {"model": model, "messages": text.messages})
        if shown != text.prompt_ids:
            say(f"  its prompt has other ids than llama.cpp's: {shown}")
        await cut_texts(vllm, text, model=model)
        await forced(vllm, text, model=model)
        await generated(vllm, text, model=model)
        if text.name in CONTINUED:
            await echoed(vllm, text, model=model)
            await continued(vllm, text, model=model)
    await refused(vllm, model=model)


async def shown_prompt(vllm: Recorder, fields: dict[str, Any]) -> list[int]:
    """Ask for a rendered prompt in the three ways."""
    chat = {**fields, **GREEDY, "max_tokens": 1}
    rendered = await vllm.ask(RENDER, chat)
    await vllm.ask("/tokenize", {**fields, "return_token_strs": True})
    await vllm.ask(CHAT, {**chat, "return_prompt_text": True, "return_token_ids": True})
    ids: list[int] = rendered["token_ids"]
    return ids


async def cut_texts(vllm: Recorder, text: Text, *, model: str) -> None:
    """Ask for the ids of prompt and answer as text, and for the text of the answer's ids."""
    for content in (text.prompt, text.answer):
        for special in (True, False):
            body = {"model": model, "prompt": content, "add_special_tokens": special}
            await vllm.ask("/tokenize", {**body, "return_token_strs": True})
    await vllm.ask("/detokenize", {"model": model, "tokens": text.answer_ids})


async def forced(vllm: Recorder, text: Text, *, model: str) -> None:
    """Force the answer's ids: in one request by prompt logprobs, then position by position."""
    body = {"model": model, **GREEDY, "max_tokens": 1, "return_token_ids": True}
    whole = text.before(len(text.answer_ids))
    await vllm.ask(COMPLETIONS, {**body, "prompt": whole, "prompt_logprobs": TOP})
    step = {**body, "logprobs": TOP, "return_tokens_as_token_ids": True}
    for position, token in enumerate(text.answer_ids):
        before = {**step, "prompt": text.before(position)}
        await vllm.ask(COMPLETIONS, before)
        await vllm.ask(COMPLETIONS, {**before, "logit_bias": {str(token): PUSH}})


async def generated(vllm: Recorder, text: Text, *, model: str) -> None:
    """Let it answer itself: as chat, with its tokens as text and as ids, and from raw ids."""
    chat = {"model": model, **chat_body(text.messages), "return_token_ids": True}
    await vllm.ask(CHAT, chat)
    await vllm.ask(CHAT, {**chat, "return_tokens_as_token_ids": True})
    raw = {"model": model, **GREEDY, "max_tokens": MAX_TOKENS, "logprobs": TOP}
    raw |= {"return_token_ids": True, "return_tokens_as_token_ids": True}
    await vllm.ask(COMPLETIONS, {**raw, "prompt": text.prompt_ids})


async def echoed(vllm: Recorder, text: Text, *, model: str) -> None:
    """Force by ``echo``, as servers of older days are asked; with and without ids."""
    whole = text.before(len(text.answer_ids))
    body = {"model": model, **GREEDY, "prompt": whole, "echo": True, "logprobs": TOP}
    await vllm.ask(COMPLETIONS, {**body, "max_tokens": 0})
    await vllm.ask(COMPLETIONS, {**body, "max_tokens": 1})
    shown = {"return_token_ids": True, "return_tokens_as_token_ids": True}
    await vllm.ask(COMPLETIONS, {**body, **shown, "max_tokens": 1})


async def continued(vllm: Recorder, text: Text, *, model: str) -> None:
    """Force through the chat endpoint: each beginning of the answer, then all of it at once."""
    flags = {"model": model, "add_generation_prompt": False, "continue_final_message": True}
    flags["return_token_ids"] = True
    for prefix in text.prefixes:
        await vllm.ask(CHAT, continued_body(text, prefix, **flags))
    await vllm.ask(CHAT, continued_body(text, text.answer, **flags, prompt_logprobs=TOP))


async def refused(vllm: Recorder, *, model: str) -> None:
    """Ask for what it does not give."""
    chat = {"model": model, "messages": user("Hello"), **GREEDY, "max_tokens": 1}
    await vllm.ask(CHAT, {**chat, "model": "another"})
    await vllm.ask(CHAT, {**chat, "messages": user("word " * 5000)})
    await vllm.ask(CHAT, {**chat, "logprobs": True, "top_logprobs": TOP + 1})
    await vllm.ask(CHAT, {**chat, "n": 2})
    raw = {"model": model, **GREEDY, "prompt": [34, 35], "max_tokens": 1}
    await vllm.ask(COMPLETIONS, {**raw, "max_tokens": 0, "prompt_logprobs": TOP})
    await vllm.ask(COMPLETIONS, {**raw, "prompt_logprobs": TOP + 1})
    await vllm.ask(COMPLETIONS, {**raw, "prompt": [34] * 4096})


def say(line: str) -> None:
    """Tell the user how far it is."""
    sys.stderr.write(f"{line}\n")


async def record(chosen: argparse.Namespace) -> None:
    """Record both servers into the folder, or one vLLM more."""
    folder: Path = chosen.folder
    if chosen.llama:
        async with recording(chosen.llama, folder / "llama.jsonl.xz") as llama:
            write_texts(folder / TEXTS, await record_llama(llama))
    texts = [Text(**text) for text in json.loads((folder / TEXTS).read_text("utf-8"))]
    async with recording(chosen.vllm, folder / f"vllm-{chosen.name}.jsonl.xz") as vllm:
        model = (await vllm.ask("/v1/models"))["data"][0]["id"]
        await record_vllm(vllm, texts, model=model)


def write_texts(file: Path, texts: list[Text]) -> None:
    """Write a list with a text a line."""
    lines = (json.dumps(asdict(text), ensure_ascii=False) for text in texts)
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def main() -> None:
    """Read the command line and record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vllm", required=True, metavar="URL")
    parser.add_argument("--llama", metavar="URL")
    parser.add_argument("--name", default="float32", help="names the file of the vLLM's answers")
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(record(chosen))


if __name__ == "__main__":
    main()
