"""G6, context: codes at two depths of a long prompt find one that is cut silently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from denv.instruments.gates.asking import Reply, chat, greedy, user
from denv.instruments.gates.model import Check, State
from denv.instruments.gates.positions import gaps, paired
from denv.instruments.gates.texts import long_prompt
from denv.instruments.gates.tokenizing import Tokenizer
from denv.instruments.probes import Strand
from denv.records import Json, ProblemKind, Side

TOKENS = 24
CODES = {"north": "48213", "south": "90571"}
OTHER_CODES = {"north": "31764", "south": "26408"}
DEPTHS = {"north": "head", "south": "middle"}

SEEN_NATS = 1e-4
EXACT_NATS = 1e-6
"""A side whose logprobs move by no more repeats itself to the last digits."""


@dataclass(frozen=True, slots=True)
class Context:
    """The answer to a long prompt, and to the same with one of its codes changed.

    ``tokens`` is how many tokens the prompt's text has by the side's own tokenizer.
    """

    answer: Reply
    tokens: int | None
    changed: Mapping[str, Reply]


def ask_context(side: Side, tokenizer: Tokenizer | None, *, tokens: int) -> Strand[Context]:
    """Ask for the codes; where they are not recalled, ask with other ones as well."""
    text = long_prompt(tokens, **CODES)
    answer = yield from _ask(side, text)
    cut = None if tokenizer is None else (yield from tokenizer.cut(text))
    own = None if cut is None else len(cut.ids)
    changed: dict[str, Reply] = {}
    if answer.trouble is None:
        for place, code in CODES.items():
            if code not in answer.said:
                other = long_prompt(tokens, **{**CODES, place: OTHER_CODES[place]})
                changed[place] = yield from _ask(side, other)
    return Context(answer, own, changed)


def _ask(side: Side, text: str) -> Strand[Reply]:
    return (yield from chat(side, greedy(user(text), max_tokens=TOKENS, logprobs=True)))


# ---------------------------------------------------------------- judging


def context_checks(
    contexts: Mapping[Side, Context], *, drifts: Mapping[Side, float | None]
) -> list[Check]:
    """Judge each side; a prompt that only the stage refuses is a limit of its own."""
    checks = [_check(side, contexts[side], drift=drifts[side]) for side in Side]
    refused = {side: _refusal(contexts[side]) for side in Side}
    if refused[Side.STAGE] and not refused[Side.REFERENCE]:
        counted = contexts[Side.REFERENCE].answer.prompt_tokens
        size = "that" if counted is None else f"of {counted} tokens that"
        said = f"the stage refuses a prompt {size} the reference takes ({refused[Side.STAGE]})"
        checks[0] = Check("context", State.FAIL, said, Side.STAGE)
    return checks


def _refusal(context: Context) -> str | None:
    problem = context.answer.observation.problem
    refused = problem is not None and problem.kind is ProblemKind.REFUSED
    return problem.message if problem is not None and refused else None


def _check(side: Side, context: Context, *, drift: float | None) -> Check:
    name, answer = "context", context.answer
    counted = answer.prompt_tokens
    evidence: dict[str, Json] = {"prompt_tokens": counted, "text_tokens": context.tokens}
    if answer.trouble is not None:
        refused = _refusal(context) is not None
        how = "refuses the long prompt, and does not cut it" if refused else "gave no answer"
        said = f"the {side} {how} ({answer.trouble})"
        return Check(name, State.UNKNOWN, said, side, needed=not refused, evidence=evidence)
    if counted is not None and context.tokens is not None and counted < context.tokens:
        said = f"the {side} counts {counted} tokens of a prompt that has {context.tokens} and more"
        return Check(name, State.FAIL, said, side, evidence=evidence)
    depths = {DEPTHS[place]: _depth(context, place, drift=drift) for place in CODES}
    evidence["depths"] = {depth: how for depth, (_, how) in depths.items()}
    blind = [depth for depth, (state, _) in depths.items() if state is State.FAIL]
    unsure = [depth for depth, (state, _) in depths.items() if state is State.UNKNOWN]
    size = f"{counted} tokens" if counted is not None else "the long prompt"
    if blind:
        said = f"the {side} does not see the {' and the '.join(blind)} of {size}"
        return Check(name, State.FAIL, said, side, evidence=evidence)
    if unsure:
        said = f"whether the {side} sees the {' and the '.join(unsure)} of {size} does not show"
        return Check(name, State.UNKNOWN, said, side, evidence=evidence)
    said = f"the {side} sees the head and the middle of {size}"
    return Check(name, State.PASS, said, side, evidence=evidence)


def _depth(context: Context, place: str, *, drift: float | None) -> tuple[State, str]:
    """Judge one depth by recall, else by whether another code changes the next token's odds."""
    if CODES[place] in context.answer.said:
        return State.PASS, "recalled"
    changed = context.changed.get(place)
    if changed is None or changed.trouble is not None:
        return State.UNKNOWN, "not asked with another code"
    found = gaps(paired(context.answer.observation, changed.observation)[:1])
    if not found:
        return State.UNKNOWN, "not recalled, and no logprobs"
    moved, noise = max(found), drift or 0.0
    if moved > max(SEEN_NATS, 3 * noise):
        return State.PASS, f"another code moves the next token by {moved:.2g} nats"
    if moved <= EXACT_NATS and noise <= EXACT_NATS:
        return State.FAIL, "another code changes nothing"
    return (
        State.UNKNOWN,
        f"another code moves the next token by {moved:.2g} nats, noise {noise:.2g}",
    )
