"""From the start of a batch to its proof: replicas, health, golden prompts, parity."""

from __future__ import annotations

from dataclasses import replace

from denv.records import Verdict
from denv.rollout.states.actions import (
    AlarmKind,
    CheckHealth,
    RunGolden,
    RunParity,
    SetWeights,
    Wait,
)
from denv.rollout.states.events import (
    Begin,
    Deadline,
    GoldenFailed,
    GoldenPassed,
    GoldenUnproven,
    Healthy,
    ParityEnded,
    ReplicasFailed,
    ReplicasStarted,
    RetryDue,
    Unhealthy,
)
from denv.rollout.states.moves import Move, go, pause, start_batch, stay, take_back
from denv.rollout.states.rules import Rule
from denv.rollout.states.state import Cause, Measured, Phase, State
from denv.rollout.states.wording import batch_words, cases_words, tallies_words


def begin(state: State, event: Begin) -> Move:
    """Start the first batch, unless its proof has failed before and nobody overrode that."""
    if not event.latched:
        return start_batch(state, Rule.BEGIN)
    if event.override is None:
        return go(state, Rule.REFUSED_LATCHED, phase=Phase.REFUSED, failed=True)
    return start_batch(state, Rule.BEGIN_OVERRIDDEN, override=event.override)


def replicas_started(state: State, event: ReplicasStarted) -> Move:
    """Check their health."""
    do = [CheckHealth(batch=state.batch)]
    return go(state, Rule.REPLICAS_STARTED, do=do, phase=Phase.HEALTH)


def replicas_failed(state: State, event: ReplicasFailed) -> Move:
    """Roll back."""
    text = f"{batch_words(state)}: a replica did not start: {event.why}"
    return take_back(state, Rule.REPLICAS_FAILED, Cause(alarm=AlarmKind.HEALTH_FAIL, text=text))


def healthy(state: State, event: Healthy) -> Move:
    """Ask the golden prompts."""
    do = [RunGolden(batch=state.batch, attempt=1)]
    return go(state, Rule.HEALTHY, do=do, phase=Phase.GOLDEN, attempts=1)


def unhealthy(state: State, event: Unhealthy) -> Move:
    """Roll back."""
    text = f"{batch_words(state)}: a new replica is not healthy: {event.why}"
    return take_back(state, Rule.HEALTH_FAIL, Cause(alarm=AlarmKind.HEALTH_FAIL, text=text))


# ---------------------------------------------------------------- golden prompts


def golden_passed(state: State, event: GoldenPassed) -> Move:
    """Run parity."""
    do = [RunParity(batch=state.batch, attempt=1, again=None)]
    return go(state, Rule.GOLDEN_PASSED, do=do, phase=Phase.PARITY, attempts=1)


def golden_failed(state: State, event: GoldenFailed) -> Move:
    """Roll back."""
    text = f"{batch_words(state)}: golden prompts failed: {cases_words(event.cases)}"
    cause = Cause(alarm=AlarmKind.GOLDEN_FAIL, text=text, run=event.run)
    return take_back(state, Rule.GOLDEN_FAIL, cause)


def golden_unproven(state: State, event: GoldenUnproven) -> Move:
    """Ask again after a pause, until the deadline."""
    return go(state, Rule.GOLDEN_UNPROVEN, do=[pause(state)])


def golden_again(state: State, event: RetryDue) -> Move:
    """Ask again."""
    attempt = state.attempts + 1
    do = [RunGolden(batch=state.batch, attempt=attempt)]
    return go(state, Rule.GOLDEN_AGAIN, do=do, attempts=attempt)


# ---------------------------------------------------------------- parity


def parity_ended(state: State, event: ParityEnded) -> Move:
    """Shift the weights for a pass of exactly the rollout's digest; roll back for a fail."""
    measured = Measured(
        run=event.run,
        verdict=event.verdict,
        proof_digest=event.proof_digest,
        tallies=event.tallies,
        unanswered=event.unanswered,
        missing=event.missing,
    )
    if not _ours(state, measured):
        return _undecided(state, measured, Rule.OTHER_DIGEST)
    if event.verdict is Verdict.FAIL:
        return _parity_failed(state, event, measured)
    if event.verdict is Verdict.PASS and measured.counted:
        return _parity_passed(state, measured)
    return _undecided(state, measured, Rule.PARITY_RETRY)


def _ours(state: State, measured: Measured) -> bool:
    return measured.proof_digest == state.terms.proof_digest


def _parity_passed(state: State, measured: Measured) -> Move:
    proofs = (*state.proofs[: state.batch - 1], measured)
    do = [SetWeights(share=state.terms.batches[state.batch - 1])]
    return go(
        state, Rule.PARITY_PASS, do=do, phase=Phase.SHIFTING, proofs=proofs, measured=measured
    )


def _parity_failed(state: State, event: ParityEnded, measured: Measured) -> Move:
    counts = tallies_words(event.tallies, state.terms.thresholds)
    text = f"{batch_words(state)}: parity failed: {counts}"
    if event.missing:
        text += f"; {event.missing}"
    if event.cases:
        text += f"; failed: {cases_words(event.cases)}"
    alarm = AlarmKind.PARITY_GAMING if event.gaming else AlarmKind.PARITY_FAIL
    cause = Cause(alarm=alarm, text=text, run=event.run)
    return take_back(replace(state, measured=measured), Rule.PARITY_FAIL, cause, latch=True)


def _undecided(state: State, measured: Measured, rule: Rule) -> Move:
    """Wait and ask again what was not answered, or hold where that leads nowhere."""
    if _all_answered(state, measured):
        return go(state, Rule.HELD_ANSWERED, phase=Phase.HOLDING, measured=measured)
    if state.attempts < state.terms.attempts and not _stalled(state, measured):
        return go(state, rule, do=[pause(state)], phase=Phase.PARITY, measured=measured)
    held = rule if rule is Rule.OTHER_DIGEST else Rule.HELD_ATTEMPTS
    do = [Wait(seconds=state.terms.most_backoff_s)]
    return go(state, held, do=do, phase=Phase.HOLDING, measured=measured)


def _all_answered(state: State, measured: Measured) -> bool:
    decided = measured.verdict in {Verdict.INCONCLUSIVE, Verdict.PASS}
    return decided and not measured.unanswered and _ours(state, measured)


def _stalled(state: State, measured: Measured) -> bool:
    """Whether asking again brought no further answer although both sides could be asked."""
    before = state.measured
    return (
        before is not None
        and before.verdict is measured.verdict is Verdict.INCONCLUSIVE
        and before.run == measured.run
        and measured.unanswered >= before.unanswered
    )


def parity_again(state: State, event: RetryDue) -> Move:
    """Ask what was not answered; a run of another digest is not gone on with."""
    last, attempt = state.measured, state.attempts + 1
    again = last.run if last is not None and _ours(state, last) else None
    do = [RunParity(batch=state.batch, attempt=attempt, again=again)]
    return go(state, Rule.PARITY_AGAIN, do=do, phase=Phase.PARITY, attempts=attempt)


def deadline(state: State, event: Deadline) -> Move:
    """Roll back what is not proven in time."""
    if event.batch != state.batch:
        return stay(state, Rule.IGNORED_OTHER_BATCH)
    lacks = state.measured.missing if state.measured and state.measured.missing else "no pass"
    text = f"{batch_words(state)}: not proven by the deadline, in {state.phase}: {lacks}"
    run = state.measured.run if state.measured else None
    cause = Cause(alarm=AlarmKind.PARITY_UNPROVEN, text=text, run=run)
    return take_back(state, Rule.DEADLINE, cause)
