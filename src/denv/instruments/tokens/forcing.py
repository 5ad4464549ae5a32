"""The ways to make a server say what it thinks of a given text, best first.

Each is tried on a short prompt before it is relied on: engines ignore fields that they do not
know, and answer something else with status 200.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import orjson

from denv.instruments.probes import COMPLETIONS, Probe, Strand
from denv.instruments.tokens.readings import (
    Readings,
    centred,
    of_choice,
    of_input_logprobs,
    of_prompt_logprobs,
)
from denv.instruments.tokens.targets import Target, one_line
from denv.records import Exchange, Json, Side, TokenLogprob

PROMPT_LOGPROBS = "prompt-logprobs"
STEPWISE = "stepwise"
PREFILL = "assistant-prefill"
PATHS = (PROMPT_LOGPROBS, STEPWISE, PREFILL)
"""The paths, best first: one request a text, one request a token, and that through chat."""

PUSH = 100
"""The largest bias that the API allows."""

SAME_NATS = 1e-3
"""By so much the same value may differ when it is asked for twice."""

Forced = tuple[Any, ...]
"""A reading for each token of a target (``TokenLogprob``), None where there is none."""


class ForcingError(Exception):
    """A server would not say what was asked of it; the message is one line for the document."""


class Forcer(Protocol):
    """One way to force a text through one side."""

    path: ClassVar[str]
    needs_ids: ClassVar[bool]

    @property
    def side(self) -> Side:
        """The side that is asked."""

    def force(self, target: Target, *, repeat: int) -> Strand[Forced]:
        """Read the side's distribution at each token; a refusal raises ``ForcingError``."""


@dataclass(frozen=True, slots=True)
class PromptLogprobs:
    """vLLM's ``prompt_logprobs``: the whole text in one request."""

    side: Side
    top: int
    path: ClassVar[str] = PROMPT_LOGPROBS
    needs_ids: ClassVar[bool] = True

    def force(self, target: Target, *, repeat: int) -> Strand[Forced]:
        """Send prompt and text as the prompt, and read what stands at its end."""
        body = {**_greedy(target), "prompt_logprobs": self.top}
        document = yield from asked(self.side, COMPLETIONS, body, repeat=repeat)
        listed = choice_of(document).get("prompt_logprobs", document.get("prompt_logprobs"))
        read = of_prompt_logprobs(listed, target.ids, behind=len(target.prompt))
        return _whole(read, target)


@dataclass(frozen=True, slots=True)
class InputLogprobs:
    """SGLang's ``/generate`` with ``return_logprob``: the whole text in one request."""

    side: Side
    top: int
    path: ClassVar[str] = PROMPT_LOGPROBS
    needs_ids: ClassVar[bool] = True

    def force(self, target: Target, *, repeat: int) -> Strand[Forced]:
        """Send prompt and text as input ids; logprobs begin one before the text."""
        body = {
            "input_ids": [*target.prompt, *target.ids],
            "sampling_params": {"temperature": 0, "max_new_tokens": 1},
            "return_logprob": True,
            "logprob_start_len": max(0, len(target.prompt) - 1),
            "top_logprobs_num": self.top,
            "return_text_in_logprobs": True,
            "stream": False,
        }
        document = yield from asked(self.side, "/generate", body, repeat=repeat)
        return _whole(of_input_logprobs(document.get("meta_info"), target.ids), target)


@dataclass(frozen=True, slots=True)
class Echo:
    """Legacy completions that echo the prompt with its logprobs: one request."""

    side: Side
    top: int
    path: ClassVar[str] = PROMPT_LOGPROBS
    needs_ids: ClassVar[bool] = True

    def force(self, target: Target, *, repeat: int) -> Strand[Forced]:
        """Send prompt and text as the prompt, and read its echo."""
        body = {**_greedy(target), "echo": True, "logprobs": self.top}
        document = yield from asked(self.side, COMPLETIONS, body, repeat=repeat)
        read = of_choice(choice_of(document)) or ()
        first, count = len(target.prompt), len(target.ids)
        # An ignored echo gives the one generated token alone.
        whole = first + count <= len(read) <= first + count + 1
        return _whole(read[first : first + count] if whole else None, target)


@dataclass(frozen=True, slots=True)
class CompletionSteps:
    """Raw completions of one token, from ever longer prompts of ids.

    With ``pushes`` the text's own token is made the choice, so that it is listed however deep it
    lies; only where that moves no value, as engines do that list raw ones.
    """

    side: Side
    top: int
    pushes: bool = True
    path: ClassVar[str] = STEPWISE
    needs_ids: ClassVar[bool] = True

    def force(self, target: Target, *, repeat: int) -> Strand[Forced]:
        """Ask for the token after each part of the text."""
        found: list[TokenLogprob] = []
        while len(found) < len(target.ids):
            at = len(found)
            found += [(yield from self._step(target, at, repeat=repeat, pushes=self.pushes))]
        return tuple(found)

    def moves_nothing(self, target: Target) -> Strand[bool]:
        """Whether the listed values are the same with and without the push."""
        at = len(target.ids) - 1
        pushed = yield from self._step(target, at, repeat=0, pushes=True)
        plain = yield from self._step(target, at, repeat=0, pushes=False)
        values = {one.id: one.logprob for one in pushed.top if one.logprob is not None}
        same = [
            abs(values[one.id] - one.logprob) <= SAME_NATS
            for one in plain.top
            if one.logprob is not None and one.id in values
        ]
        return len(same) > 1 and all(same)

    def _step(self, target: Target, at: int, *, repeat: int, pushes: bool) -> Strand[TokenLogprob]:
        part, token_id = replace(target, ids=target.ids[:at]), target.ids[at]
        # Without ids, tokens of equal text would be one.
        asks = {"logprobs": self.top, "return_tokens_as_token_ids": True}
        body = {**_greedy(part), **asks}
        if pushes:
            body["logit_bias"] = {str(token_id): PUSH}
        document = yield from asked(self.side, COMPLETIONS, body, repeat=repeat)
        read = of_choice(choice_of(document))
        if not read or read[0].id is None:
            raise ForcingError(f"{COMPLETIONS} gave no logprobs with token ids")
        return centred(read[0], token_id=token_id)


def choice_of(document: Mapping[str, Json]) -> dict[str, Json]:
    """Give the first choice of an answer, an empty one where there is none."""
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def refusal(path: str, exchange: Exchange) -> str:
    """Say in one line why there is no answer."""
    if exchange.fault is not None:
        return one_line(f"{path}: {exchange.fault.message}")
    said = exchange.body[:300].decode("utf-8", "replace")
    return one_line(f"{path}: status {exchange.status}: {said}")


def asked(
    side: Side, path: str, body: Mapping[str, Json], *, repeat: int
) -> Strand[Mapping[str, Any]]:
    """Ask, and raise ``ForcingError`` for what is not an object with status 200."""
    exchange = yield Probe(side, path, body, repeat)
    document = parsed(exchange)
    if not isinstance(document, dict):
        raise ForcingError(refusal(path, exchange))
    return document


def parsed(exchange: Exchange) -> Json:
    """Parse an answer quickly: while a list of hundreds of tokens is read, its slot waits."""
    if exchange.fault is not None or exchange.status != 200:
        return None
    try:
        return orjson.loads(exchange.body)
    except orjson.JSONDecodeError:
        return None


def _greedy(target: Target) -> dict[str, Json]:
    ids = [*target.prompt, *target.ids]
    return {"prompt": ids, "max_tokens": 1, "temperature": 0, "seed": 0, "stream": False}


def _whole(read: Readings | None, target: Target) -> Forced:
    if read is None or len(read) != len(target.ids):
        raise ForcingError("the answer does not hold the prompt's logprobs")
    return read


def tops(most: int) -> Sequence[int]:
    """Give how many alternatives to ask for, most first: servers cap them at 20 or 5."""
    return sorted({most, *(cap for cap in (20, 5) if cap < most)}, reverse=True)
