"""DeepInfer as an offline model: written to its published interface, 0.1.0.

It has not been run: DeepInfer needs Blackwell GPUs or Ascend 950 NPUs, Python 3.12 and a build of
its own. What is assumed of it is what its package shows: ``LLM(model=…, decode_sequence=False)``,
``SamplingParams``, and a ``generate`` of token ids that gives the tokens of each completion in
turn, with ``token_id``, ``token_logprobs``, ``top_logprobs``, ``top_token_ids``, ``prompt_len``
and ``finish_reason``.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from denv.adapter.engines.offline import Answer
from denv.adapter.engines.protocol import (
    Alternative,
    Ended,
    EngineFault,
    EngineInfo,
    Prompt,
    Sampling,
    Token,
)
from denv.errors import UsageError

PACKAGE = "deepinfer"


class DeepInferModel:
    """DeepInfer's ``LLM`` behind the seam; the keywords are those that it is made with.

    Its promise to be deterministic stands where ``DEEPINFER_BATCH_INVARIANT=1`` and
    ``DEEPINFER_ENABLE_MTP_VARLEN=0`` are set in the environment, so it is not claimed here.
    """

    def __init__(self, *, model: str, **keywords: Any) -> None:
        llm, self._sampling = _import()
        self._llm = llm(model=model, decode_sequence=False, **keywords)
        self._tokenizer = self._llm.get_tokenizer()
        self._context = keywords.get("max_model_len")
        self._version = str(import_module(PACKAGE).__version__)

    def describe(self) -> EngineInfo:
        """Tell what was loaded."""
        return EngineInfo(
            name=PACKAGE,
            version=self._version,
            context_tokens=self._context,
            takes=frozenset(("ids",)),
        )

    def generate(self, prompts: Sequence[Prompt], sampling: Sequence[Sampling]) -> list[Answer]:
        """Complete a batch of ids."""
        outputs = self._llm.generate(
            prompt_token_ids=[list(prompt.ids or ()) for prompt in prompts],
            sampling_params=[self._params(one) for one in sampling],
            use_tqdm=False,
        )
        if len(outputs) != len(prompts):
            raise EngineFault("it gave not one completion a prompt")
        return [self._read(one, asked) for one, asked in zip(outputs, sampling, strict=True)]

    def close(self) -> None:
        """Let go of the weights."""
        self._llm.close()

    def _params(self, asked: Sampling) -> Any:
        return self._sampling(
            temperature=asked.temperature,
            top_p=asked.top_p,
            max_tokens=asked.max_tokens,
            top_logprobs=asked.logprobs or 0,
            seq_seed=asked.seed,
        )

    def _read(self, outputs: Sequence[Any], asked: Sampling) -> Answer:
        reason = str(outputs[-1].finish_reason) if outputs else ""
        if reason == "prompt_length_exceeded":
            return EngineFault("the prompt is longer than it takes", status=400)
        if reason not in ("stop", "length"):
            return EngineFault(f"it ended a completion with {reason[:80]!r}", retry=True)
        kept = list(outputs)
        if reason == "stop":  # it stops at the end-of-sequence token alone, which is the last
            kept.pop()
        tokens = list(_tokens(kept, asked, self._piece))
        prompt = int(outputs[-1].prompt_len)
        ended = Ended(
            "stop" if reason == "stop" else "length",
            prompt_tokens=prompt,
            completion_tokens=len(outputs),
        )
        return [*tokens, ended]

    def _piece(self, token_id: int) -> bytes:
        """Give a token's bytes; byte-level vocabularies write each byte as one character."""
        piece = self._tokenizer.convert_ids_to_tokens(token_id)
        if token_id in self._tokenizer.added_tokens_decoder:
            return str(piece).encode()
        return bytes(_BYTES[character] for character in piece)


def _tokens(
    outputs: Sequence[Any], asked: Sampling, piece: Callable[[int], bytes]
) -> Iterator[Token]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for output in outputs:
        own = piece(output.token_id)
        logprob = None if asked.logprobs is None else float(output.token_logprobs)
        yield Token(
            decoder.decode(own),
            own,
            id=int(output.token_id),
            logprob=logprob,
            alternatives=tuple(_alternatives(output, piece)) if asked.logprobs else (),
        )


def _alternatives(output: Any, piece: Callable[[int], bytes]) -> Iterator[Alternative]:
    for one, logprob in zip(output.top_token_ids, output.top_logprobs, strict=True):
        own = piece(one)
        yield Alternative(own.decode("utf-8", "replace"), float(logprob), bytes=own, id=int(one))


def _byte_characters() -> dict[str, int]:
    """Give the characters by which byte-level vocabularies write bytes.

    Printable ones stand for themselves, the others for the characters from 256 on.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    own = {chr(byte): byte for byte in printable}
    return own | {chr(256 + place): byte for place, byte in enumerate(others)}


_BYTES = _byte_characters()


def _import() -> tuple[Any, Any]:
    try:
        llm = import_module(f"{PACKAGE}.entrypoints.llm").LLM
        sampling = import_module(f"{PACKAGE}.sampling_params").SamplingParams
    except ModuleNotFoundError as error:
        raise UsageError(f"{PACKAGE} cannot be imported: {error}") from None
    return llm, sampling
