"""Synthetic engines whose next-token distributions are known exactly, in every server's shape.

A model draws its logits from its context, so that two engines of the same model agree to the last
bit, and one with ``noise`` differs by a divergence that :meth:`Engine.exact_kl` sums over the
whole vocabulary.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from denv.instruments.probes import Probe
from denv.records import Exchange, Side

USER, ASSISTANT, END = 0, 1, 2
SPECIALS = ("<user>", "<assistant>", "<end>")
WORDS = (b"a", b"b", b"c", b" the", b" sea", b" of", b" and", b"ing", b" x", b".", b"\n", b" ab")
"""What is generated besides the end; bytes are tokens too, but only in prompts."""

BYTE = len(SPECIALS) + len(WORDS)
DEPTH = 8
"""So many tokens of context decide."""

PIECES = (b"", b"", b"", *WORDS)


@cache
def _logits(seed: int, context: tuple[int, ...]) -> np.ndarray:
    key = zlib.crc32(repr((seed, context)).encode())
    return np.random.default_rng(key).normal(scale=2.0, size=len(WORDS) + 1)


@dataclass
class Engine:
    """A server in one flavour: ``llama``, ``vllm``, ``sglang``, ``echo``, ``chat``, ``prefill``.

    ``noise`` moves every logit by a normal number of this size, drawn from the context.
    ``logprobs`` is what it shows of its distributions: ``real``, ``none``, ``zero``, ``sentinel``,
    ``above`` (logits).
    ``spelling`` shifts all ids, as another tokenizer has others. ``refuses`` are paths that are
    404; ``most`` is the longest list that it gives on raw paths.
    """

    flavour: str = "llama"
    seed: int = 1
    noise: float = 0.0
    logprobs: str = "real"
    spelling: int = 0
    most: int = 1000
    slots: int = 2
    end_logit: float = -6.0
    refuses: Callable[[Probe], bool] = lambda probe: False
    seen: list[Probe] = field(default_factory=list)

    # ------------------------------------------------------------ the model

    def distribution(self, context: Sequence[int]) -> Any:
        """Give the log-probabilities of the end token and the words."""
        tail = tuple(context[-DEPTH:])
        logits = _logits(self.seed, tail).copy()
        logits[0] += self.end_logit
        if self.noise:
            logits = logits + self.noise * _logits(self.seed + 1000, tail) / 2.0
        return logits - np.logaddexp.reduce(logits)

    def exact_kl(self, stage: Engine, context: Sequence[int]) -> float:
        """Sum KL(self‖stage) over the whole vocabulary."""
        p, q = self.distribution(context), stage.distribution(context)
        return float((np.exp(p) * (p - q)).sum())

    def generate(self, context: Sequence[int], count: int) -> list[int]:
        """Generate greedily; the end token is the last that is given."""
        given: list[int] = []
        while len(given) < count and (not given or given[-1] != END):
            best = int(np.argmax(self.distribution([*context, *given])))
            given.append(END if best == 0 else len(SPECIALS) + best - 1)
        return given

    # ------------------------------------------------------------ tokens

    def cut(self, text: bytes) -> list[int]:
        """Cut a text into the longest words, and bytes where there is none."""
        ids: list[int] = []
        while text:
            name = next((s for s in SPECIALS if text.startswith(s.encode())), None)
            word = max((w for w in WORDS if text.startswith(w)), key=len, default=None)
            if name is not None:
                ids.append(SPECIALS.index(name))
                text = text[len(name) :]
            elif word is not None:
                ids.append(len(SPECIALS) + WORDS.index(word))
                text = text[len(word) :]
            else:
                ids.append(BYTE + text[0])
                text = text[1:]
        return ids

    def join(self, ids: Sequence[int], *, specials: bool = True) -> bytes:
        """Give the text of ids."""
        if min(ids, default=0) < 0:
            raise ValueError("an id out of range")
        names = [s.encode() if specials else b"" for s in SPECIALS]
        return b"".join(
            names[i] if i < len(SPECIALS) else PIECES[i] if i < BYTE else bytes([i - BYTE])
            for i in ids
        )

    def render(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Write a conversation as the prompt of its answer."""
        roles = {"assistant": "<assistant>"}
        parts = [f"{roles.get(m['role'], '<user>')}{m.get('content') or ''}" for m in messages]
        return "".join(parts) + "<assistant>"

    def _out(self, ids: Sequence[int]) -> list[int]:
        return [i + self.spelling for i in ids]

    def _in(self, ids: Sequence[int]) -> list[int]:
        return [i - self.spelling for i in ids]

    # ------------------------------------------------------------ answers

    def __call__(self, probe: Probe) -> Exchange:
        """Answer a probe as the flavour's server does."""
        self.seen.append(probe)
        routes: dict[str, dict[str, Callable[[Any], Any]]] = {
            "llama": {
                "/props": lambda _: {"total_slots": self.slots},
                "/apply-template": lambda b: {"prompt": self.render(b["messages"])},
                "/tokenize": self._llama_tokenize,
                "/detokenize": lambda b: {"content": self._text(b["tokens"])},
                "/completion": self._completion,
            },
            "vllm": {
                "/tokenize": self._vllm_tokenize,
                "/detokenize": lambda b: {"prompt": self._text(b["tokens"])},
                "/v1/completions": self._completions,
            },
            "sglang": {"/tokenize": self._vllm_tokenize, "/generate": self._generate},
            "echo": {"/tokenize": self._vllm_tokenize, "/v1/completions": self._completions},
            "chat": {},
            "prefill": {},
        }
        route = {"/v1/chat/completions": self._chat, **routes[self.flavour]}.get(probe.path)
        if route is None or self.refuses(probe):
            return Exchange(404, body=b'{"error": {"message": "no such path"}}')
        try:
            answer = route(probe.body)
        except ValueError as error:
            return Exchange(400, body=json.dumps({"error": {"message": str(error)}}).encode())
        status = 400 if isinstance(answer, dict) and "error" in answer else 200
        return Exchange(status, body=json.dumps(answer).encode())

    def _text(self, ids: Sequence[int]) -> str:
        return self.join(self._in(ids)).decode("utf-8", "replace")

    def _llama_tokenize(self, body: Any) -> Any:
        ids = self.cut(body.get("content", "").encode())
        pieces = [self.join([i]).decode("utf-8", "replace") for i in ids]
        listed = zip(self._out(ids), pieces, strict=True)
        return {"tokens": [{"id": i, "piece": piece} for i, piece in listed]}

    def _vllm_tokenize(self, body: Any) -> Any:
        if "messages" in body:
            return {"tokens": self._out(self.cut(self.render(body["messages"]).encode()))}
        if "prompt" not in body:
            return {"error": {"message": "prompt is missing"}}
        return {"tokens": self._out(self.cut(body["prompt"].encode()))}

    def _listed(self, context: Sequence[int], count: int) -> list[tuple[int, float]]:
        """Give the likeliest tokens with their logprobs as they are shown."""
        found = self.distribution(context)
        order = [int(i) for i in np.argsort(-found, kind="stable")][:count]
        shown = {
            "zero": lambda v: 0.0,
            "sentinel": lambda v: -9999.0,
            "above": lambda v: v + 20.0,
        }.get(self.logprobs, float)
        return [(END if i == 0 else len(SPECIALS) + i - 1, shown(found[i])) for i in order]

    def _value(self, context: Sequence[int], token: int) -> float:
        listed = dict(self._listed(context, len(WORDS) + 1))
        return listed.get(token, -100.0)

    def _entry(self, context: Sequence[int], token: int, *, count: int, ids: bool) -> Any:
        def one(each: int, value: float) -> dict[str, Any]:
            piece = PIECES[each] if each < BYTE else bytes([each - BYTE])
            shown = {"token": piece.decode("latin-1"), "logprob": value, "bytes": list(piece)}
            return {"id": each + self.spelling, **shown} if ids else shown

        top = [one(*each) for each in self._listed(context, count)]
        return {**one(token, self._value(context, token)), "top_logprobs": top}

    def _chat(self, body: Any) -> Any:
        prompt, prefix = self._conversation(body)
        said = self.generate([*prompt, *prefix], body["max_tokens"])
        shows = self.flavour == "llama"  # vLLM shows the ids of the choice alone
        context = [*prompt, *prefix]
        content = [
            self._entry([*context, *said[:n]], t, count=body.get("top_logprobs", 0), ids=shows)
            for n, t in enumerate(said)
        ]
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "stop" if said[-1] == END else "length",
            "message": {"role": "assistant", "content": self.join(said, specials=False).decode()},
        }
        if self.logprobs != "none":
            choice["logprobs"] = {"content": content}
        if self.flavour == "vllm" and body.get("return_token_ids"):
            choice["token_ids"] = self._out(said)
        usage = {"prompt_tokens": len(context), "completion_tokens": len(said)}
        return {"object": "chat.completion", "choices": [choice], "usage": usage}

    def _conversation(self, body: Any) -> tuple[list[int], list[int]]:
        """Give the prompt's ids and those of an answer that has begun."""
        messages = body["messages"]
        goes_on = self.flavour == "prefill" and body.get("continue_final_message")
        if goes_on and messages[-1]["role"] == "assistant":
            prompt = self.cut(self.render(messages[:-1]).encode())
            return prompt, self.cut(messages[-1]["content"].encode())
        return self.cut(self.render(messages).encode()), []

    def _completion(self, body: Any) -> Any:
        """Answer as llama.cpp: raw values, whatever the bias chooses; a list to several prompts."""
        if body["prompt"] and isinstance(body["prompt"][0], list):
            parts = [self._completion({**body, "prompt": prompt}) for prompt in body["prompt"]]
            # In whatever order they were done.
            return [{**part, "index": n} for n, part in enumerate(parts)][::-1]
        context = self._in(body["prompt"])
        biased = [each[0] - self.spelling for each in body.get("logit_bias", [])]
        said = biased or self.generate(context, body["n_predict"])
        count = min(body["n_probs"], self.most)
        entries = [
            self._entry([*context, *said[:n]], t, count=count, ids=True) for n, t in enumerate(said)
        ]
        new = 1 if body["cache_prompt"] else len(context)
        counts = {"tokens_evaluated": len(context), "tokens_predicted": len(said)}
        return {"completion_probabilities": entries, **counts, "timings/prompt_n": new}

    def _completions(self, body: Any) -> Any:
        ids = self._in(body["prompt"])
        asked = body.get("prompt_logprobs" if self.flavour == "vllm" else "logprobs")
        asked = body.get("logprobs") if asked is None else asked
        if asked is not None and asked > self.most:
            return {"error": {"message": f"{asked} is more than {self.most}"}}
        choice: dict[str, Any] = {"index": 0, "text": "?", "finish_reason": "length"}
        pushed = [int(each) - self.spelling for each in body.get("logit_bias", {})]
        said = pushed or self.generate(ids, 1)
        if self.flavour == "vllm" and "prompt_logprobs" in body:
            choice["prompt_logprobs"] = [
                None if n == 0 else self._mapping(ids[:n], ids[n], asked) for n in range(len(ids))
            ]
        elif self.flavour == "echo" and body.get("echo"):
            choice["logprobs"] = self._legacy([], [*ids, *said], asked)
        elif self.flavour == "vllm":
            choice["logprobs"] = self._legacy(ids, said, asked)
        return {"choices": [choice]}

    def _mapping(self, context: Sequence[int], token: int, count: int) -> dict[str, Any]:
        listed = {token: self._value(context, token), **dict(self._listed(context, count))}
        found = {}
        for each, value in listed.items():
            said = PIECES[each].decode("latin-1") if each < BYTE else "?"
            found[str(each + self.spelling)] = {"logprob": value, "decoded_token": said}
        return found

    def _legacy(self, context: Sequence[int], ids: Sequence[int], count: int) -> dict[str, Any]:
        def name(token: int) -> str:
            if self.flavour == "vllm":
                return f"token_id:{token + self.spelling}"
            return self.join([token]).decode("latin-1")

        own, tops = [], []
        for n, token in enumerate(ids):
            before = [*context, *ids[:n]]
            own.append(self._value(before, token) if before else None)
            listed = self._listed(before, count) if before else []
            tops.append({name(i): v for i, v in listed} or None)
        return {"tokens": list(map(name, ids)), "token_logprobs": own, "top_logprobs": tops}

    def _generate(self, body: Any) -> Any:
        """Answer as SGLang: lists from ``logprob_start_len`` on, the first without a value."""
        ids, start = self._in(body["input_ids"]), body["logprob_start_len"]
        own, tops = [], []
        for n in range(start, len(ids)):
            known = n > start
            own.append(self._triple(self._value(ids[:n], ids[n]) if known else None, ids[n]))
            listed = self._listed(ids[:n], body["top_logprobs_num"])
            tops.append([self._triple(v, i) for i, v in listed] if known else None)
        return {"text": "?", "meta_info": {"input_token_logprobs": own, "input_top_logprobs": tops}}

    def _triple(self, value: float | None, token: int) -> list[Any]:
        return [value, token + self.spelling, self.join([token], specials=False).decode("latin-1")]


def both(stage: Engine, reference: Engine) -> Callable[[Probe], Exchange]:
    """Answer for both sides."""
    return lambda probe: (stage if probe.side is Side.STAGE else reference)(probe)
