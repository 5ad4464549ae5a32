"""G2: whether both sides cut the same texts into the same token ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from denv.instruments.gates.asking import Reply, both, chat, greedy, user
from denv.instruments.gates.model import Check, Gate, State, judged
from denv.instruments.gates.parting import shared, shown
from denv.instruments.gates.positions import is_text
from denv.instruments.gates.texts import TRICKY
from denv.instruments.gates.tokenizing import Cut, Tokenizer
from denv.instruments.probes import Strand, Together
from denv.records import Json, Side

GATE = ("G2", "tokenizer")
_SHOWN = 6
"""Token pieces shown of each side where the cuts part."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Prompt tokens that a side counts for a single message, None where it does not say."""

    counts: tuple[int | None, ...]

    @property
    def move(self) -> bool:
        """Whether they follow the text at all: a constant is a placeholder."""
        return None not in self.counts and len(set(self.counts)) > 1


def tokenizer_gate(
    tokenizers: Mapping[Side, Tokenizer | None],
    answers: Mapping[Side, Sequence[Reply]],
) -> Strand[Gate]:
    """Compare ids where both sides show them, else the cuts of answers and prompt-token counts."""
    found = [tokenizers[side] for side in Side]
    if None not in found:
        cuts = yield from both(lambda side: _cut_all(tokenizers[side]))
        return judge_ids(cuts, {side: str(one.form) for side, one in tokenizers.items() if one})
    counts = yield from both(_count_all)
    return judge_without_ids(answers, counts)


def _cut_all(tokenizer: Tokenizer | None) -> Strand[list[Cut | None]]:
    if tokenizer is None:
        return []
    cuts: list[Cut | None] = yield Together([tokenizer.cut(text) for _, text in TRICKY])
    return cuts


def _count_all(side: Side) -> Strand[Counts]:
    asked = [chat(side, greedy(user(text), max_tokens=1)) for _, text in TRICKY]
    replies: list[Reply] = yield Together(asked)
    return Counts(tuple(reply.prompt_tokens for reply in replies))


# ---------------------------------------------------------------- ids


def judge_ids(cuts: Mapping[Side, Sequence[Cut | None]], paths: Mapping[Side, str]) -> Gate:
    """Decide by ids; a text that either side did not cut is no evidence."""
    checks = [
        _compare(name, *pair)
        for (name, _), *pair in zip(TRICKY, cuts[Side.STAGE], cuts[Side.REFERENCE], strict=True)
    ]
    total = sum(len(cut.ids) for cut in cuts[Side.STAGE] if cut is not None)
    return judged(
        GATE,
        checks,
        passes=f"both sides cut {len(TRICKY)} texts into the same {total} token ids",
        evidence={
            "path": {side.value: path for side, path in paths.items()},
            "texts": len(TRICKY),
            "tokens": total,
        },
    )


def _compare(name: str, stage: Cut | None, reference: Cut | None) -> Check:
    if stage is None or reference is None:
        who = "the stage" if stage is None else "the reference"
        return Check(name, State.UNKNOWN, f"{who} gave no ids for the text {name!r}")
    sizes = {"tokens": {"stage": len(stage.ids), "reference": len(reference.ids)}}
    if stage.ids == reference.ids:
        return Check(name, State.PASS, f"{name}: the same {len(stage.ids)} ids", evidence=sizes)
    at = shared(stage.ids, reference.ids)
    ours, theirs = _near(stage, at), _near(reference, at)
    return Check(
        name,
        State.FAIL,
        f"the text {name!r} is cut differently from token {at} on: "
        f"the stage has {ours}, the reference {theirs}",
        evidence={**sizes, "token": at, "stage": ours, "reference": theirs},
    )


def _near(cut: Cut, at: int) -> str:
    ids = cut.ids[at : at + _SHOWN]
    if cut.pieces is None or len(cut.pieces) != len(cut.ids):
        return " ".join(map(str, ids)) or "its end"
    pieces = cut.pieces[at : at + _SHOWN]
    pairs = zip(ids, pieces, strict=True)
    return " ".join(f"{one}=`{shown(piece)}`" for one, piece in pairs) or "its end"


# ---------------------------------------------------------------- without ids


def judge_without_ids(
    answers: Mapping[Side, Sequence[Reply]], counts: Mapping[Side, Counts]
) -> Gate:
    """Decide by how both cut text that they generate alike, and by prompt-token counts.

    Either may show a difference. That they agree is weaker than equal ids, and is said so.
    """
    checks = [judge_cuts(answers[Side.STAGE], answers[Side.REFERENCE]), judge_counts(counts)]
    known = [check for check in checks if check.state is not State.UNKNOWN]
    return judged(
        GATE,
        known or checks,
        passes="; ".join(check.finding for check in known) + "; no side-by-side ids can be had",
        evidence={"path": {side.value: "usage and logprobs of chats" for side in Side}},
    )


def judge_counts(counts: Mapping[Side, Counts]) -> Check:
    """Compare prompt-token counts of the same texts, but for what the templates add alike."""
    stage, reference = counts[Side.STAGE], counts[Side.REFERENCE]
    evidence: dict[str, Json] = {
        "texts": [name for name, _ in TRICKY],
        "stage": list(stage.counts),
        "reference": list(reference.counts),
    }
    for who, one in (("stage", stage), ("reference", reference)):
        if not one.move:
            why = "counts no prompt tokens" if None in one.counts else "counts every text alike"
            return Check("counts", State.UNKNOWN, f"the {who} {why}", evidence=evidence)
    pairs = zip(stage.counts, reference.counts, strict=True)
    offsets = [ours - theirs for ours, theirs in pairs if ours is not None and theirs is not None]
    usual = max(set(offsets), key=offsets.count)
    odd = [name for (name, _), one in zip(TRICKY, offsets, strict=True) if one != usual]
    evidence["offset"] = usual
    if odd:
        finding = (
            f"prompt-token counts differ by another number for {', '.join(odd)}"
            f" than for other texts ({usual:+d})"
        )
        return Check("counts", State.FAIL, finding, evidence=evidence)
    apart = f", but for {usual:+d} of the template" if usual else ""
    finding = f"prompt-token counts of {len(offsets)} texts agree{apart}"
    return Check("counts", State.PASS, finding, evidence=evidence)


def judge_cuts(stage: Sequence[Reply], reference: Sequence[Reply]) -> Check:
    """Compare the tokens of what both sides generate alike."""
    compared = 0
    for ours, theirs in zip(stage, reference, strict=True):
        left, right = _entries(ours), _entries(theirs)
        same = shared(left, right)
        compared += len(b"".join(left[:same]))
        if same == min(len(left), len(right)):
            continue
        rest = b"".join(left[same:]), b"".join(right[same:])
        alike = shared(*rest)
        if alike >= max(len(left[same]), len(right[same])) > 0:
            return Check(
                "cuts",
                State.FAIL,
                f"the same generated text is cut into {left[same]!r} by the stage"
                f" and into {right[same]!r} by the reference",
                evidence={"token": same, "bytes": alike},
            )
    if not compared:
        return Check("cuts", State.UNKNOWN, "no generated text with token bytes is shared")
    finding = f"{compared} bytes of text that both generate are cut alike"
    return Check("cuts", State.PASS, finding, evidence={"bytes": compared})


def _entries(reply: Reply) -> tuple[bytes, ...]:
    """Give the bytes of tokens up to the first that the server does not say.

    Parts of a character are joined to it, since servers list them each in their own way: apart,
    empty, or as one entry.
    """
    found: list[bytes] = []
    held = b""
    for entry in reply.observation.logprobs or ():
        if entry.bytes is None:
            break
        held += entry.bytes
        if held and is_text(held):
            found.append(held)
            held = b""
    return tuple(found)
