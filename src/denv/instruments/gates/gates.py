"""The gates as one instrument: each question in its turn, both sides side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from denv.instruments.gates.admissible import refusals
from denv.instruments.gates.asking import Reply, both
from denv.instruments.gates.context import TOKENS as CONTEXT_ANSWER_TOKENS
from denv.instruments.gates.context import ask_context, context_checks
from denv.instruments.gates.determinism import (
    ANSWER_TOKENS,
    Repeats,
    ask_again,
    determinism_checks,
    drift_of,
    first_answers,
)
from denv.instruments.gates.determinism import GATE as DETERMINISM
from denv.instruments.gates.groups import GROUPS
from denv.instruments.gates.instruments_gate import instruments_gate
from denv.instruments.gates.limits import Limits, ask_limits, limit_checks
from denv.instruments.gates.logprobs_real import factor_check, logprob_checks
from denv.instruments.gates.model import Check, Gate, State, judged, worst
from denv.instruments.gates.penalties import TOKENS as PENALTY_TOKENS
from denv.instruments.gates.penalties import ask_penalised, penalty_checks
from denv.instruments.gates.rendering import find_renderer
from denv.instruments.gates.sampling import sampling_checks
from denv.instruments.gates.serving_path import GATE as SERVING_PATH
from denv.instruments.gates.serving_path import (
    REASONING_TOKENS,
    Raw,
    raw_answers,
    raw_check,
    reasoning_answers,
    reasoning_checks,
)
from denv.instruments.gates.template import template_gate
from denv.instruments.gates.texts import FILLERS, OPEN_QUESTIONS, QUESTIONS, TRICKY
from denv.instruments.gates.tokenizer import tokenizer_gate
from denv.instruments.gates.tokenizing import Tokenizer, find_tokenizer
from denv.instruments.probes import Cost, Finding, SideFacts, Strand
from denv.instruments.selfcheck import SelfCheck
from denv.records import Json, Side

LIMITS = ("G6", "sampling, limits, logprobs")

_SHORT_PROMPT = 60
_LONG_PROMPT = 250
"""Tokens of prompts, generously: tools take the longer one."""


@dataclass(frozen=True, slots=True)
class Gates:
    """The instrument of ``denv parity gates``.

    ``selfcheck`` is the self-check's result, None where it was not made. ``context_tokens`` is
    about how long the prompt with codes at two depths is. ``samples`` are taken at temperature
    1, ``top_p_samples`` with top_p 0.5; ``seed`` draws the resamples of their tests. Default
    limits below ``default_tokens`` are found: those of 16, 20, 100, 128 and 256 that servers have.
    """

    selfcheck: SelfCheck | None
    context_tokens: int = 800
    samples: int = 64
    top_p_samples: int = 20
    default_tokens: int = 272
    seed: int = 0

    @property
    def name(self) -> str:
        """The word for it on the command line."""
        return "gates"

    @property
    def schema(self) -> str:
        """The name of its document's form."""
        return "denv.parity.gates/1"

    def settings(self) -> Mapping[str, Json]:
        """Give all that decides what is asked and found."""
        known = self.selfcheck
        return {
            "context_tokens": self.context_tokens,
            "samples": self.samples,
            "top_p_samples": self.top_p_samples,
            "default_tokens": self.default_tokens,
            "seed": self.seed,
            "selfcheck": None if known is None else {"passed": known.passed, "total": known.total},
        }

    def cost(self) -> Mapping[Side, Cost]:
        """Estimate what will be asked of either side, at the most."""
        answers = 4 * len(QUESTIONS) + len(FILLERS) + 4
        ones = len(OPEN_QUESTIONS) + 2 * (self.samples + self.top_p_samples) + 1
        parts = (
            _cost(len(TRICKY) + 1, completion=1),
            _cost(2 * len(GROUPS) + len(QUESTIONS), prompt=_LONG_PROMPT, completion=1),
            _cost(answers + 2 * len(QUESTIONS), completion=ANSWER_TOKENS),
            _cost(len(QUESTIONS) + 1, completion=REASONING_TOKENS),
            _cost(2, completion=self.default_tokens),
            _cost(4, completion=PENALTY_TOKENS),
            _cost(3, prompt=2 * self.context_tokens, completion=CONTEXT_ANSWER_TOKENS),
            _cost(ones, completion=1),
        )
        total = sum(parts, Cost())
        return dict.fromkeys(Side, total)

    def strand(self, facts: Mapping[Side, SideFacts]) -> Strand[Finding]:
        """Ask both sides, gate by gate."""
        gates = [instruments_gate(self.selfcheck)]
        tokenizers: dict[Side, Tokenizer | None] = yield from both(find_tokenizer)
        firsts = yield from both(first_answers)
        gates.append((yield from tokenizer_gate(tokenizers, firsts)))
        renderers = yield from both(lambda side: find_renderer(side, tokenizers[side]))
        same_ids = None not in tokenizers.values() and gates[-1].state is State.PASS
        gates.append((yield from template_gate(renderers, same_ids=same_ids)))
        repeats = yield from both(lambda side: ask_again(side, firsts[side]))
        gates.append(_determinism(repeats, facts))
        raws = yield from both(lambda side: raw_answers(side, renderers[side], firsts[side]))
        lengthy = yield from reasoning_answers(firsts)
        stable = {side: _repeats_itself(gates[3], side) for side in Side}
        gates.append(_serving_path(firsts, raws, lengthy, stable=stable))
        drifts = {side: drift_of(gates[3].checks, side) for side in Side}
        known = _Known(firsts, lengthy, raws, tokenizers, drifts, stable)
        gates.append((yield from self._limits(known)))
        return finding_of(gates)

    def _limits(self, known: _Known) -> Strand[Gate]:
        limits = yield from both(lambda side: self._ask_limits(side, known))
        checks = limit_checks(limits)
        contexts = yield from both(
            lambda side: ask_context(side, known.tokenizers[side], tokens=self.context_tokens)
        )
        checks += context_checks(contexts, drifts=known.drifts)
        checks += penalty_checks((yield from both(ask_penalised)), stable=known.stable)
        sampled = yield from both(
            lambda side: sampling_checks(
                side, hot=self.samples, cut=self.top_p_samples, seed=self.seed
            )
        )
        answers = {side: (*known.firsts[side], limits[side].bounded) for side in Side}
        for side in Side:
            checks += sampled[side]
            raw, drift = known.raws[side], known.drifts[side]
            checks += logprob_checks(side, answers[side], raw, drift_nats=drift)
        checks.append(factor_check(answers[Side.STAGE], answers[Side.REFERENCE]))
        return judged(LIMITS, checks, passes=_LIMITS_HOLD)

    def _ask_limits(self, side: Side, known: _Known) -> Strand[Limits]:
        plain, max_tokens = known.firsts[side][0], ANSWER_TOKENS
        if not plain.text:  # it has only thought so far
            plain, max_tokens = known.lengthy[side][0], REASONING_TOKENS
        return (
            yield from ask_limits(side, plain, max_tokens=max_tokens, tokens=self.default_tokens)
        )


_LIMITS_HOLD = (
    "default max_tokens, stop strings, context, penalties, temperature and top_p hold, "
    "and logprobs are real, complete and unscaled"
)


@dataclass(frozen=True, slots=True)
class _Known:
    """What earlier gates have learned that the last one needs."""

    firsts: Mapping[Side, tuple[Reply, ...]]
    lengthy: Mapping[Side, tuple[Reply, ...]]
    raws: Mapping[Side, Raw]
    tokenizers: Mapping[Side, Tokenizer | None]
    drifts: Mapping[Side, float | None]
    stable: Mapping[Side, bool]


def finding_of(gates: list[Gate]) -> Finding:
    """Put the gates and what they allow into a document's body; the worst gate decides."""
    reasons = refusals(gates)
    body: dict[str, Json] = {
        "gates": [gate.document() for gate in gates],
        "admissible": {name: not why for name, why in reasons.items()},
        "reasons": {name: why for name, why in reasons.items() if why},
    }
    return Finding(worst([gate.state for gate in gates]).value, body)


def _determinism(repeats: Mapping[Side, Repeats], facts: Mapping[Side, SideFacts]) -> Gate:
    checks: list[Check] = []
    for side in Side:
        checks += determinism_checks(side, repeats[side], facts=facts[side])
    passes = "both sides repeat themselves (again, among other requests, with other seeds)"
    return judged(DETERMINISM, checks, passes=f"{passes}, and temperature 0 is greedy")


def _repeats_itself(gate: Gate, side: Side) -> bool:
    return all(gate.state_of(name, side) is not State.FAIL for name in ("warm", "batched", "seeds"))


def _serving_path(
    firsts: Mapping[Side, tuple[Reply, ...]],
    raws: Mapping[Side, Raw],
    lengthy: Mapping[Side, tuple[Reply, ...]],
    *,
    stable: Mapping[Side, bool],
) -> Gate:
    checks = [raw_check(side, firsts[side], raws[side], stable=stable[side]) for side in Side]
    checks += reasoning_checks(lengthy)
    passes = "chat answers as the raw completion of its own prompt does"
    return judged(SERVING_PATH, checks, passes=passes)


def _cost(requests: int, *, completion: int, prompt: int = _SHORT_PROMPT) -> Cost:
    return Cost(requests, requests * prompt, requests * completion)
