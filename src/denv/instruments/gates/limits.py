"""G6, limits: default max_tokens, stop strings, and prompts that are cut silently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from denv.instruments.gates.asking import Reply, chat, greedy, user
from denv.instruments.gates.model import Check, State
from denv.instruments.gates.parting import shown
from denv.instruments.gates.texts import LONG_ANSWER, QUESTIONS
from denv.instruments.probes import Strand
from denv.records import Json, Side

_STOP_FROM = 8
_TAIL = 12
"""Characters of the stop string that ends an answer without max_tokens."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A long answer with max_tokens, the same without, and an answer with a stop string.

    ``unset`` is None where nothing would have ended it.
    """

    bounded: Reply
    unset: Reply | None
    stop: str | None
    plain: Reply
    stopped: Reply | None


def ask_limits(side: Side, plain: Reply, *, max_tokens: int, tokens: int) -> Strand[Limits]:
    """Ask for a long answer twice, and stop an earlier answer at a word of it.

    ``plain`` is an answer to the first question with ``max_tokens``; the long one has ``tokens``.
    """
    body = greedy(user(LONG_ANSWER), max_tokens=tokens, logprobs=True)
    bounded = yield from chat(side, body)
    stop = stop_word(plain.text)
    stopped = None
    if stop is not None:
        again = greedy(user(QUESTIONS[0]), max_tokens=max_tokens)
        stopped = yield from chat(side, again | {"stop": [stop]})
    without = _without_limit(bounded)
    ignored = stop is not None and stopped is not None and stop in stopped.text
    unset = None
    if "stop" not in without or not ignored:
        unset = yield from chat(side, without)
    return Limits(bounded, unset, stop, plain, stopped)


def _without_limit(bounded: Reply) -> dict[str, Json]:
    """Write the request without max_tokens, with an end of another kind where it may need one."""
    seen = bounded.observation
    # An answer that only thinks has nothing to stop at: a question with an end of its own.
    question = LONG_ANSWER if seen.text or seen.problem else QUESTIONS[1]
    body = greedy(user(question), max_tokens=0)
    del body["max_tokens"]
    tail = unique_tail(bounded.text) if seen.finish_reason == "length" else None
    return body if tail is None else body | {"stop": [tail]}


def stop_word(text: str) -> str | None:
    """Choose a word that stands in a text, and not at its head."""
    words = [word for word in text.split() if len(word) > 2]
    return next((word for word in words if text.find(word) >= _STOP_FROM), None)


def unique_tail(text: str) -> str | None:
    """Give the last piece of a text that does not stand earlier in it.

    >>> unique_tail("one two three four five six")
    'four five six'
    """
    size = _TAIL + 1
    starts = range(len(text) - size, 0, -1)
    return next(
        (text[at : at + size] for at in starts if text.find(text[at : at + size]) == at), None
    )


# ---------------------------------------------------------------- judging


def limit_checks(limits: Mapping[Side, Limits]) -> list[Check]:
    """Judge stop strings of each side, and compare what both do without max_tokens."""
    return [*(_stop(side, limits[side]) for side in Side), _default(limits)]


def _stop(side: Side, limits: Limits) -> Check:
    name, stop, reply = "stop", limits.stop, limits.stopped
    if stop is None or reply is None:
        said = f"the {side} gave no text in which to stop"
        return Check(name, State.UNKNOWN, said, side)
    evidence: dict[str, Json] = {
        "stop": shown(stop),
        "characters": len(reply.text),
        "finish_reason": reply.observation.finish_reason,
    }
    problem = reply.observation.problem
    expected = limits.plain.text.partition(stop)[0]
    if problem is not None:
        state, said = State.UNKNOWN, f"the {side} gave no answer with stop ({problem.message})"
    elif reply.text.endswith(stop):
        state, said = State.FAIL, f"the {side} leaves the stop string at the answer's end"
    elif stop in reply.text:
        state, said = State.FAIL, f"the {side} goes on after a stop string"
    elif reply.text.rstrip() == expected.rstrip() or reply.observation.finish_reason == "stop":
        state, said = State.PASS, f"the {side} stops before a stop string"
    else:
        state, said = State.UNKNOWN, f"the {side} did not come to the stop string"
    return Check(name, state, said, side, evidence=evidence)


def _default(limits: Mapping[Side, Limits]) -> Check:
    name = "default-max-tokens"
    evidence: dict[str, Json] = {side.value: _figures(one) for side, one in limits.items()}
    for side in Side:
        unset = limits[side].unset
        if unset is None:
            said = f"without max_tokens and stop strings nothing ends an answer of the {side}"
            return Check(name, State.UNKNOWN, said, evidence=evidence)
        if unset.trouble is not None:
            said = f"the {side} gave no answer without max_tokens ({unset.trouble})"
            return Check(name, State.UNKNOWN, said, evidence=evidence)
    ours, theirs = (_end(limits[side].unset) for side in Side)
    if ours != theirs:
        said = f"without max_tokens the stage {_says(ours)}, the reference {_says(theirs)}"
        return Check(name, State.FAIL, said, evidence=evidence)
    said = f"without max_tokens both sides {_both_say(ours, limits)}"
    return Check(name, State.PASS, said, evidence=evidence)


def _figures(limits: Limits) -> dict[str, Json]:
    unset = limits.unset
    return {
        "tokens": None if unset is None else unset.completion_tokens,
        "finish_reason": None if unset is None else unset.observation.finish_reason,
        "tokens_with_limit": limits.bounded.completion_tokens,
    }


def _end(unset: Reply | None) -> int | str | None:
    """Give the tokens after which an answer was cut, None where it was not."""
    if unset is None or unset.observation.finish_reason != "length":
        return None
    counted = unset.completion_tokens
    return "at a limit" if counted is None else counted


def _says(end: int | str | None) -> str:
    if end is None:
        return "ends by itself"
    return f"cuts {end}" if isinstance(end, str) else f"cuts after {end} tokens"


def _both_say(end: int | str | None, limits: Mapping[Side, Limits]) -> str:
    if end is not None:
        return f"cut after {end} tokens"
    counts = [one.unset.completion_tokens for one in limits.values() if one.unset is not None]
    known = [count for count in counts if count is not None]
    return "end by themselves" + (f", after {min(known)} tokens and more" if known else "")
