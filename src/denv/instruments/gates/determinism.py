"""G4: whether each side repeats itself, and whether temperature 0 is greedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.gates.asking import Reply, chat, greedy, in_turn, user
from denv.instruments.gates.model import Check, State
from denv.instruments.gates.parting import parting
from denv.instruments.gates.positions import gaps, paired, shared_tokens
from denv.instruments.gates.texts import FILLERS, QUESTIONS
from denv.instruments.probes import SideFacts, Strand, Together
from denv.records import Json, Side, TokenLogprob

GATE = ("G4", "determinism")

ANSWER_TOKENS = 24
TIE_NATS = 1e-6
DRIFT_NATS = 0.05
"""Logprobs of the same answer may move by this much; what moves more decides other tokens."""

_ROUNDS: tuple[tuple[int, ...], ...] = ((0, 1, 2, 3), (2, 4, 0, 5, 6, 1))
"""What is asked at once: numbers of questions and, after them, of fillers."""


@dataclass(frozen=True, slots=True)
class Repeats:
    """A side's answers to the questions: first, again at once, in each batch, with other seeds."""

    first: tuple[Reply, ...]
    warm: tuple[Reply, ...]
    batched: tuple[tuple[Reply, ...], ...]
    seeds: tuple[Reply, ...]


def first_answers(side: Side) -> Strand[tuple[Reply, ...]]:
    """Ask the questions one after another, alone."""
    return tuple((yield from _ask_alone(side, repeat=0)))


def ask_again(side: Side, first: tuple[Reply, ...]) -> Strand[Repeats]:
    """Ask the questions again: alone, among others, with the seed unset and with another."""
    warm = yield from _ask_alone(side, repeat=1)
    rounds = enumerate(_ROUNDS)
    batched = yield from in_turn(
        [_ask_together(side, members, repeat=2 + number) for number, members in rounds]
    )
    body = _question_body(QUESTIONS[0])
    unseeded = {name: value for name, value in body.items() if name != "seed"}
    seeds = yield from in_turn([chat(side, one) for one in (unseeded, body | {"seed": 7})])
    return Repeats(first, tuple(warm), tuple(batched), tuple(seeds))


def _question_body(question: str) -> dict[str, Json]:
    """Write the body in which a question is asked each time."""
    return greedy(user(question), max_tokens=ANSWER_TOKENS, logprobs=True)


def _ask_alone(side: Side, *, repeat: int) -> Strand[list[Reply]]:
    asked = [chat(side, _question_body(question), repeat=repeat) for question in QUESTIONS]
    return (yield from in_turn(asked))


def _ask_together(side: Side, members: Sequence[int], *, repeat: int) -> Strand[tuple[Reply, ...]]:
    texts = (*QUESTIONS, *FILLERS)
    asked = [chat(side, _question_body(texts[one]), repeat=repeat) for one in members]
    replies: list[Reply] = yield Together(asked)
    return tuple(replies[members.index(one)] for one in range(len(QUESTIONS)))


# ---------------------------------------------------------------- judging


@dataclass(frozen=True, slots=True)
class Difference:
    """How an answer differs from an earlier one to the same question.

    ``drift`` is the largest difference of a logprob (nats) of tokens that are the same, None
    where there are none.
    """

    parts: str | None
    drift: float | None
    tokens: int


def difference(first: Reply, again: Reply) -> Difference:
    """Compare texts and, where both have them, logprobs of the tokens before they part."""
    seen, later = first.observation, again.observation
    same = shared_tokens(seen, later)
    drifts = gaps(paired(seen, later)[:same])
    found = parting(first.text, again.text)
    said = None
    if found is not None:
        said = f"at character {found.offset}: `{found.stage}`, then `{found.reference}`"
    elif (seen.reasoning or "") != (later.reasoning or ""):
        said = "in its reasoning"
    elif same < max(len(seen.logprobs or ()), len(later.logprobs or ())):
        said = f"at token {same}, in the same text"
    return Difference(said, max(drifts, default=None), same)


def determinism_checks(side: Side, repeats: Repeats, *, facts: SideFacts) -> list[Check]:
    """Judge the repeats of one side."""
    first = repeats.first
    checks = [_repeated(side, "warm", [(first, repeats.warm)])]
    checks.append(_batched(side, repeats, at_once=facts.concurrency))
    same = (first[0],) * len(repeats.seeds)
    checks.append(_repeated(side, "seeds", [(same, repeats.seeds)]))
    checks.append(_greedy(side, first, facts=facts))
    return checks


def _batched(side: Side, repeats: Repeats, *, at_once: int) -> Check:
    if at_once < 2:
        said = f"the {side} is asked one request at a time, so that batches were not tried"
        return Check("batched", State.UNKNOWN, said, side, needed=False)
    return _repeated(side, "batched", [(repeats.first, batch) for batch in repeats.batched])


def drift_of(checks: Sequence[Check], side: Side) -> float | None:
    """Give the largest drift of a side's logprobs, None where it has shown none at all."""
    drifts = [one.evidence.get("drift_nats") for one in checks if one.side is side]
    return max((drift for drift in drifts if isinstance(drift, float)), default=None)


_HOW = {
    "warm": "asked again",
    "batched": "asked among other requests",
    "seeds": "asked with another seed or none",
}


def _repeated(
    side: Side, name: str, pairs: Sequence[tuple[Sequence[Reply], Sequence[Reply]]]
) -> Check:
    answers = [pair for firsts, again in pairs for pair in zip(firsts, again, strict=True)]
    troubles = [one.trouble for pair in answers for one in pair if one.trouble is not None]
    if troubles:
        return Check(name, State.UNKNOWN, f"the {side} did not answer: {troubles[0]}", side)
    found = [difference(*pair) for pair in answers]
    drift = max((one.drift for one in found if one.drift is not None), default=None)
    parted = [one.parts for one in found if one.parts is not None]
    evidence: dict[str, Json] = {
        "answers": len(found),
        "parted": len(parted),
        "tokens": sum(one.tokens for one in found),
        "drift_nats": drift,
    }
    how = _HOW[name]
    if parted:
        said = (
            f"the {side} answers otherwise when {how} ({len(parted)} of {len(found)}; {parted[0]})"
        )
        return Check(name, State.FAIL, said, side, evidence=evidence)
    if drift is not None and drift > DRIFT_NATS:
        said = f"the {side}'s logprobs move by up to {drift:.3g} nats when {how}"
        return Check(name, State.FAIL, said, side, evidence=evidence)
    moved = "" if drift is None else f", logprobs within {drift:.2g} nats"
    said = f"the {side} answers the same when {how}{moved}"
    return Check(name, State.PASS, said, side, evidence=evidence)


def _greedy(side: Side, first: Sequence[Reply], *, facts: SideFacts) -> Check:
    if facts.sampled:
        said = f"the {side} samples although temperature 0 is sent"
        if facts.sampled_at is not None:
            said = f"in thinking mode {said}: at temperature {facts.sampled_at:.1f}"
        declared: dict[str, Json] = {"declared": True, "temperature": facts.sampled_at}
        return Check("greedy", State.FAIL, said, side, evidence=declared)
    entries = [entry for reply in first for entry in reply.observation.logprobs or ()]
    known = [entry for entry in entries if entry.logprob is not None and _best(entry) is not None]
    if not known:
        said = f"the {side} gives no alternatives, so that greedy choice shows by repeats alone"
        return Check("greedy", State.UNKNOWN, said, side, needed=False)
    below = [entry for entry in known if _below(entry)]
    evidence: Mapping[str, Json] = {"tokens": len(known), "not_top": len(below)}
    if below:
        said = (
            f"{len(below)} of {len(known)} tokens of the {side} at temperature 0 are not the "
            "most probable ones"
        )
        return Check("greedy", State.FAIL, said, side, evidence=evidence)
    said = f"all {len(known)} tokens of the {side} at temperature 0 are the most probable ones"
    return Check("greedy", State.PASS, said, side, evidence=evidence)


def _best(entry: TokenLogprob) -> float | None:
    return max((top.logprob for top in entry.top if top.logprob is not None), default=None)


def _below(entry: TokenLogprob) -> bool:
    best = _best(entry)
    return entry.logprob is None or (best is not None and entry.logprob < best - TIE_NATS)
