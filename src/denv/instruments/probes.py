"""How an instrument asks: a generator that yields what it wants answered, and is fed the answers.

The same generator runs against servers, from the journal, and in tests without a socket: only
who answers its probes is another.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from denv.records import Exchange, Json, Side
from denv.strictjson import StrictJsonError, loads

T = TypeVar("T")

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"


@dataclass(frozen=True, slots=True)
class Probe:
    """One request to one side.

    ``path`` begins at the server's root, which is the base URL without its ``/v1``. ``body`` is
    sent as POST with the side's model and extra fields added, None is a GET. The same request
    asked again is another probe by its ``repeat``; equal probes are asked once and then come
    from the journal.
    """

    side: Side
    path: str
    body: Mapping[str, Json] | None = None
    repeat: int = 0

    @property
    def streamed(self) -> bool:
        """Whether the answer is asked for as server-sent events."""
        return self.body is not None and self.body.get("stream") is True


@dataclass(frozen=True, slots=True)
class Together:
    """Strands that run side by side, at most ``most`` at a time; their results come as a list.

    With ``most`` None all of them begin at once, and only the side's slots hold them back.
    """

    strands: Sequence[Strand[Any]]
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """Work that takes long or must be killable; it is done in a thread, its value comes back."""

    function: Callable[[], Any]


Step = Probe | Together | Work
Strand = Generator[Step, Any, T]
"""A generator of steps. It is sent an ``Exchange`` for a probe, a list for ``Together``."""


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What is known of a side before an instrument asks it.

    ``concurrency`` is how many requests it is asked at once. ``sampled`` says that it samples in
    spite of temperature 0, ``sampled_at`` at which temperature where it has said so, as adapters do
    of their thinking mode. ``engine`` is a word for the engine where the side has shown it.
    ``url`` is the side's base URL, None where there is none, as in tests without a server.
    """

    model: str
    concurrency: int = 8
    engine: str | None = None
    sampled: bool = False
    sampled_at: float | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What an instrument is going to ask of one side, at the most."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """What an instrument gives in the end.

    ``body`` is its document, strict JSON, without what every document has (schema, id, times,
    sides, what was spent). ``exit_verdict`` is the word that decides the exit code.
    """

    exit_verdict: str
    body: Mapping[str, Json] = field(default_factory=dict)


class Instrument(Protocol):
    """A measurement: its settings decide, with the answers, everything that it finds."""

    @property
    def name(self) -> str:
        """The word for it on the command line, as ``tokens``."""

    @property
    def schema(self) -> str:
        """The name of its document's form, as ``denv.parity.tokens/1``."""

    def settings(self) -> Mapping[str, Json]:
        """Give all that decides what is asked and found, as strict JSON."""

    def cost(self) -> Mapping[Side, Cost]:
        """Estimate what will be asked, at the most."""

    def strand(self, facts: Mapping[Side, SideFacts]) -> Strand[Finding]:
        """Begin to measure."""


def json_of(exchange: Exchange) -> Json | None:
    """Give the JSON of an answer with status 200, None for anything else."""
    if exchange.fault is not None or exchange.status != 200:
        return None
    try:
        return loads(exchange.body)
    except StrictJsonError:
        return None


def ask(probe: Probe) -> Strand[Exchange]:
    """Ask one probe, as a strand of its own."""
    exchange: Exchange = yield probe
    return exchange


def ask_all(probes: Sequence[Probe], *, most: int | None = None) -> Strand[list[Exchange]]:
    """Ask several probes side by side."""
    exchanges: list[Exchange] = yield Together([ask(probe) for probe in probes], most)
    return exchanges


def play(strand: Strand[T], answer: Callable[[Probe], Exchange]) -> T:
    """Run a strand to its end with a function in the servers' place, one probe after another."""
    try:
        step = next(strand)
        while True:
            step = strand.send(_played(step, answer))
    except StopIteration as end:
        value: T = end.value
        return value


def _played(step: Step, answer: Callable[[Probe], Exchange]) -> Any:
    match step:
        case Probe():
            return answer(step)
        case Together():
            return [play(strand, answer) for strand in step.strands]
        case Work():
            return step.function()
