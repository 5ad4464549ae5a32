"""T2, derivations: problems of several steps to both sides, their answers judged by an oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from denv.instruments.admission import gate_warnings, is_admissible, refusals_of
from denv.instruments.derivations import bank
from denv.instruments.derivations.document import refused, told
from denv.instruments.derivations.forms import Item
from denv.instruments.derivations.judging import Read, assess, judge_finals
from denv.instruments.derivations.outcomes import read_derivation
from denv.instruments.derivations.scoring import Oracle
from denv.instruments.paired.asking import ask_both, chat_body, cost_of, sampling_warnings
from denv.instruments.paired.judging import MARGIN, MAX_ALPHA, Settings
from denv.instruments.probes import Cost, Finding, SideFacts, Strand, Work
from denv.records import Json, Observation, Side

SCHEMA = "denv.parity.derivations/1"

SEED = 20_250
PER_TEMPLATE = 3
MAX_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Derivations:
    """The instrument, with all that decides what it asks and finds.

    Parameters
    ----------
    oracle
        Compares answers with truths. It is given what models write, so it must be one that
        always ends, such as one in a process that can be killed. Called from a thread.
    per_template, seed, fields
        How many items of each template the seed draws, and of which fields; both sides are
        asked the same.
    max_tokens
        Of each answer. One that it cuts off is truncated, never wrong.
    margin
        The difference of the shares of right answers that matters, as a share.
    alpha
        The level of the verdict, at most 0.05, and one less the confidence of every interval;
        smaller where there are several looks.
    gates, force
        A ``denv.parity.gates/1`` document; where it says that derivations mean nothing here,
        nothing is asked unless forced.
    """

    oracle: Oracle
    per_template: int = PER_TEMPLATE
    seed: int = SEED
    fields: tuple[str, ...] = bank.FIELDS
    max_tokens: int = MAX_TOKENS
    margin: float = MARGIN
    alpha: float = MAX_ALPHA
    gates: Mapping[str, Json] | None = None
    force: bool = False

    name = "derivations"
    schema = SCHEMA

    def settings(self) -> Mapping[str, Json]:
        """Give all that decides what is asked and found."""
        rule = self.rule()
        return {
            "per_template": self.per_template,
            "seed": self.seed,
            "fields": list(self.fields),
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

    def items(self) -> tuple[Item, ...]:
        """Give the items that both sides are asked."""
        return _items(self.seed, self.per_template, self.fields)

    def cost(self) -> Mapping[Side, Cost]:
        """Estimate what will be asked, at the most."""
        return cost_of([item.prompt for item in self.items()], max_tokens=self.max_tokens)

    def strand(self, facts: Mapping[Side, SideFacts]) -> Strand[Finding]:
        """Measure both sides."""
        refusals = refusals_of(self.gates, self.name, facts=facts)
        if refusals and not self.force:
            return refused(refusals, sampling_warnings(facts))
        items = self.items()
        bodies = [
            chat_body([{"role": "user", "content": item.prompt}], max_tokens=self.max_tokens)
            for item in items
        ]

        def read(_: int, answer: Observation) -> Read:
            return read_derivation(answer, max_tokens=self.max_tokens)

        found = yield from ask_both(bodies, read, facts=facts)
        readings = yield from judge_finals(items, found, oracle=self.oracle)
        warnings = [*sampling_warnings(facts), *gate_warnings(self.gates, self.name, facts=facts)]
        # The libraries of statistics take a second, so it is done in a thread.
        finding: Finding = yield Work(
            lambda: told(assess(items, readings, settings=self.rule()), warnings)
        )
        return finding


@lru_cache(maxsize=4)
def _items(seed: int, per_template: int, fields: tuple[str, ...]) -> tuple[Item, ...]:
    """Draw the items once; SymPy takes a second to compute their truths."""
    return bank.items(seed, per_template, fields=fields)
