"""P1, tokens: a reference's greedy texts forced through the stage, distribution by distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from denv.instruments.admission import gate_warnings, is_admissible, refusals_of
from denv.instruments.bank import Prompt, prompts
from denv.instruments.probes import Cost, Finding, SideFacts, Strand, Together, Work
from denv.instruments.tokens.abilities import Abilities, find_abilities
from denv.instruments.tokens.decision import Margins
from denv.instruments.tokens.document import Plan, refused, summed_up
from denv.instruments.tokens.figures import RESAMPLES
from denv.instruments.tokens.forcing import PATHS, PREFILL, STEPWISE
from denv.instruments.tokens.measured import Readings, measure_chat, measure_forced
from denv.instruments.tokens.passes import ask_texts
from denv.instruments.tokens.targets import Text, Unusable
from denv.records import Json, Side

SCHEMA = "denv.parity.tokens/1"

TEXTS = 40
MAX_TOKENS = 64
TOP = 100
"""Alternatives asked for on raw paths, then 20, then 5 where a server refuses; chat lists 20."""

AUTO = "auto"

TRIAL_REQUESTS = 30
"""What finding out a side's abilities takes at the most."""

TOKENIZER_REQUESTS = 6
"""What rendering and cutting a text takes at the most; none of them is generation."""

BYTES_PER_TOKEN = 2.5
"""Of a prompt, for the estimate of its cost; a template's own tokens come on top."""

TEMPLATE_TOKENS = 64

SAMPLED = "the reference samples: its texts are not greedy, and its top 1 is not them"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The instrument, with all that decides what it asks and finds.

    Parameters
    ----------
    texts, max_tokens, categories
        How many prompts of the bank are asked, how many tokens of each answer are looked at, and
        of which categories, None for all.
    path
        ``auto``, or the one path that is used: ``prompt-logprobs``, ``stepwise``,
        ``assistant-prefill``.
    top
        Alternatives asked for at each position on raw paths.
    margins
        What counts as a difference.
    alpha
        One less the confidence of every interval; smaller where there are several looks.
    gates, force
        A ``denv.parity.gates/1`` document; where it says that tokens mean nothing here, nothing
        is measured unless forced.
    seed, resamples
        Of the bootstrap.
    """

    texts: int = TEXTS
    max_tokens: int = MAX_TOKENS
    categories: tuple[str, ...] | None = None
    path: str = AUTO
    top: int = TOP
    margins: Margins = field(default_factory=Margins)
    alpha: float = 0.05
    gates: Mapping[str, Json] | None = None
    force: bool = False
    seed: int = 0
    resamples: int = RESAMPLES

    name = "tokens"
    schema = SCHEMA

    def settings(self) -> Mapping[str, Json]:
        """Give all that decides what is asked and found."""
        return {
            "texts": self.texts,
            "max_tokens": self.max_tokens,
            "categories": None if self.categories is None else list(self.categories),
            "path": self.path,
            "top": self.top,
            "margin_kl": self.margins.kl,
            "margin_total_variation": self.margins.total_variation,
            "confidence": 1 - self.alpha,
            "gates": None if self.gates is None else is_admissible(self.gates, self.name),
            "force": self.force,
            "seed": self.seed,
            "resamples": self.resamples,
        }

    def prompts(self) -> Sequence[Prompt]:
        """Give the prompts of the bank that are asked."""
        return prompts(self.categories, limit=self.texts)

    def cost(self) -> Mapping[Side, Cost]:
        """Estimate what will be asked, at the most.

        On the stepwise path each token is a request whose prompt is all that stands ahead of
        it; servers keep that prompt, and where it is billed it is billed as kept.
        """
        answers, once, steps = Cost(), Cost(), Cost()
        for prompt in self.prompts():
            size, count = _prompt_tokens(prompt), min(self.max_tokens, prompt.max_tokens)
            answers += Cost(1 + TOKENIZER_REQUESTS, size, count)
            once += Cost(1, size + count, 1)
            steps += Cost(count, count * size + count * count // 2, count)
        pass_ = steps if self.path in {AUTO, STEPWISE, PREFILL} else once
        trial = Cost(TRIAL_REQUESTS, TRIAL_REQUESTS * TEMPLATE_TOKENS, TRIAL_REQUESTS)
        # The floor asks one side once more, and the stage for texts of its own where it is that.
        twice = trial + answers + pass_ + pass_
        return {Side.STAGE: twice, Side.REFERENCE: twice}

    def strand(self, facts: Mapping[Side, SideFacts]) -> Strand[Finding]:
        """Measure both sides."""
        warnings = []
        if facts[Side.REFERENCE].sampled:
            warnings.append(SAMPLED)
        refusals = refusals_of(self.gates, self.name, facts=facts)
        if refusals and not self.force:
            return refused(self._plan(None), refusals, warnings)
        warnings += gate_warnings(self.gates, self.name, facts=facts)
        wanted = PATHS if self.path == AUTO else (self.path,)
        found: list[Abilities] = yield Together(
            [find_abilities(side, top=self.top, wanted=wanted) for side in Side]
        )
        abilities = dict(zip(Side, found, strict=True))
        warnings += [each for one in found for each in one.warnings]
        stage, reference = abilities[Side.STAGE], abilities[Side.REFERENCE]
        path, shared = choose_path(stage, reference)
        if path is None:
            why = "the stage offers no way to force a text that the trial showed to work"
            return refused(self._plan(None), [why], warnings)
        texts = yield from ask_texts(
            self.prompts(), reference, max_tokens=self.max_tokens, facts=facts[Side.REFERENCE]
        )
        plan = self._plan(path, shared=shared, top=_top_of(stage, path))
        measure = measure_forced if shared else measure_chat
        readings: Readings = yield from measure(
            [one for one in texts if isinstance(one, Text)],
            path,
            abilities=abilities,
            facts=facts,
            max_tokens=self.max_tokens,
        )
        lost = [one for one in texts if isinstance(one, Unusable)]
        finding: Finding = yield Work(
            lambda: summed_up(plan, readings, lost=lost, warnings=warnings)
        )
        return finding

    def _plan(self, path: str | None, *, shared: bool = False, top: int | None = None) -> Plan:
        return Plan(
            asked=len(self.prompts()),
            path=path,
            shared=shared,
            top=top,
            margins=self.margins,
            alpha=self.alpha,
            seed=self.seed,
            resamples=self.resamples,
        )


def choose_path(stage: Abilities, reference: Abilities) -> tuple[str | None, bool]:
    """Give the best path that both sides offer, else the stage's best and False."""
    common = [path for path in PATHS if path in stage.forcers and path in reference.forcers]
    if common:
        return common[0], True
    return next((path for path in PATHS if path in stage.forcers), None), False


def _top_of(abilities: Abilities, path: str) -> int:
    return int(getattr(abilities.forcers[path], "top", 20))


def _prompt_tokens(prompt: Prompt) -> int:
    size = len(repr(prompt.fields()).encode())
    return int(size / BYTES_PER_TOKEN) + TEMPLATE_TOKENS
