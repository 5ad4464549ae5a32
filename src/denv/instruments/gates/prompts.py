"""Two sides' prompts of the same messages, compared by what both show of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from denv.instruments.gates.groups import Group
from denv.instruments.gates.model import State
from denv.instruments.gates.parting import parting, shared
from denv.instruments.gates.rendering import Prompt
from denv.records import Json

_SHOWN_IDS = 6


@dataclass(frozen=True, slots=True)
class Reading:
    """What a side makes of one group.

    ``tokens`` is what its chat endpoint counts. ``refusal`` is why it does not take the
    messages, ``trouble`` why it could not be asked.
    """

    prompt: Prompt | None = None
    tokens: int | None = None
    refusal: str | None = None
    trouble: str | None = None

    @property
    def rendered_tokens(self) -> int | None:
        """How many tokens the prompt has that the side shows."""
        ids = None if self.prompt is None else self.prompt.ids
        return None if ids is None else len(ids)

    def document(self) -> dict[str, Json]:
        """Give path, sizes and what was refused as strict JSON."""
        prompt = self.prompt
        return {
            "path": None if prompt is None else prompt.path.value,
            "characters": None if prompt is None or prompt.text is None else len(prompt.text),
            "rendered_tokens": self.rendered_tokens,
            "counted_tokens": self.tokens,
            "refusal": self.refusal or self.trouble,
        }


@dataclass(frozen=True, slots=True)
class Compared:
    """What comparing one group shows; ``needed`` is False where both sides take no such group."""

    state: State
    finding: str
    needed: bool = True
    figures: Mapping[str, Json] = field(default_factory=dict)


def compare(
    group: Group, stage: Reading, reference: Reading, *, same_ids: bool, counts_move: bool
) -> Compared:
    """Compare by ids where the tokenizers agree, else by text, else by counts.

    ``counts_move`` says that the counts of both sides follow the messages at all.
    """
    return (
        _refusals(group, stage, reference)
        or _unlike_its_own(group, stage, reference)
        or _by_ids(group, stage, reference, same_ids=same_ids)
        or _by_text(group, stage, reference, counts_move=counts_move)
        or _by_counts(group, stage, reference, counts_move=counts_move)
    )


def _refusals(group: Group, stage: Reading, reference: Reading) -> Compared | None:
    sides = {"stage": stage, "reference": reference}
    for who, one in sides.items():
        if one.trouble is not None:
            said = f"{group.name}: the {who} could not be asked ({one.trouble})"
            return Compared(State.UNKNOWN, said)
    refused = {who: one.refusal for who, one in sides.items() if one.refusal is not None}
    if len(refused) == len(sides):
        return Compared(State.UNKNOWN, f"{group.name}: both sides refuse it", needed=False)
    for who, message in refused.items():
        if group.option is not None and group.option in message:
            said = f"{group.name}: the {who} does not take {group.option}"
            return Compared(State.UNKNOWN, said, needed=False)
        return Compared(State.FAIL, f"{group.name}: only the {who} refuses it ({message})")
    return None


def _unlike_its_own(group: Group, stage: Reading, reference: Reading) -> Compared | None:
    """Tell a side whose chat counts other tokens than the prompt has that it shows."""
    for who, one in (("stage", stage), ("reference", reference)):
        if one.rendered_tokens is None or one.tokens in {None, one.rendered_tokens}:
            continue
        said = (
            f"{group.name}: the {who}'s chat counts {one.tokens} prompt tokens, "
            f"the prompt that it shows has {one.rendered_tokens}"
        )
        return Compared(State.FAIL, said)
    return None


def _by_ids(group: Group, stage: Reading, reference: Reading, *, same_ids: bool) -> Compared | None:
    ours, theirs = stage.prompt, reference.prompt
    if ours is None or theirs is None or ours.ids is None or theirs.ids is None:
        return None
    if ours.ids == theirs.ids:
        finding = f"{group.name}: the same {len(ours.ids)} token ids"
        return Compared(State.PASS, finding, figures={"by": "ids"})
    if not same_ids:
        return None
    if ours.text is not None and theirs.text is not None and ours.text != theirs.text:
        return _text_parts(group, ours.text, theirs.text)
    at = shared(ours.ids, theirs.ids)
    shown = [list(ids[at : at + _SHOWN_IDS]) for ids in (ours.ids, theirs.ids)]
    twice = _doubled(ours.ids, theirs.ids)
    finding = f"{group.name}: the prompts part at token {at}: {shown[0]} and {shown[1]}{twice}"
    figures = {"by": "ids", "token": at, "stage_ids": shown[0], "reference_ids": shown[1]}
    return Compared(State.FAIL, finding, figures=figures)


def _doubled(stage: tuple[int, ...], reference: tuple[int, ...]) -> str:
    for who, one, other in (("stage", stage, reference), ("reference", reference, stage)):
        if one[1:] == other and one[0] == one[1]:
            return f" (the {who} begins with the token {one[0]} twice)"
    return ""


def _by_text(
    group: Group, stage: Reading, reference: Reading, *, counts_move: bool
) -> Compared | None:
    ours = None if stage.prompt is None else stage.prompt.text
    theirs = None if reference.prompt is None else reference.prompt.text
    if ours is None or theirs is None:
        return None
    if ours != theirs:
        return _text_parts(group, ours, theirs)
    counted = _by_counts(group, stage, reference, counts_move=counts_move)
    if counted.state is State.FAIL:
        return replace(counted, finding=f"{counted.finding}, though the prompts are one text")
    finding = f"{group.name}: the same {len(ours)} characters"
    return Compared(State.PASS, finding, figures={"by": "text"})


def _text_parts(group: Group, stage: str, reference: str) -> Compared:
    found = parting(stage, reference)
    if found is None:
        raise ValueError("equal texts do not part")
    finding = (
        f"{group.name}: the prompts part at character {found.offset}: "
        f"the stage has `{found.stage}`, the reference `{found.reference}`"
    )
    return Compared(State.FAIL, finding, figures={"by": "text", "parting": found.document()})


def _by_counts(group: Group, stage: Reading, reference: Reading, *, counts_move: bool) -> Compared:
    ours, theirs = stage.tokens, reference.tokens
    if ours is None or theirs is None:
        who = "the stage" if ours is None else "the reference"
        said = f"{group.name}: {who} shows neither its prompt nor how many tokens it has"
        return Compared(State.UNKNOWN, said)
    if not counts_move:
        said = f"{group.name}: prompt-token counts that never change show nothing"
        return Compared(State.UNKNOWN, said)
    if ours == theirs:
        finding = f"{group.name}: both count {ours} prompt tokens"
        return Compared(State.PASS, finding, figures={"by": "counts"})
    finding = (
        f"{group.name}: the stage counts {ours} prompt tokens, the reference {theirs}"
        f" ({ours - theirs:+d})"
    )
    return Compared(State.FAIL, finding, figures={"by": "counts", "difference": ours - theirs})
