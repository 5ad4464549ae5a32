"""A server as a function: a small random language model behind the engines' own paths.

Its next token depends on every token before it, so that whatever changes a prompt shows. Each
field of ``Toy`` is a way of serving, and most are a way of serving wrongly.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from typing import Any

from denv.instruments.gates import Gates
from denv.instruments.probes import CHAT, COMPLETIONS, Probe, SideFacts, play
from denv.instruments.selfcheck import SelfCheck
from denv.records import Exchange, Side

PIECES = r"<\|im_(?:start|end)\|>| ?\w+|\s|[^\w\s]"
CODE_POINTS = r"<\|im_(?:start|end)\|>|(?s:.)"
NAMES = ["stone", "river", "cloud", "lamp", "garden", "paper", "silver", "window", "music", "bread"]
WORDS = [" " + name + end for name in NAMES for end in ("", "s", "ly", "er")] + [" ha"]
END = "<|im_end|>"
SYSTEM = "You are a helpful toy."


@dataclass(frozen=True)
class Toy:
    """How it serves: by default as llama.cpp does, faithfully."""

    engine: str = "llama.cpp"
    pieces: str = PIECES
    ids_from: int = 10
    system: str = SYSTEM
    turn_end: str = END + "\n"
    with_tools: bool = True
    doubled: bool = False
    logprobs: bool = True
    scale: float = 1.0
    sentinels: bool = False
    most_top: int = 20
    temperature: float | None = None
    takes_top_p: bool = True
    neutral: bool = True
    drift: float = 0.0
    default_max_tokens: int = 400
    stops: bool = True
    penalties: bool = True
    default_penalty: float = 0.0
    keep: int | None = None
    honest_count: bool = True
    counts: bool = True
    most_prompt: int | None = None
    reasoning: str | None = None
    think: str | None = None
    refuses: str | None = None
    down: bool = False

    def __call__(self, probe: Probe) -> Exchange:
        """Answer a probe."""
        return _answered(self, probe.path, json.dumps(dict(probe.body or {})), probe.repeat)

    def answer(self, path: str, body: dict[str, Any], *, repeat: int) -> tuple[int, Any]:
        """Give the status and the JSON of an answer."""
        if self.down:
            return 503, error("overloaded")
        if path == CHAT:
            return self._chat(body, repeat=repeat)
        if self.engine == "llama.cpp":
            return self._llama_cpp(path, body)
        if self.engine == "vllm":
            return self._vllm(path, body)
        return 404, error("no such path")

    # ------------------------------------------------------------ paths

    def _llama_cpp(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/tokenize":
            cut = self.cut(body.get("content", ""))
            return 200, {"tokens": [{"id": one, "piece": piece} for one, piece in cut]}
        if path == "/detokenize":
            return 200, {"content": "".join(f"<{one}>" for one in body["tokens"])}
        if path == "/apply-template":
            return 200, {"prompt": self.render(body)}
        return self._raw(body) if path == COMPLETIONS else (404, error("File Not Found"))

    def _vllm(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/tokenize":
            text = self.render(body) if "messages" in body else body.get("prompt")
            if text is None:
                return 400, error("prompt: field required")
            cut = self.cut(text)
            strings = [piece for _, piece in cut] if body.get("return_token_strs") else None
            ids = [one for one, _ in cut]
            return 200, {"count": len(ids), "max_model_len": 4096, "tokens": ids,
                         "token_strs": strings}  # fmt: skip
        if path == "/v1/chat/completions/render":
            return 200, {"token_ids": [one for one, _ in self.cut(self.render(body))]}
        return self._raw(body) if path == COMPLETIONS else (404, error("Not Found"))

    def _raw(self, body: dict[str, Any]) -> tuple[int, Any]:
        prompt = body["prompt"]
        ids = [one for one, _ in self.cut(prompt)] if isinstance(prompt, str) else prompt
        faithful = Toy(logprobs=self.logprobs)
        tokens = faithful._generate(ids, body, noise="")
        choice: dict[str, Any] = {
            "index": 0,
            "text": "".join(token for token, _ in tokens if token != END),
            "finish_reason": finish(tokens, body),
            "prompt_token_ids": ids if body.get("return_token_ids") else None,
        }
        if self.logprobs:
            shown = [faithful._entry(*one, top=body.get("logprobs") or 0) for one in tokens]
            choice["logprobs"] = {"content": shown}
        return 200, {"choices": [choice], "usage": usage(len(ids), len(tokens))}

    def _chat(self, body: dict[str, Any], *, repeat: int) -> tuple[int, Any]:
        if self.refuses is not None and self.refuses in json.dumps(body):
            return 400, error(f"{self.refuses} is not supported")
        if not self.neutral and "top_k" in body:
            return 400, error("top_k: extra fields are not permitted")
        messages = body["messages"]
        if self.keep is not None:
            messages = [m | {"content": (m["content"] or "")[-self.keep :]} for m in messages]
        text = self.render(body | {"messages": messages})
        ids = [one for one, _ in self.cut(text)]
        counted = len(ids)
        if not self.honest_count:
            counted = len(self.cut(self.render(body)))
        if self.most_prompt is not None and counted > self.most_prompt:
            return 400, error(f"the request exceeds the context size ({self.most_prompt} tokens)")
        tokens = self._generate(ids, body, noise=f"{repeat}")
        return 200, self._completion(tokens, body, ids=ids, counted=counted, text=text)

    def _completion(
        self,
        tokens: list[tuple[str, dict[str, float]]],
        body: dict[str, Any],
        *,
        ids: list[int],
        counted: int,
        text: str,
    ) -> dict[str, Any]:
        said = "".join(token for token, _ in tokens if token != END)
        reason = finish(tokens, body)
        for stop in body.get("stop") or () if self.stops else ():
            if stop in said:
                said, reason = said.partition(stop)[0], "stop"
        message = {"role": "assistant", "content": (self.think or "") + said}
        if self.reasoning is not None:
            message["reasoning_content"] = self.reasoning
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": reason}
        if self.logprobs and body.get("logprobs"):
            shown = [self._entry(*one, top=body.get("top_logprobs", 0)) for one in tokens]
            choice["logprobs"] = {"content": shown}
        answer: dict[str, Any] = {"choices": [choice]}
        if self.counts:
            answer["usage"] = usage(counted, len(tokens))
        if self.engine == "vllm" and body.get("return_prompt_text"):
            answer |= {"prompt_text": text, "prompt_token_ids": ids}
        return answer

    # ------------------------------------------------------------ tokenizer and template

    def cut(self, text: str) -> list[tuple[int, str]]:
        """Cut a text into ids and pieces."""
        found = re.findall(self.pieces, text)
        return [(self.ids_from + zlib.crc32(piece.encode()) % 100_000, piece) for piece in found]

    def render(self, body: dict[str, Any]) -> str:
        """Make the prompt of a chat."""
        messages = body["messages"]
        parts = ["<|im_start|>"] if self.doubled else []
        system = self.system
        if messages and messages[0]["role"] in {"system", "developer"}:
            system, messages = messages[0]["content"], messages[1:]
        tools = json.dumps(body["tools"]) if self.with_tools and body.get("tools") else ""
        if system or tools:
            parts.append(f"<|im_start|>system\n{system}{tools}{self.turn_end}")
        for one in messages:
            calls = json.dumps(one["tool_calls"]) if one.get("tool_calls") else ""
            content = (one.get("content") or "") + calls
            parts.append(f"<|im_start|>{one['role']}\n{content}{self.turn_end}")
        return "".join(parts) + "<|im_start|>assistant\n"

    # ------------------------------------------------------------ the model

    def _generate(
        self, prompt: list[int], body: dict[str, Any], *, noise: str
    ) -> list[tuple[str, dict[str, float]]]:
        """Give tokens, each with the logprobs of its position."""
        most = min(body.get("max_tokens") or self.default_max_tokens, 400)
        found: list[tuple[str, dict[str, float]]] = []
        repeats = " ha ha" in str(body.get("messages", ""))
        while len(found) < most and (not found or found[-1][0] != END):
            said = [token for token, _ in found]
            values = _logprobs((*prompt, *map(hash_of, said)), repeats=repeats)
            if self.drift:
                rng = random.Random(f"{noise}{said}{prompt[-8:]}")
                values = {one: value + rng.gauss(0, self.drift) for one, value in values.items()}
                total = log(sum(map(exp, values.values())))
                values = {one: value - total for one, value in values.items()}
            found.append((self._choose(values, said, body, prompt=prompt), values))
            text = "".join([*said, found[-1][0]])
            if self.stops and any(stop in text for stop in body.get("stop") or ()):
                break
        return found

    def _choose(
        self, values: dict[str, float], said: list[str], body: dict[str, Any], *, prompt: list[int]
    ) -> str:
        temperature = body.get("temperature", 0.7)
        if self.temperature is not None:
            temperature = self.temperature
        frequency = body.get("frequency_penalty", self.default_penalty) if self.penalties else 0.0
        presence = body.get("presence_penalty", 0.0) if self.penalties else 0.0
        counts = Counter(said)
        scores = {
            one: value - frequency * counts[one] - presence * (counts[one] > 0)
            for one, value in values.items()
        }
        ranked = sorted(scores, key=lambda one: -scores[one])
        if not temperature:
            return ranked[0]
        weights = {one: exp(scores[one] / temperature) for one in ranked}
        if self.takes_top_p and body.get("top_p", 1) < 1:
            weights = nucleus(weights, body["top_p"])
        rng = random.Random(f"{body.get('seed')} {len(said)} {zlib.crc32(str(prompt).encode())}")
        return rng.choices(list(weights), list(weights.values()))[0]

    def _entry(self, token: str, values: dict[str, float], *, top: int) -> dict[str, Any]:
        ranked = sorted(values, key=lambda one: -values[one])[: min(top, self.most_top)]
        own = self._shown(token, values[token])
        listed = [self._shown(one, values[one]) for one in ranked]
        if self.sentinels:
            listed = [one | {"logprob": -9999.0} for one in listed]
            own = own | {"logprob": 0.0}
        return own | {"top_logprobs": listed}

    def _shown(self, token: str, value: float) -> dict[str, Any]:
        shown = {"token": token, "logprob": value * self.scale, "bytes": list(token.encode())}
        return shown | ({"id": hash_of(token)} if self.engine == "llama.cpp" else {})


@lru_cache(maxsize=4096)
def _answered(toy: Toy, path: str, body: str, repeat: int) -> Exchange:
    status, answer = toy.answer(path, json.loads(body), repeat=repeat)
    return Exchange(status, (("content-type", "application/json"),), json.dumps(answer).encode())


def hash_of(token: str) -> int:
    """Give the id of a generated token."""
    return 10 + zlib.crc32(token.encode()) % 100_000


@lru_cache(maxsize=65536)
def _logprobs(context: tuple[int, ...], *, repeats: bool) -> dict[str, float]:
    rng = random.Random(zlib.crc32(str(context).encode()))
    logits = {word: rng.gauss(0, 1.8) for word in WORDS}
    logits[END] = -9.0
    if repeats:
        logits[" ha"] += 6.0
    total = log(sum(map(exp, logits.values())))
    return {word: value - total for word, value in logits.items()}


def nucleus(weights: dict[str, float], top_p: float) -> dict[str, float]:
    """Keep the smallest head of the ranked weights that holds ``top_p`` of them."""
    total, held, kept = sum(weights.values()), 0.0, {}
    for one, weight in weights.items():
        if held >= top_p * total:
            break
        kept[one] = weight
        held += weight
    return kept


def finish(tokens: list[tuple[str, dict[str, float]]], body: dict[str, Any]) -> str:
    """Give the finish reason of an answer."""
    return "stop" if tokens and tokens[-1][0] == END else "length"


def usage(prompt: int, completion: int) -> dict[str, int]:
    """Write the usage."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion}
    return counts | {"total_tokens": prompt + completion}


def error(message: str) -> dict[str, Any]:
    """Write an error in the API's form."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": 400}}


SELFCHECK = SelfCheck(9, 9, ())


def measure(stage: Toy, reference: Toy | None = None, **settings: Any) -> dict[str, Any]:
    """Play all gates between two toys and give the document's body and the exit verdict."""
    servers = {Side.STAGE: stage, Side.REFERENCE: reference or Toy()}
    facts = {side: settings.pop(f"{side}_facts", SideFacts("toy")) for side in Side}
    chosen = {"selfcheck": SELFCHECK, "context_tokens": 200, "default_tokens": 40, "samples": 48}
    gates = Gates(**{**chosen, **settings})
    found = play(gates.strand(facts), lambda probe: servers[probe.side](probe))
    return {"verdict": found.exit_verdict, **found.body}


def states(found: dict[str, Any]) -> dict[str, str]:
    """Give the state of each gate."""
    return {gate["id"]: gate["state"] for gate in found["gates"]}


def check(
    found: dict[str, Any], gate: str, name: str, side: str | None = "stage"
) -> dict[str, Any]:
    """Give one check of a gate."""
    checks = next(one["evidence"]["checks"] for one in found["gates"] if one["id"] == gate)
    return next(one for one in checks if (one["check"], one["side"]) == (name, side))
