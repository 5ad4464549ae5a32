"""Chat that continues an assistant message which has begun: the last way to force a text.

The part that is forced goes through the server as text, so that its tokens may be cut otherwise
than they were generated; where the server counts its prompt, positions that do not add up are
left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from denv.instruments.probes import CHAT, Probe, Strand
from denv.instruments.tokens.forcing import PREFILL, Forced, ForcingError
from denv.instruments.tokens.readings import centred
from denv.instruments.tokens.targets import Target, Text, one_line
from denv.observe import observe
from denv.records import Json, Observation, Side, TokenLogprob

TOP = 20

FORMS: Mapping[str, tuple[Mapping[str, Json], Mapping[str, Json]]] = {
    "continue_final_message": (
        {"continue_final_message": True, "add_generation_prompt": False},
        {},
    ),
    "prefix": ({}, {"prefix": True}),
    "plain": ({}, {}),
}
"""How servers are told to go on: fields of the request, and of the last message."""

AGREES_NATS = 0.5
"""How far a continued token's logprob may be from the generated one's in the trial."""


@dataclass(frozen=True, slots=True)
class Prefill:
    """One token of chat behind each part of the text."""

    side: Side
    form: str
    path: ClassVar[str] = PREFILL
    needs_ids: ClassVar[bool] = False

    def force(self, target: Target, *, repeat: int) -> Strand[Forced]:
        """Ask for the token behind each part; None where a part is no text by itself."""
        pieces = target.text.pieces
        if not pieces:
            raise ForcingError("the reference does not show the bytes of its tokens")
        found: list[TokenLogprob | None] = []
        counts: list[int | None] = []
        for part in accumulate(pieces[:-1], initial=b""):
            observation = yield from self._continued(target.text, part, repeat=repeat)
            counts.append(_prompt_tokens(observation))
            said = observation.logprobs[0] if observation and observation.logprobs else None
            found.append(None if said is None else centred(said, piece=pieces[len(found)]))
        return tuple(_adding_up(found, counts))

    def trial(self, text: Text) -> Strand[bool]:
        """Whether the token after two parts of a generated text is the text's own."""
        pieces = text.pieces or ()
        places = [at for at in (2, 4) if at < len(pieces)]
        for at in places:
            observation = yield from self._continued(text, b"".join(pieces[:at]), repeat=0)
            said = observation.logprobs[0] if observation and observation.logprobs else None
            if said is None or not _same(said, text.read[at]):
                return False
        return bool(places)

    def _continued(self, text: Text, part: bytes, *, repeat: int) -> Strand[Observation | None]:
        try:
            said = part.decode()
        except UnicodeDecodeError:
            return None
        exchange = yield Probe(self.side, CHAT, self._body(text, said), repeat)
        observation = observe(exchange)
        if observation.problem is not None:
            raise ForcingError(one_line(observation.problem.message))
        return observation

    def _body(self, text: Text, said: str) -> dict[str, Json]:
        body = {
            **text.prompt.fields(),
            "max_tokens": 1,
            "temperature": 0,
            "seed": 0,
            "stream": False,
            "logprobs": True,
            "top_logprobs": TOP,
        }
        if said:
            fields, marks = FORMS[self.form]
            body |= fields
            body["messages"] = [*body["messages"], {"role": "assistant", "content": said, **marks}]
        return body


def _same(said: TokenLogprob, generated: TokenLogprob) -> bool:
    if said.bytes != generated.bytes or said.logprob is None or generated.logprob is None:
        return False
    return abs(said.logprob - generated.logprob) <= AGREES_NATS


def _prompt_tokens(observation: Observation | None) -> int | None:
    usage = observation.usage if observation else None
    return None if usage is None else usage.prompt_tokens


def _adding_up(
    found: Sequence[TokenLogprob | None], counts: Sequence[int | None]
) -> list[TokenLogprob | None]:
    """Leave out positions whose prompt is not one token longer for each token of the part."""
    if len(counts) < 2 or counts[1] is None:
        return list(found)
    # The empty part is another request: its prompt ends where the answer begins.
    return [
        one if at == 0 or count is None or count - counts[1] == at - 1 else None
        for at, (one, count) in enumerate(zip(found, counts, strict=True))
    ]
