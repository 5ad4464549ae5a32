"""What both sides say of the same texts, and what a side says twice: the floor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from denv.instruments.probes import SideFacts, Strand, Together
from denv.instruments.tokens.abilities import Abilities
from denv.instruments.tokens.forcing import Forced
from denv.instruments.tokens.passes import Result, ask_texts, find_targets, force_all
from denv.instruments.tokens.targets import Target, Text, Unusable
from denv.records import Side, TokenLogprob

Sides = Mapping[Side, Abilities]
Facts = Mapping[Side, SideFacts]


@dataclass(frozen=True, slots=True)
class Pair:
    """One text as read twice.

    ``same_ids`` says that both were given the same token ids, ``same_places`` that both have a
    position for each of the reference's own tokens, though ids may not mean the same.
    """

    text: Text
    prompt_tokens: int | None
    expected: Forced
    found: Forced
    same_ids: bool
    same_places: bool = False


@dataclass(frozen=True, slots=True)
class Readings:
    """All that was read.

    ``pairs`` are reference and stage, ``floor`` a side and itself, which ``floor_of`` names.
    ``answered`` texts of the reference with ``tokens`` in all could have been compared.
    ``other_prompts`` counts those whose prompt the sides render into other ids, None where one
    side does not show them.
    """

    pairs: Sequence[Pair]
    floor: Sequence[Pair]
    floor_of: str
    lost: Sequence[Unusable]
    answered: int
    tokens: int
    other_prompts: int | None
    lanes: Mapping[Side, int]


def measure_forced(
    texts: Sequence[Text], path: str, *, abilities: Sides, facts: Facts, max_tokens: int
) -> Strand[Readings]:
    """Force the texts through both sides on one path, and through the reference once more."""
    del max_tokens
    strands = [
        _forced(texts, path, side, abilities=abilities, facts=facts, passes=passes)
        for side, passes in ((Side.STAGE, 1), (Side.REFERENCE, 2))
    ]
    (ours, stage), (theirs, reference) = yield Together(strands)
    lost = [*_lost(ours, stage[0]), *_lost(theirs, reference[0])]
    both = _targets(ours), _targets(theirs)
    pairs = []
    for text in texts:
        name = text.prompt.id
        found, expected = stage[0].get(name), reference[0].get(name)
        if isinstance(found, tuple) and isinstance(expected, tuple):
            target, other = both[0][name], both[1][name]
            same = bool(target.ids) and target.ids == other.ids
            size = len(other.prompt) or None
            pairs.append(Pair(text, size, expected, found, same, same_places=not target.ids))
    floor = [
        replace(one, found=again, same_ids=True)
        for one in pairs
        if isinstance(again := reference[1].get(one.text.prompt.id), tuple)
    ]
    return Readings(
        pairs=pairs,
        floor=floor,
        floor_of="the reference's text forced through the reference twice, in another order",
        lost=_one_each(lost),
        answered=len(texts),
        tokens=sum(max(one.length, 1) for one in texts),
        other_prompts=_other_prompts(*both),
        lanes={side: abilities[side].lanes(facts[side]) for side in Side},
    )


def measure_chat(
    texts: Sequence[Text], path: str, *, abilities: Sides, facts: Facts, max_tokens: int
) -> Strand[Readings]:
    """Force the texts through the stage alone, beside what the reference's chat said of them.

    The floor is the stage's own greedy chat beside its own text, forced.
    """
    stage, lanes = abilities[Side.STAGE], abilities[Side.STAGE].lanes(facts[Side.STAGE])
    ours, (forced,) = yield from _forced(
        texts, path, Side.STAGE, abilities=abilities, facts=facts, passes=1
    )
    by_name = _targets(ours)
    pairs = [
        _beside(text, found, by_name[name])
        for text in texts
        if isinstance(found := forced.get(name := text.prompt.id), tuple)
    ]
    own = yield from ask_texts(
        [one.text.prompt for one in pairs], stage, max_tokens=max_tokens, facts=facts[Side.STAGE]
    )
    said = [one for one in own if isinstance(one, Text)]
    forcer = stage.forcers[path]
    targets = yield from find_targets(said, stage, forcer, origin=stage)
    again = yield from force_all(_kept(targets), forcer, lanes=lanes, repeat=1)
    floor = [
        _beside(one.text, found, one)
        for one in _kept(targets)
        if isinstance(found := again.get(one.text.prompt.id), tuple)
    ]
    return Readings(
        pairs=pairs,
        floor=floor,
        floor_of="the stage's own greedy text, as its chat gives it and forced",
        lost=_lost(ours, forced),
        answered=len(texts),
        tokens=sum(max(one.length, 1) for one in texts),
        other_prompts=None,
        lanes={Side.STAGE: lanes},
    )


def _forced(
    texts: Sequence[Text], path: str, side: Side, *, abilities: Sides, facts: Facts, passes: int
) -> Strand[tuple[list[Target | Unusable], list[Result]]]:
    own, forcer = abilities[side], abilities[side].forcers[path]
    origin = abilities[Side.REFERENCE]
    targets = yield from find_targets(texts, own, forcer, origin=origin)
    results = []
    for repeat in range(passes):
        lanes = own.lanes(facts[side])
        found = yield from force_all(_kept(targets), forcer, lanes=lanes, repeat=repeat)
        results.append(found)
    return targets, results


def _beside(text: Text, forced: Forced, target: Target) -> Pair:
    """Pair what chat said at each token of a text with what was forced.

    A chat that shows no logprobs leaves its tokens alone, without their values.
    """
    size = len(target.prompt) or None
    if text.read:
        return Pair(text, size, text.read, forced, target.same_ids, same_places=not target.ids)
    if target.same_ids and text.ids is not None:
        bare = tuple(TokenLogprob("", None, None, token_id) for token_id in text.ids)
        return Pair(text, size, bare, forced, same_ids=True)
    # Nothing is known but the text: its tokens are those into which the stage cuts it.
    own = tuple(
        None if entry is None else TokenLogprob(entry.token, None, entry.bytes, entry.id)
        for entry in forced
    )
    return Pair(text, size, own, forced, same_ids=True)


def _targets(found: Sequence[Target | Unusable]) -> dict[str, Target]:
    return {one.text.prompt.id: one for one in _kept(found)}


def _kept(found: Sequence[Target | Unusable]) -> list[Target]:
    return [one for one in found if isinstance(one, Target)]


def _lost(targets: Sequence[Target | Unusable], forced: Result) -> list[Unusable]:
    refused = [one for one in targets if isinstance(one, Unusable)]
    return refused + [one for one in forced.values() if isinstance(one, Unusable)]


def _one_each(lost: Sequence[Unusable]) -> list[Unusable]:
    """Count a text once, that both sides failed to measure."""
    return list({one.id: one for one in reversed(lost)}.values())


def _other_prompts(ours: Mapping[str, Target], theirs: Mapping[str, Target]) -> int | None:
    """Count the prompts that the sides render otherwise, where both read the same ids."""
    both = [(ours[name], theirs[name]) for name in ours.keys() & theirs.keys()]
    known = [(a, b) for a, b in both if a.same_ids and b.same_ids and a.prompt and b.prompt]
    return sum(a.prompt != b.prompt for a, b in known) if known else None
