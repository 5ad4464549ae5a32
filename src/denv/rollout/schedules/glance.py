"""What a sentinel asks and how it reads the answers: an instrument, cheap on purpose.

Each side is asked a few prompts, golden ones where there are any, and then how likely it finds the
tokens of its own earlier answers. Both are held against what the side said when the schedule
began. A side that cannot be forced is held to its texts, where it repeated them then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, ClassVar

from denv.checks import score
from denv.checks.regex import search_within
from denv.instruments.bank import Prompt
from denv.instruments.probes import (
    CHAT,
    Cost,
    Finding,
    Probe,
    SideFacts,
    Strand,
    Together,
    Work,
    json_of,
)
from denv.instruments.tokens.abilities import Abilities, find_abilities
from denv.instruments.tokens.forcing import (
    PROMPT_LOGPROBS,
    STEPWISE,
    Forced,
    Forcer,
    ForcingError,
)
from denv.instruments.tokens.targets import Target, Text, text_of
from denv.observe import observe
from denv.records import Case, Json, LogprobsClose, Observation, Side

MOST_FORCED = 2
"""Texts whose tokens are forced, and of each the first tokens."""

MOST_FORCED_TOKENS = 24
LEAST_CHANGE_NATS = 0.02
"""A smaller mean change of a token's logprob is not worth a full run."""

TIMES_FLOOR = 3.0
UNNAMED_TOKENS = 256
"""What a case may write that does not say so itself; an answer cut there is not held to pass."""

TOP = 5
PATHS = (PROMPT_LOGPROBS, STEPWISE)
CALM, ESCALATE = "calm", "escalate"

Tokens = tuple[str, tuple[int, ...]]
"""A case, and the tokens of an answer to it."""

Memory = Mapping[str, Any]
"""What a side showed when the schedule began; strict JSON."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A side's answer to one case: its text, whether it passes, and its tokens where shown."""

    case: str
    said: str | None
    passed: bool | None
    problem: str | None = None
    ids: tuple[int, ...] = ()
    calls: bool = False

    def kept(self) -> dict[str, Json]:
        """Write it for the next time."""
        return {"said": self.said, "passed": self.passed}


@dataclass(frozen=True, slots=True)
class Glance:
    """The instrument; without ``memory`` it gathers one, and looks twice to learn its noise."""

    cases: tuple[Case, ...]
    golden: bool
    tokens: int
    memory: Mapping[str, Memory] = field(default_factory=dict)
    name: ClassVar[str] = "sentinel"
    schema: ClassVar[str] = "denv.sentinel/1"

    def settings(self) -> Mapping[str, Json]:
        """Give all that decides what is asked and found."""
        return {"cases": [case.id for case in self.asked], "tokens": self.tokens}

    @property
    def asked(self) -> tuple[Case, ...]:
        """The first cases whose answers fit into the tokens that a side may write."""
        fitting, left = [], self.tokens // (1 if self.memory else 2)
        for case in self.cases:
            left -= _most_tokens(case)
            if left < 0:
                break
            fitting.append(case)
        return tuple(fitting)

    def cost(self) -> Mapping[Side, Cost]:
        """Bound what is asked of each side."""
        times = 1 if self.memory else 2
        forced = MOST_FORCED * MOST_FORCED_TOKENS
        tokens = times * (sum(map(_most_tokens, self.asked)) + forced)
        return dict.fromkeys(Side, Cost(times * (len(self.asked) + forced), 0, tokens))

    def strand(self, facts: Mapping[Side, SideFacts]) -> Strand[Finding]:
        """Look at both sides, at the same time."""
        sides = [_Look(self, side, facts[side]).strand() for side in Side]
        found: list[tuple[Memory, list[str], Mapping[str, Json]]] = yield Together(sides)
        why = [line for _, lines, _ in found for line in lines]
        memory = {
            side.value: self.memory.get(side.value, one[0])
            for side, one in zip(Side, found, strict=True)
        }
        shown = {side.value: one[2] for side, one in zip(Side, found, strict=True)}
        body = {"why": why, "memory": memory, "seen": shown}
        return Finding(ESCALATE if why else CALM, body)


def _most_tokens(case: Case) -> int:
    given = case.fields.get("max_tokens")
    return given if isinstance(given, int) else UNNAMED_TOKENS


class _Look:
    """One side's part."""

    def __init__(self, glance: Glance, side: Side, facts: SideFacts) -> None:
        self._glance = glance
        self._side = side
        self._facts = facts
        self._then: Memory | None = glance.memory.get(side.value)
        self._abilities: Abilities | None = None

    def strand(self) -> Strand[tuple[Memory, list[str], Mapping[str, Json]]]:
        if self._then is None or self._then["forced"]:
            self._abilities = yield from find_abilities(self._side, top=TOP, wanted=PATHS)
        seen = yield from self._ask(repeat=0)
        if self._then is None:
            return (yield from self._first(seen))
        why = _answers_changed(self._side, seen, self._then, self._golden)
        read, changes = yield from self._forced_again(self._then)
        why += _tokens_changed(self._side, self._then, changes)
        if not self._then["forced"]:
            why += _texts_changed(self._side, seen, self._then)
        return self._then, why, {**_shown(seen), "forced_tokens": read, "changes": changes}

    @property
    def _golden(self) -> bool:
        return self._glance.golden and self._side is Side.STAGE

    def _first(self, seen: Sequence[Seen]) -> Strand[tuple[Memory, list[str], Mapping[str, Json]]]:
        again = yield from self._ask(repeat=1)
        forced, floor = yield from self._forced_twice(seen)
        memory = {
            "texts": {one.case: one.kept() for one in seen},
            "steady": [a.case for a, b in zip(seen, again, strict=True) if a.said == b.said],
            "forced": forced,
            "floor": floor,
        }
        why = _failing(self._side, seen) if self._golden else []
        return (
            memory,
            why,
            {**_shown(seen), "forced_tokens": sum(len(one["ids"]) for one in forced.values())},
        )

    # ---------------------------------------------------------- answers

    def _ask(self, *, repeat: int) -> Strand[list[Seen]]:
        asked = [self._one(case, repeat=repeat) for case in self._glance.asked]
        seen: list[Seen] = yield Together(asked, self._facts.concurrency)
        return seen

    def _one(self, case: Case, *, repeat: int) -> Strand[Seen]:
        body = {
            **case.fields,
            "max_tokens": _most_tokens(case),
            "temperature": 0,
            "seed": 0,
            "stream": False,
            "logprobs": True,
            "top_logprobs": TOP,
        }
        if self._abilities is not None and self._abilities.shows_ids:
            body["return_token_ids"] = True
        exchange = yield Probe(self._side, CHAT, body, repeat)
        observation = observe(exchange)
        if observation.problem is not None:
            return Seen(case.id, None, None, observation.problem.message)
        passed = yield Work(lambda: _passes(case, observation))
        document = json_of(exchange)
        given = document if isinstance(document, dict) else {}
        text = text_of(_prompt(case), observation, given, side=self._side)
        calls = bool(observation.calls)
        ids = text.ids if isinstance(text, Text) and text.ids and not calls else ()
        return Seen(case.id, _said(observation), passed, ids=ids[:MOST_FORCED_TOKENS], calls=calls)

    # ---------------------------------------------------------- forced tokens

    def _forced_twice(self, seen: Sequence[Seen]) -> Strand[tuple[dict[str, Any], float]]:
        texts: list[Tokens] = []
        for one in seen:
            ids = one.ids or (yield from self._cut(one))
            if ids and len(texts) < MOST_FORCED:
                texts.append((one.case, ids))
        first = yield from self._force(texts, repeat=0)
        again = yield from self._force(texts, repeat=1)
        changes = [_change(first[name], again.get(name, [])) for name in first]
        floor = max((change for change in changes if change is not None), default=0.0)
        kept = {
            name: {"ids": list(ids), "logprobs": first[name]}
            for name, ids in texts
            if name in first
        }
        return kept, floor

    def _cut(self, seen: Seen) -> Strand[tuple[int, ...]]:
        """Cut a text whose tokens the answer does not show."""
        tokenizer = None if self._abilities is None else self._abilities.tokenizer
        if tokenizer is None or not seen.said or seen.calls:
            return ()
        cut = yield from tokenizer.cut(seen.said)
        return () if cut is None or cut.ids is None else tuple(cut.ids[:MOST_FORCED_TOKENS])

    def _forced_again(self, then: Memory) -> Strand[tuple[int, dict[str, float | None]]]:
        kept = then["forced"]
        texts = [(name, tuple(one["ids"])) for name, one in kept.items()]
        now = yield from self._force(texts, repeat=0)
        changes = {name: _change(kept[name]["logprobs"], now.get(name, [])) for name in kept}
        return sum(map(len, now.values())), changes

    @property
    def _forcer(self) -> Forcer | None:
        forcers = {} if self._abilities is None else self._abilities.forcers
        return next((forcers[path] for path in PATHS if path in forcers), None)

    def _force(
        self, texts: Sequence[Tokens], *, repeat: int
    ) -> Strand[dict[str, list[float | None]]]:
        abilities, forcer = self._abilities, self._forcer
        if abilities is None or forcer is None:
            return {}
        cases = {case.id: case for case in self._glance.cases}
        read: dict[str, list[float | None]] = {}
        for name, ids in texts:
            if name not in cases:
                continue
            prompt = _prompt(cases[name])
            rendered = yield from abilities.rendered(prompt)
            if not rendered:
                continue
            target = Target(Text(prompt, ids, (), None), rendered, ids, same_ids=True)
            try:
                forced: Forced = yield from forcer.force(target, repeat=repeat)
            except ForcingError:
                continue
            read[name] = [None if entry is None else entry.logprob for entry in forced]
        return read


def _prompt(case: Case) -> Prompt:
    fields = case.fields
    return Prompt(
        case.id,
        "sentinel",
        tuple(fields["messages"]),
        tools=tuple(fields.get("tools") or ()),
        max_tokens=_most_tokens(case),
    )


def _passes(case: Case, seen: Observation) -> bool | None:
    if isinstance(case.check, LogprobsClose):
        return None  # it needs the other side
    if seen.finish_reason == "length" and "max_tokens" not in case.fields:
        return None
    tools = case.fields.get("tools") or ()
    return score(case.check, seen, tools=tools, search=search_within).passed


def _said(seen: Observation) -> str:
    calls = "".join(f"\n{call.name}({call.raw})" for call in seen.calls)
    return f"{seen.text or ''}{calls}"


def _shown(seen: Sequence[Seen]) -> dict[str, Json]:
    return {
        "asked": len(seen),
        "answered": sum(one.problem is None for one in seen),
        "passed": sum(one.passed is True for one in seen),
        "failed": [one.case for one in seen if one.passed is False],
    }


# ---------------------------------------------------------------- what has changed


def _failing(side: Side, seen: Sequence[Seen]) -> list[str]:
    return [
        f"the {side} fails the golden prompt {one.case}"
        if one.problem is None
        else f"the {side} gave no answer to the golden prompt {one.case}: {one.problem}"
        for one in seen
        if one.passed is False or one.problem is not None
    ]


def _answers_changed(side: Side, seen: Sequence[Seen], then: Memory, golden: bool) -> list[str]:
    """Name cases that passed then and do not now, and those without an answer."""
    what = "golden prompt" if golden else "prompt"
    why = []
    for one in seen:
        before = then["texts"].get(one.case)
        if before is None:
            continue
        if one.problem is not None and before["said"] is not None:
            why.append(f"the {side} gave no answer to the {what} {one.case}: {one.problem}")
        elif one.passed is False and before["passed"] is not False:
            why.append(f"the {side} fails the {what} {one.case}, which it passed")
    return why


def _texts_changed(side: Side, seen: Sequence[Seen], then: Memory) -> list[str]:
    """Name texts that were repeated then and are others now."""
    changed = [
        one.case
        for one in seen
        if one.problem is None
        and one.case in then["steady"]
        and one.said != then["texts"][one.case]["said"]
    ]
    if not changed:
        return []
    return [f"the {side} says another thing than when the schedule began: {', '.join(changed)}"]


def _tokens_changed(side: Side, then: Memory, changes: Mapping[str, float | None]) -> list[str]:
    why = []
    allowed = max(LEAST_CHANGE_NATS, TIMES_FLOOR * then["floor"])
    for name, change in changes.items():
        if change is None:
            why.append(f"the {side} no longer says how likely the tokens of {name} are")
        elif change > allowed:
            why.append(
                f"the {side} finds the tokens of {name} otherwise likely than when the schedule "
                f"began: by {change:.3g} nats on average, up to {allowed:.3g} are noise"
            )
    return why


def _change(then: Sequence[float | None], now: Sequence[float | None]) -> float | None:
    """Give the mean absolute change of the logprobs that are known twice, None without any."""
    pairs = zip(then, now, strict=False)
    deltas = [abs(a - b) for a, b in pairs if a is not None and b is not None]
    return fmean(deltas) if deltas else None
