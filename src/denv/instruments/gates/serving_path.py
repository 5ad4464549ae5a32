"""G5: whether chat answers as the raw completion of its own prompt, and reasoning is real."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.gates.asking import TOP, Reply, both, chat, greedy, in_turn, user
from denv.instruments.gates.determinism import ANSWER_TOKENS
from denv.instruments.gates.model import Check, State
from denv.instruments.gates.parting import parting
from denv.instruments.gates.positions import name_of, shared_tokens
from denv.instruments.gates.rendering import Prompt, Renderer
from denv.instruments.gates.texts import QUESTIONS
from denv.instruments.probes import COMPLETIONS, Probe, Strand
from denv.observe import observe
from denv.records import Json, Observation, ProblemKind, Side

GATE = ("G5", "serving path")

LEGACY_TOP = 5
REASONING_TOKENS = 1024
SHORT_TRACE = 10
"""A trace of so few characters was closed at once."""

TIE_NATS = 0.1
"""Where the best two are as near as this, either may come first in another computation."""

LEAST_TOKENS = 8


@dataclass(frozen=True, slots=True)
class Raw:
    """The raw completions of a side's own prompts, or why there are none."""

    answers: tuple[Observation, ...] = ()
    lacking: str | None = None


def raw_answers(side: Side, renderer: Renderer | None, first: Sequence[Reply]) -> Strand[Raw]:
    """Complete each question's own rendered prompt through ``/v1/completions``."""
    if renderer is None:
        return Raw(lacking="shows no rendered prompt")
    answers = []
    for question, reply in zip(QUESTIONS, first, strict=True):
        prompt = yield from renderer.render({"messages": user(question)})
        if prompt is None:
            return Raw(lacking="shows no rendered prompt")
        prompt = yield from renderer.counted(prompt, reply.prompt_tokens)
        answer = yield from _complete(side, prompt)
        if answer.problem is not None:
            return Raw(lacking=f"completes no raw prompt ({answer.problem.message})")
        answers.append(answer)
    return Raw(tuple(answers))


def _complete(side: Side, prompt: Prompt) -> Strand[Observation]:
    given: Json = prompt.text if prompt.ids is None else list(prompt.ids)
    answer = Observation()
    for top in (TOP, LEGACY_TOP):
        body = {
            "prompt": given,
            "temperature": 0,
            "seed": 0,
            "stream": False,
            "max_tokens": ANSWER_TOKENS,
            "logprobs": top,
        }
        exchange = yield Probe(side, COMPLETIONS, body)
        answer = observe(exchange)
        if answer.problem is None or answer.problem.kind is not ProblemKind.REFUSED:
            break
    return answer


def reasoning_answers(
    answers: Mapping[Side, Sequence[Reply]],
) -> Strand[dict[Side, tuple[Reply, ...]]]:
    """Ask again with room to think, where either side shows reasoning at all."""
    if not any(_reasons(reply) for replies in answers.values() for reply in replies):
        return {side: tuple(replies) for side, replies in answers.items()}
    return (yield from both(_ask_at_length))


def _ask_at_length(side: Side) -> Strand[tuple[Reply, ...]]:
    bodies = [greedy(user(question), max_tokens=REASONING_TOKENS) for question in QUESTIONS]
    return tuple((yield from in_turn([chat(side, body) for body in bodies])))


def _reasons(reply: Reply) -> bool:
    seen = reply.observation
    return bool((seen.reasoning or "").strip()) or _left(reply)


def _left(reply: Reply) -> bool:
    seen = reply.observation
    return seen.reasoning_open or seen.text_after_reasoning is not None


# ---------------------------------------------------------------- judging


def raw_check(side: Side, first: Sequence[Reply], raw: Raw, *, stable: bool) -> Check:
    """Compare what chat answered with the raw completions of its prompts.

    A side that is not ``stable`` does not repeat itself, so that another answer shows nothing.
    """
    name = "raw-completion"
    if raw.lacking is not None:
        return Check(name, State.UNKNOWN, f"the {side} {raw.lacking}", side)
    pairs = list(zip(first, raw.answers, strict=True))
    tokens = sum(_tokens(reply) for reply in first)
    unlike = [pair for pair in pairs if not _alike(*pair)]
    parted = [pair for pair in unlike if not _parts_at_tie(pair[0].observation, pair[1])]
    evidence: dict[str, Json] = {
        "answers": len(pairs),
        "parted": len(parted),
        "parted_at_ties": len(unlike) - len(parted),
        "tokens": tokens,
    }
    if parted and not stable:
        said = f"the {side} does not repeat itself, so that chat and raw completion may part"
        return Check(name, State.UNKNOWN, said, side, evidence=evidence)
    if parted:
        how = _unlikeness(*parted[0])
        said = f"the {side}'s chat does not answer as the completion of its own prompt: {how}"
        return Check(name, State.FAIL, said, side, evidence=evidence)
    if tokens < LEAST_TOKENS:
        said = f"the {side}'s answers are too short to compare ({tokens} tokens)"
        return Check(name, State.UNKNOWN, said, side, evidence=evidence)
    said = f"the {side}'s chat answers as the completion of its own prompt does ({tokens} tokens)"
    return Check(name, State.PASS, said, side, evidence=evidence)


def _tokens(reply: Reply) -> int:
    counted = reply.completion_tokens
    return len(reply.observation.logprobs or ()) if counted is None else counted


def _alike(reply: Reply, raw: Observation) -> bool:
    """Tell the same text, blanks at its ends apart; thinking stands in the raw text as well."""
    seen, text = reply.observation, raw.text or ""
    if seen.problem is not None:
        return False
    if reply.text.strip() == text.strip():
        return True
    spoken = [part.strip() for part in (seen.reasoning, seen.text) if part]
    return bool(seen.reasoning) and all(part in text for part in spoken)


def _unlikeness(reply: Reply, raw: Observation) -> str:
    if reply.trouble is not None:
        return f"it gives no answer ({reply.trouble})"
    found = parting(reply.text, raw.text or "")
    return "" if found is None else f"`{found.stage}` against `{found.reference}`"


def _parts_at_tie(seen: Observation, raw: Observation) -> bool:
    ours, theirs = seen.logprobs or (), raw.logprobs or ()
    at = shared_tokens(seen, raw, name_of)
    if at >= min(len(ours), len(theirs)):
        return False
    chosen = name_of(theirs[at])
    other = next((top.logprob for top in ours[at].top if name_of(top) == chosen), None)
    own = ours[at].logprob
    return own is not None and other is not None and abs(own - other) <= TIE_NATS


def reasoning_checks(answers: Mapping[Side, Sequence[Reply]]) -> list[Check]:
    """Judge whether reasoning is real, and whether any of it was left in the content."""
    return [
        check
        for side in Side
        for check in (_left_check(side, answers[side]), _trace_check(side, answers))
    ]


def _left_check(side: Side, replies: Sequence[Reply]) -> Check:
    usable = [reply for reply in replies if reply.trouble is None]
    left = sum(_left(reply) for reply in usable)
    evidence = {"answers": len(usable), "left_in_content": left}
    if not usable:
        return Check("reasoning-left", State.UNKNOWN, f"the {side} gave no answer", side)
    if left:
        said = f"the {side} leaves reasoning in the content of {left} of {len(usable)} answers"
        return Check("reasoning-left", State.FAIL, said, side, evidence=evidence)
    said = f"no reasoning is left in {len(usable)} answers of the {side}"
    return Check("reasoning-left", State.PASS, said, side, evidence=evidence)


def _trace_check(side: Side, answers: Mapping[Side, Sequence[Reply]]) -> Check:
    lengths = {one: [_trace(reply) for reply in answers[one]] for one in Side}
    ours, theirs = lengths[side], lengths[_other(side)]
    short = sum(0 < length <= SHORT_TRACE for length in ours)
    lacking = sum(length <= SHORT_TRACE < other for length, other in zip(ours, theirs, strict=True))
    evidence: dict[str, Json] = {"characters": ours, "other_side": theirs}
    name = "reasoning-real"
    if short > 1 or lacking > 1:
        said = (
            f"the {side} closes its reasoning at once: traces of "
            f"{', '.join(map(str, ours))} characters, of {', '.join(map(str, theirs))} "
            f"on the {_other(side)}"
        )
        return Check(name, State.FAIL, said, side, evidence=evidence)
    if not any(ours):
        said = f"the {side} shows no reasoning"
        return Check(name, State.UNKNOWN, said, side, needed=False, evidence=evidence)
    said = f"the {side} reasons at length ({', '.join(map(str, ours))} characters)"
    return Check(name, State.PASS, said, side, evidence=evidence)


def _trace(reply: Reply) -> int:
    return len((reply.observation.reasoning or "").strip())


def _other(side: Side) -> Side:
    return Side.REFERENCE if side is Side.STAGE else Side.STAGE
