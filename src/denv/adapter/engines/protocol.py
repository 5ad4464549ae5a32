"""What stands behind the adapter: a prompt goes in, tokens come out, closing cancels.

An engine only completes. Templates, roles, tools and thinking are the adapter's; batches, caches
and weights are the engine's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol

from denv.errors import DenvError

Reason = Literal["stop", "length", "cancelled"]
Takes = Literal["text", "ids"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is completed: text, which the engine tokenizes, or the token ids themselves."""

    text: str | None = None
    ids: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if (self.text is None) is (self.ids is None):
            raise ValueError("a prompt is either text or ids")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen, and when that ends.

    ``logprobs`` is how many alternatives a token comes with; 0 gives its own logprob alone and
    None gives none. Without a ``seed`` the engine draws one. Temperature 0 takes the likeliest
    token; logprobs are the model's own, before temperature and ``top_p``.
    """

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    seed: int | None = None
    logprobs: int | None = None

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError("max_tokens is 1 or more")
        if "" in self.stop:
            raise ValueError("a stop string is not empty")


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that could have stood in a place; some engines give its id alone, some its text."""

    token: str | None
    logprob: float
    bytes: bytes | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the completion, or ``count`` of them that the engine does not tell apart.

    The joined ``bytes`` are the completion. They are those that the engine let out with this token:
    a character may be split over tokens, and ``text`` then stands with the token that completes it,
    "" with those before. Special tokens come as they are written; a stop string and the
    end-of-sequence token never come.

    Where ``id`` is given, the id stands for its bytes and may be used in their place. It is None
    where the engine does not say it, where several tokens came as one, and where a stop string cut
    the token. ``logprob`` is None where none was asked for, and where ``id`` is None.
    """

    text: str
    bytes: bytes
    id: int | None = None
    logprob: float | None = None
    alternatives: tuple[Alternative, ...] = ()
    count: int = 1


@dataclass(frozen=True, slots=True)
class Ended:
    """The last thing of every completion; counts are None where the engine does not say.

    ``cancelled`` means that the engine gave up by itself. ``stop_text`` is the stop string that
    ended it, None where that was the end-of-sequence token or is not known.
    """

    reason: Reason
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    stop_text: str | None = None


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What an engine is.

    ``takes`` names the forms of prompt. ``deterministic`` says that temperature 0 gives the same
    tokens whenever they are asked for, whatever else runs.
    """

    name: str
    version: str | None
    context_tokens: int | None
    takes: frozenset[Takes]
    deterministic: bool = False


class EngineFault(DenvError):  # noqa: N818 - a fault is what the engine did, as elsewhere
    """The engine did not complete a prompt; what came before it is not an answer.

    ``status`` is the HTTP status where there was one, ``retry`` whether the same request may do
    well a little later. The message speaks of the engine as "it", holds no keys, and quotes at most
    200 characters of what the engine said.
    """

    def __init__(self, message: str, *, status: int | None = None, retry: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry = retry


class Engine(Protocol):
    """Completes prompts, several at a time."""

    async def describe(self) -> EngineInfo:
        """Ask the engine what it is.

        Raises
        ------
        EngineFault
            It does not answer.
        """
        ...

    def complete(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Token | Ended, None]:
        """Give tokens as they come, and one ``Ended`` as the last.

        Closing the generator (``aclose``, or cancelling the task that reads it) cancels the request
        in the engine.

        Raises
        ------
        EngineFault
            At any point: it cannot be reached, refuses, breaks off, or its answer makes no sense.
        """
        ...

    async def close(self) -> None:
        """Let go of connections, threads and weights; what still runs is cancelled."""
        ...
