"""Each decision in plain sentences: where, what happened, counts and cases, and what follows."""

from __future__ import annotations

from denv.rollout.states.actions import Wait, Watch
from denv.rollout.states.baking import evidence
from denv.rollout.states.events import (
    Cancel,
    Deadline,
    Event,
    LookEnded,
    Promote,
    Rollback,
    Superseded,
    Watched,
)
from denv.rollout.states.rules import MEANINGS, Rule
from denv.rollout.states.state import Measured, Phase, State
from denv.rollout.states.wording import (
    batch_words,
    cases_words,
    evidence_words,
    percent,
    seconds_words,
    tallies_words,
)

AIMS = {
    Phase.STARTING: "Its new replicas are started.",
    Phase.PROMOTING: "The weights are confirmed before it is promoted.",
    Phase.RESTORING: "The release is taken back: weights first.",
    Phase.REFUSED: "Nothing was changed.",
    Phase.CANCELLED: "Nothing was changed.",
}


OF_A_RUN = frozenset(
    {
        Rule.PARITY_PASS,
        Rule.PARITY_RETRY,
        Rule.HELD_ATTEMPTS,
        Rule.HELD_ANSWERED,
        Rule.OTHER_DIGEST,
    }
)
"""Rules whose text shows how a parity run ended."""


def explain(rule: Rule, event: Event, *, before: State, after: State) -> str:
    """Say in sentences what was decided, and why.

    Parameters
    ----------
    rule
        What decided; its meaning opens the text.
    event
        What happened; its counts, cases and reasons are quoted.
    before, after
        The states on both sides of the decision.
    """
    parts = [
        _where(before, after),
        MEANINGS[rule].replace("`", ""),
        _what(rule, event, after),
        _next(before, after),
    ]
    return " ".join(part for part in parts if part)


def _where(before: State, after: State) -> str:
    """Name the batch that was decided on, not the one that begins by it."""
    batch = batch_words(before if before.batch else after)
    return f"{batch[0].upper()}{batch[1:]}, {before.phase}:"


def _what(rule: Rule, event: Event, after: State) -> str:
    if rule.startswith(("ignored-", "promote-")):
        return _sentence(f"{_named(event)} changed nothing")
    if rule in {Rule.LOOK_COUNTED, Rule.LOOK_MISSED}:
        return _look(event, after)
    if rule in OF_A_RUN:
        return _run(after.measured, after)
    if rule is Rule.BEGIN_OVERRIDDEN and after.override:
        return _sentence(f"overridden by {after.override.by}: {after.override.reason}")
    if after.phase is Phase.RESTORING and rule is not Rule.ROLLBACK_AGAIN and after.cause:
        return _sentence(after.cause.text.removeprefix(f"{batch_words(after)}: "))
    return _plain(event, after)


def _plain(event: Event, after: State) -> str:
    """Quote what an event says of itself."""
    if isinstance(event, Watched):
        return _sentence(
            f"{seconds_words(event.observed_s)} more, {seconds_words(after.baked_s)} "
            f"of {seconds_words(after.terms.bake_s)} baked"
            if after.phase is Phase.BAKING
            else f"{seconds_words(event.observed_s)} more"
        )
    if isinstance(event, Promote | Rollback | Cancel | Superseded):
        return _sentence(_named(event))
    why = getattr(event, "why", "")
    return _sentence(f"reason: {why}" if why else "")


def _named(event: Event) -> str:
    """Name an event with whoever caused it."""
    if isinstance(event, Promote | Rollback | Cancel):
        reason = f": {event.reason}" if isinstance(event, Rollback) and event.reason else ""
        return f"{event.type} by {event.by}{reason}"
    if isinstance(event, Superseded):
        return f"superseded by {event.by_release}"
    if isinstance(event, Deadline):
        return f"deadline of batch {event.batch}"
    answers = getattr(event, "answers", None)
    return event.type if answers is None else f"{event.type}, to action {answers},"


def _run(measured: Measured | None, after: State) -> str:
    if measured is None:
        return ""
    counts = tallies_words(measured.tallies, after.terms.thresholds)
    said = f"run {measured.run} is {measured.verdict}: {counts}"
    if measured.unanswered:
        said += f"; {measured.unanswered} not answered"
    if measured.missing:
        said += f"; missing: {measured.missing}"
    return _sentence(said)


def _look(event: Event, after: State) -> str:
    if not isinstance(event, LookEnded):
        return ""
    counts = tallies_words(event.tallies, after.terms.thresholds)
    said = f"run {event.run}: {counts}"
    if event.missing:
        said += f"; missing: {event.missing}"
    if event.cases:
        said += f"; failed: {cases_words(event.cases)}"
    return _sentence(f"{said}; all looks: {evidence_words(evidence(after))}")


def _next(before: State, after: State) -> str:
    """Say what is done now, where the rule leaves that open."""
    if before.batch and after.batch > before.batch:
        return f"Now {batch_words(after)}."
    if after.phase is not before.phase and after.phase in AIMS:
        return AIMS[after.phase]
    return _waits(before, after)


def _waits(before: State, after: State) -> str:
    new = [one for one in after.pending if one.number > before.issued]
    for one in new:
        if isinstance(one, Wait):
            return f"Next try in {seconds_words(one.seconds)}."
        if isinstance(one, Watch) and after.phase is Phase.BAKING:
            return f"Watched for {seconds_words(one.seconds)} more."
    if after.phase is Phase.SHIFTING and before.phase is not Phase.SHIFTING:
        return f"{percent(after.terms.batches[after.batch - 1])} of the traffic goes to it."
    return ""


def _sentence(words: str) -> str:
    """Begin with a capital and end with a full stop, where there is anything."""
    if not words:
        return ""
    return f"{words[0].upper()}{words[1:]}{'' if words.endswith(('.', '!', '?')) else '.'}"
