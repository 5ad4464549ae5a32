"""What is known of each server, and of each column of the table, while they are measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from denv.instruments.speed.asking import Ask, Strand
from denv.instruments.speed.figures import decode_figures, prefill_figures
from denv.instruments.speed.sample import LEAST_PREFILLED, Sample, read_sample
from denv.records import Json, Side

GUESSED_TOKENS_PER_CHARACTER = 0.25
GUESSED_OVERHEAD = 40


@dataclass(frozen=True, slots=True)
class Target:
    """One server that is measured; ``draft`` is the length that it was started with."""

    name: str
    side: Side
    draft: int | None = None


@dataclass(slots=True)
class Server:
    """What is known of a server while it is measured.

    ``closed`` says why it is asked no deeper prompts, ``filled`` that it took the first depth.
    ``steps`` are the answers that brought its prompt cache to the present depth.
    """

    target: Target
    asked: Iterator[str]
    overhead: float = GUESSED_OVERHEAD
    tokens_per_character: float = GUESSED_TOKENS_PER_CHARACTER
    closed: str | None = None
    filled: bool = False
    steps: list[Sample] = field(default_factory=list)
    first: Sample = field(default_factory=Sample)

    def calibrate(self, short: Sample, long: Sample, *, characters: int) -> None:
        """Learn from an answer to a question alone, and one to so many characters more."""
        self.first = short
        if short.prompt_tokens is None:
            return
        self.overhead = short.prompt_tokens
        if long.prompt_tokens is not None and long.prompt_tokens > short.prompt_tokens:
            self.tokens_per_character = (long.prompt_tokens - short.prompt_tokens) / characters

    def characters(self, depth: float) -> float:
        """Give the characters of text that make a prompt of so many tokens."""
        return max(0.0, depth - self.overhead) / self.tokens_per_character

    def ask(
        self, prompt: str, max_tokens: int, *, draft: int | None = None, question: str | None = None
    ) -> Strand[Sample]:
        """Ask after a prompt: the next question, or the one that is given."""
        text = f"{prompt}\n{question or next(self.asked)}"
        (streamed,) = yield [Ask(self.target.name, text, max_tokens, draft)]
        return read_sample(streamed)

    def ask_together(self, prompt: str, max_tokens: int, level: int) -> Strand[list[Sample]]:
        """Ask so many questions at once after one prompt."""
        texts = [f"{prompt}\n{next(self.asked)}" for _ in range(level)]
        answers = yield [Ask(self.target.name, text, max_tokens) for text in texts]
        return [read_sample(streamed) for streamed in answers]

    def names(self) -> dict[str, Json]:
        """Give what the document calls it."""
        return {"server": self.target.name, "side": self.target.side.value}

    def row(self) -> Mapping[str, Json]:
        """Give its row of the present depth."""
        prefill = prefill_figures(self.steps) if self.closed is None else None
        reason = self.closed
        if reason is None and prefill is None:
            reason = self._why_no_prefill()
        return {**self.names(), "prefill": prefill, "reason": reason}

    def _why_no_prefill(self) -> str:
        if any(step.prefilled is None for step in self.steps):
            return "no prefill rate: how much was cached is not told"
        return f"no prefill rate: a step had fewer than {LEAST_PREFILLED} new tokens"

    def facts(self) -> Mapping[str, Json]:
        """Give what its answers tell and do not tell."""
        first = self.first
        return {
            "server": self.target.name,
            "counted_by": first.counted_by,
            "hidden": first.hidden,
            "tells_drafts": first.drafted is not None,
        }


@dataclass(slots=True)
class Arm:
    """One column of the table while it is measured: a server, and the length asked of it."""

    server: Server
    draft: int | None
    samples: list[Sample] = field(default_factory=list)

    def cell(self) -> Mapping[str, Json]:
        """Give its figures at the present depth."""
        length = self.draft if self.draft is not None else self.server.target.draft
        return {**self.server.names(), "draft": length, **decode_figures(self.samples)}
