"""G3: whether both sides make the same prompt of the same messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from denv.instruments.gates.asking import Reply, both, chat, greedy
from denv.instruments.gates.groups import GROUPS, Group
from denv.instruments.gates.model import Check, Gate, State, judged
from denv.instruments.gates.prompts import Reading, compare
from denv.instruments.gates.rendering import Renderer
from denv.instruments.probes import Strand
from denv.records import Cause, ProblemKind, Side

GATE = ("G3", "template")

Readings = Mapping[str, Reading]
"""By the group's name."""


def template_gate(renderers: Mapping[Side, Renderer | None], *, same_ids: bool) -> Strand[Gate]:
    """Render each group on both sides, and count it through chat, which is what is served.

    ``same_ids`` says that the tokenizers agree, so that ids of both may be compared.
    """
    readings = yield from both(lambda side: _read_all(side, renderers[side]))
    return judge(readings[Side.STAGE], readings[Side.REFERENCE], same_ids=same_ids)


def _read_all(side: Side, renderer: Renderer | None) -> Strand[dict[str, Reading]]:
    found: dict[str, Reading] = {}
    for group in GROUPS:
        found[group.name] = yield from _read(side, renderer, group)
    return found


def _read(side: Side, renderer: Renderer | None, group: Group) -> Strand[Reading]:
    body = greedy(group.fields["messages"], max_tokens=1)
    reply: Reply = yield from chat(side, {**body, **group.fields})
    problem = reply.observation.problem
    if problem is not None:
        refused = problem.kind is ProblemKind.REFUSED or problem.cause is Cause.TEMPLATE
        said = problem.message
        return Reading(refusal=said) if refused else Reading(trouble=said)
    if renderer is None:
        return Reading(None, reply.prompt_tokens)
    prompt = yield from renderer.render(group.fields)
    if prompt is not None:
        prompt = yield from renderer.counted(prompt, reply.prompt_tokens)
    return Reading(prompt, reply.prompt_tokens)


def judge(stage: Readings, reference: Readings, *, same_ids: bool) -> Gate:
    """Decide by the groups; where counts differ by a constant, that is said first."""
    move = all(_move(readings) for readings in (stage, reference))
    checks = []
    for group in GROUPS:
        pair = stage[group.name], reference[group.name]
        found = compare(group, *pair, same_ids=same_ids, counts_move=move)
        sides = {"stage": pair[0].document(), "reference": pair[1].document()}
        evidence = {**sides, **found.figures}
        checks.append(
            Check(group.name, found.state, found.finding, needed=found.needed, evidence=evidence)
        )
    same = [check.name for check in checks if check.state is State.PASS]
    by = sorted({str(check.evidence["by"]) for check in checks if "by" in check.evidence})
    gate = judged(
        GATE,
        checks,
        passes=f"both sides make the same prompts of {len(same)} of {len(GROUPS)} kinds of "
        f"messages (compared by {' and '.join(by)})",
        evidence={"groups": len(GROUPS), "same": same, "compared_by": by, "offset": None},
    )
    if gate.state is State.PASS:
        return gate
    decisive = [check for check in checks if check.state is gate.state and check.needed]
    finding = decisive[0].finding if decisive else gate.finding
    if len(decisive) > 1:
        finding += f"; so for {', '.join(check.name for check in decisive[1:])}"
    said = constant_offset(stage, reference)
    if said is not None:
        finding += f"; {said}"
    return replace(gate, finding=finding, evidence={**gate.evidence, "offset": said})


def _move(readings: Readings) -> bool:
    counts = [one.tokens for one in readings.values() if one.tokens is not None]
    return len(set(counts)) > 1


def constant_offset(stage: Readings, reference: Readings) -> str | None:
    """Name a difference of counts that is the same in all groups, or in all without system."""
    offsets: dict[bool | None, set[int]] = {True: set(), False: set(), None: set()}
    for group in GROUPS:
        ours, theirs = stage[group.name].tokens, reference[group.name].tokens
        if ours is not None and theirs is not None:
            offsets[group.system].add(ours - theirs)
    without = offsets[False]
    if len(without) != 1 or without == {0}:
        return None
    offset = next(iter(without))
    who = "stage" if offset > 0 else "reference"
    if offsets[True] == without:
        token = "; perhaps a token that begins the sequence twice" if abs(offset) == 1 else ""
        return f"every prompt of the {who} has {abs(offset)} more tokens{token}"
    if offsets[True] == {0}:
        return (
            f"without a system message the {who}'s prompts have {abs(offset)} more tokens: "
            "a default system prompt"
        )
    return None
