"""One pass: many texts forced through one side, side by side and each in a lane of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from denv.instruments.bank import Prompt
from denv.instruments.probes import CHAT, Probe, SideFacts, Strand, Together
from denv.instruments.tokens.abilities import Abilities, chat_body, read_text
from denv.instruments.tokens.forcing import Forced, Forcer, ForcingError
from denv.instruments.tokens.runs import SlotRuns
from denv.instruments.tokens.targets import Target, Text, Unusable

Result = Mapping[str, Forced | Unusable]
"""By the prompt's id."""

MOST_END_LETTERS = 24
"""An end token is written with no more characters."""


def ask_texts(
    prompts: Sequence[Prompt], abilities: Abilities, *, max_tokens: int, facts: SideFacts
) -> Strand[list[Text | Unusable]]:
    """Ask a side for its greedy answers."""

    def one(prompt: Prompt) -> Strand[Text | Unusable]:
        body = chat_body(prompt, max_tokens=max_tokens, shows_ids=abilities.shows_ids)
        exchange = yield Probe(abilities.side, CHAT, body)
        return read_text(prompt, exchange, side=abilities.side)

    texts: list[Text | Unusable] = yield Together(list(map(one, prompts)), facts.concurrency)
    return texts


def find_targets(
    texts: Sequence[Text], abilities: Abilities, forcer: Forcer, *, origin: Abilities
) -> Strand[list[Target | Unusable]]:
    """Prepare texts that ``origin`` generated to be forced through a side."""
    strands = [_target(text, abilities, forcer, origin=origin) for text in texts]
    targets: list[Target | Unusable] = yield Together(strands, 8)
    return targets


def _target(
    text: Text, abilities: Abilities, forcer: Forcer, *, origin: Abilities
) -> Strand[Target | Unusable]:
    if not forcer.needs_ids:
        return Target(text, (), (), same_ids=False)
    side, name = abilities.side, text.prompt.id
    prompt = yield from abilities.rendered(text.prompt)
    if not prompt:
        return Unusable(name, side, "the side does not show the prompt's token ids")
    if text.ids and (side is origin.side or (yield from _shares_ids(text, abilities, origin))):
        return Target(text, prompt, text.ids, same_ids=True)
    if text.said is None or abilities.tokenizer is None:
        return Unusable(name, side, "the text's token ids are not known")
    cut = yield from abilities.tokenizer.cut(text.said)
    if cut is None or not cut.ids:
        return Unusable(name, side, "the side does not show the text's token ids")
    return Target(text, prompt, cut.ids, same_ids=cut.ids == text.ids)


def _shares_ids(text: Text, abilities: Abilities, origin: Abilities) -> Strand[bool]:
    """Whether the side's tokenizer reads the text's ids as what they were generated as."""
    if abilities.tokenizer is None or text.ids is None:
        return False
    theirs = yield from abilities.tokenizer.join(text.ids)
    if origin.tokenizer is not None:
        ours = yield from origin.tokenizer.join(text.ids)
        if ours is not None:
            return theirs is not None and ours == theirs
    pieces = text.pieces
    if theirs is None or pieces is None:
        return False
    said = b"".join(pieces).decode("utf-8", "replace")
    # The end token may be written out on one side alone.
    return bool(said) and theirs.startswith(said) and len(theirs) - len(said) <= MOST_END_LETTERS


def force_all(
    targets: Sequence[Target], forcer: Forcer, *, lanes: int, repeat: int = 0
) -> Strand[Result]:
    """Force texts through a side, ``lanes`` of them side by side.

    ``repeat`` 1 is the same again in another order, and on other slots: what a side differs by
    from itself.
    """
    ordered = sorted(targets, key=lambda one: (-one.weight, one.text.prompt.id))
    if repeat:
        ordered.reverse()
    if isinstance(forcer, SlotRuns):
        read = yield from forcer.force_all(ordered, slots=lanes, repeat=repeat)
    else:
        strands = [_caught(forcer.force(one, repeat=repeat)) for one in ordered]
        read = yield Together(strands, lanes)
    return {
        name: Unusable(name, forcer.side, found) if isinstance(found, str) else found
        for name, found in zip([one.text.prompt.id for one in ordered], read, strict=True)
    }


def _caught(strand: Strand[Forced]) -> Strand[Forced | str]:
    try:
        return (yield from strand)
    except ForcingError as error:
        return str(error)
