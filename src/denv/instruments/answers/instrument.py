"""T1 and T1b, answers: integer questions to both sides, forced and with leave to be unsure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.admission import gate_warnings, is_admissible, refusals_of
from denv.instruments.answers.bank import COUNT, SEED, Condition, Item, items
from denv.instruments.answers.readings import Reading, read_answer
from denv.instruments.answers.scoring import SCHEMA, Assessment, assess
from denv.instruments.paired.asking import ask_both, chat_body, cost_of, sampling_warnings
from denv.instruments.paired.judging import MARGIN, MAX_ALPHA, Settings
from denv.instruments.probes import Cost, Finding, SideFacts, Strand, Work
from denv.records import Json, Observation, Side

MAX_TOKENS = 1024

TOP_LOGPROBS = 5
"""Few alternatives are enough to tell logprobs that are real from ones that were filled in."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The instrument, with all that decides what it asks and finds.

    Parameters
    ----------
    items, seed
        How many items of the bank that the seed draws; both sides are asked the same.
    conditions
        In which conditions each item is asked.
    max_tokens
        Of each answer. One that it cuts off is truncated, never wrong.
    margin
        The difference of the shares of right answers that matters, as a share.
    alpha
        The level of the verdict, at most 0.05, and one less the confidence of every interval;
        smaller where there are several looks.
    gates, force
        A ``denv.parity.gates/1`` document; where it says that answers mean nothing here, nothing
        is asked unless forced.
    """

    items: int = COUNT
    seed: int = SEED
    conditions: tuple[Condition, ...] = tuple(Condition)
    max_tokens: int = MAX_TOKENS
    margin: float = MARGIN
    alpha: float = MAX_ALPHA
    gates: Mapping[str, Json] | None = None
    force: bool = False

    name = "answers"
    schema = SCHEMA

    def settings(self) -> Mapping[str, Json]:
        """Give all that decides what is asked and found."""
        rule = self.rule()
        return {
            "items": self.items,
            "seed": self.seed,
            "conditions": [one.value for one in self.conditions],
            "max_tokens": self.max_tokens,
            "margin": rule.margin,
            "alpha": rule.alpha,
            "confidence": rule.confidence,
            "floor": rule.floor,
            "ceiling": rule.ceiling,
            "gates": None if self.gates is None else is_admissible(self.gates, self.name),
            "force": self.force,
        }

    def rule(self) -> Settings:
        """Give the margins and levels of the verdict."""
        return Settings(margin=self.margin, alpha=self.alpha, confidence=1 - self.alpha)

    def cost(self) -> Mapping[Side, Cost]:
        """Estimate what will be asked, at the most."""
        prompts = [item.prompt(condition) for item, condition in self._questions()]
        return cost_of(prompts, max_tokens=self.max_tokens)

    def strand(self, facts: Mapping[Side, SideFacts]) -> Strand[Finding]:
        """Measure both sides."""
        refusals = refusals_of(self.gates, self.name, facts=facts)
        if refusals and not self.force:
            return _refused(refusals, sampling_warnings(facts))
        questions = self._questions()
        bodies = [
            chat_body(
                item.messages(condition), max_tokens=self.max_tokens, top_logprobs=TOP_LOGPROBS
            )
            for item, condition in questions
        ]

        def read(place: int, answer: Observation) -> Reading:
            return read_answer(questions[place][0].truth, answer, max_tokens=self.max_tokens)

        found = yield from ask_both(bodies, read, facts=facts)
        warnings = [*sampling_warnings(facts), *gate_warnings(self.gates, self.name, facts=facts)]
        finding: Finding = yield Work(lambda: self._finding(questions, found, warnings))
        return finding

    def _questions(self) -> list[tuple[Item, Condition]]:
        bank = items(self.seed, count=self.items)
        return [(item, condition) for condition in self.conditions for item in bank]

    def _finding(
        self,
        questions: Sequence[tuple[Item, Condition]],
        found: Mapping[Side, Sequence[Reading]],
        warnings: Sequence[str],
    ) -> Finding:
        """Assess all readings; libraries of statistics take a second, so it is done in a thread."""

        def of(side: Side, condition: Condition) -> dict[str, Reading]:
            paired = zip(questions, found[side], strict=True)
            return {item.id: reading for (item, asked), reading in paired if asked is condition}

        bank = items(self.seed, count=self.items)
        readings = {one: (of(Side.REFERENCE, one), of(Side.STAGE, one)) for one in self.conditions}
        return _told(assess(bank, readings, settings=self.rule()), len(bank), warnings)


def _told(found: Assessment, asked: int, warnings: Sequence[str]) -> Finding:
    said = [*warnings]
    for one in found.conditions:
        said += [f"{one.condition.value}: {each}" for each in one.traces.warnings()]
        said += [
            f"{one.condition.value}: the {side} gives no confidence that can be read from its"
            " logprobs"
            for side, summary in ((Side.STAGE, one.stage), (Side.REFERENCE, one.reference))
            if not summary.sure and summary.counts["right"] + summary.counts["wrong"]
        ]
    return Finding(found.verdict, {**found.document(), "warnings": said, "asked": asked})


def _refused(reasons: Sequence[str], warnings: Sequence[str]) -> Finding:
    """Give the document of a measurement that was not made."""
    body: dict[str, Json] = {
        "traces": None,
        "verdict": "undecided",
        "reasons": list(reasons),
        "warnings": list(warnings),
        "asked": 0,
        "conditions": None,
    }
    return Finding("undecided", body)
