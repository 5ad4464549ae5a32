"""What is forced: a reference's greedy answer as tokens, behind a prompt as a side renders it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.bank import Prompt
from denv.instruments.tokens.readings import Readings
from denv.records import Json, Observation, Side, TokenLogprob

MOST_REASON = 200


@dataclass(frozen=True, slots=True)
class Unusable:
    """A text that could not be measured: which, at which side, and why."""

    id: str
    side: Side
    reason: str


@dataclass(frozen=True, slots=True)
class Text:
    """A greedy answer.

    ``ids`` are all tokens that were generated, the end token included where the server shows it;
    None where it shows no ids. ``read`` are the answer's own entries, as many as ``ids`` where
    both are there, empty without logprobs. ``said`` is the message's text.
    """

    prompt: Prompt
    ids: tuple[int, ...] | None
    read: Readings
    said: str | None
    prompt_tokens: int | None = None

    @property
    def pieces(self) -> tuple[bytes, ...] | None:
        """The bytes of each token, None where one's are not known."""
        found = [entry.bytes for entry in self.read]
        return tuple(one for one in found if one is not None) if _all_known(found) else None

    @property
    def length(self) -> int:
        """How many tokens it has, as far as is known."""
        return len(self.ids or self.read)


@dataclass(frozen=True, slots=True)
class Target:
    """A text as one side is forced to say it.

    ``same_ids`` says that ``ids`` are those that the reference generated.
    """

    text: Text
    prompt: tuple[int, ...]
    ids: tuple[int, ...]
    same_ids: bool

    @property
    def weight(self) -> int:
        """About what it costs: a step takes as long as a few tokens of a prompt."""
        return len(self.prompt) + 4 * len(self.ids)


def text_of(
    prompt: Prompt, observation: Observation, document: Mapping[str, Json], *, side: Side
) -> Text | Unusable:
    """Read a chat answer as a text that can be forced, or say why it cannot."""
    if observation.problem is not None:
        return Unusable(prompt.id, side, one_line(observation.problem.message))
    read = observation.logprobs or ()
    ids = _token_ids(document) or _ids_of(read)
    if ids and not _are_all(ids, observation):
        ids = None
    if not ids and (observation.reasoning is not None or observation.calls):
        what = "reasoning" if observation.reasoning else "tool calls"
        return Unusable(prompt.id, side, f"the answer has {what} and no token ids to force it by")
    if not ids and not observation.text:
        return Unusable(prompt.id, side, "the answer has no text")
    usage = observation.usage
    return Text(
        prompt=prompt,
        ids=ids,
        read=read if ids is None or len(read) == len(ids) else (),
        said=observation.text,
        prompt_tokens=None if usage is None else usage.prompt_tokens,
    )


def _are_all(ids: Sequence[int], observation: Observation) -> bool:
    """Whether the ids are all that was generated.

    llama.cpp lists of a character in several tokens the last alone, which only its count shows. An
    end token that is counted and not listed is one more; with characters of more than one byte
    the two cannot be told apart.
    """
    usage = observation.usage
    counted = None if usage is None else usage.completion_tokens
    plain = observation.text is not None and observation.text.isascii()
    if counted is None:
        return plain
    ended = plain and observation.finish_reason == "stop"
    return counted == len(ids) or (ended and counted == len(ids) + 1)


def _token_ids(document: Mapping[str, Json]) -> tuple[int, ...] | None:
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    listed = first.get("token_ids") if isinstance(first, dict) else None
    if not isinstance(listed, list) or not listed:
        return None
    return tuple(listed) if all(type(one) is int and one >= 0 for one in listed) else None


def _ids_of(read: Sequence[TokenLogprob]) -> tuple[int, ...] | None:
    found = [entry.id for entry in read]
    return tuple(one for one in found if one is not None) if found and _all_known(found) else None


def _all_known(values: Sequence[object]) -> bool:
    return all(value is not None for value in values)


def one_line(message: str) -> str:
    """Give a server's message as one line that is not too long for a document."""
    said = " ".join(message.split())
    return said if len(said) <= MOST_REASON else f"{said[: MOST_REASON - 1]}…"
