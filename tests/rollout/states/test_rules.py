"""What the rules do: actions, alarms, counts and pauses, one rule a test."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from denv.errors import HarnessError
from denv.records import Kind, Verdict
from denv.rollout.states import (
    AlarmKind,
    Begin,
    Cancel,
    Cause,
    Deadline,
    GoldenUnproven,
    IncumbentNotProven,
    IncumbentProven,
    Look,
    LookEnded,
    MarkPromoted,
    Override,
    ParityEnded,
    Phase,
    Promote,
    RaiseAlarm,
    ReplicasStopped,
    ResolveAlarms,
    RestoreWeights,
    RetryDue,
    Rollback,
    RunParity,
    SetWeights,
    State,
    Step,
    Superseded,
    Tally,
    Wait,
    Watch,
    Watched,
    WeightsChanged,
    WeightsNotRestored,
    WeightsNotSet,
    WeightsRestored,
    WeightsSet,
    action_from_json,
    action_to_json,
    event_from_json,
    event_to_json,
    next_state,
    state_from_json,
    state_to_json,
    step_from_json,
    step_to_json,
)
from tests.rollout.states.situations import (
    AWAITED,
    DIGEST,
    PROVEN,
    SITUATIONS,
    events,
    proof,
    tallies,
    terms,
)

PARITY = SITUATIONS["parity"]
BAKING = SITUATIONS["baking"]
LOOKS = SITUATIONS["baking, looks"]


def ended(verdict: Verdict, **changes: Any) -> ParityEnded:
    fields: dict[str, Any] = {
        "answers": AWAITED,
        "run": "run-2",
        "proof_digest": DIGEST,
        "tallies": tallies(80, 0),
        "unanswered": 20,
    }
    return ParityEnded(verdict=verdict, **{**fields, **changes})


def alarms(step: Step) -> list[AlarmKind]:
    return [one.kind for one in step.actions if isinstance(one, RaiseAlarm)]


def names(step: Step) -> list[str]:
    return [one.type for one in step.actions]


# ---------------------------------------------------------------- the start


def test_a_latched_digest_is_refused_without_an_override() -> None:
    """A proof that failed before does not begin, and nothing is done."""
    step = next_state(SITUATIONS["pending"], Begin(latched=True))
    assert (step.rule, step.state.phase, step.actions) == ("refused-latched", Phase.REFUSED, ())


def test_an_override_begins_and_is_kept() -> None:
    """With a person's override a latched proof begins, and who and why stays in the state."""
    word = Override(by="ann", reason="the reference was wrong")
    step = next_state(SITUATIONS["pending"], Begin(latched=True, override=word))
    assert (step.rule, step.state.override) == ("begin-overridden", word)
    assert "ann: the reference was wrong" in step.text


def test_an_override_of_nothing_is_not_kept() -> None:
    """Where nothing is latched there is nothing to override."""
    step = next_state(SITUATIONS["pending"], Begin(override=Override(by="ann", reason="x")))
    assert (step.rule, step.state.override) == ("begin", None)


# ---------------------------------------------------------------- parity


def test_a_pass_shifts_the_batch_s_share() -> None:
    """A pass of the rollout's digest is kept as the batch's proof; half of the traffic follows."""
    step = next_state(PARITY, ended(Verdict.PASS, unanswered=0))
    assert step.actions == (SetWeights(number=AWAITED + 1, share=Fraction(1, 2)),)
    assert [one.run for one in step.state.proofs] == ["run-1", "run-2"]
    assert step.state.proven


def test_a_fail_latches_raises_and_rolls_back() -> None:
    """A fail does all three at once, and names counts, threshold and cases."""
    cases = tuple(f"case-{n}" for n in range(8))
    step = next_state(PARITY, ended(Verdict.FAIL, tallies=tallies(92, 8), cases=cases))
    assert names(step) == ["latch", "raise-alarm", "restore-weights"]
    assert alarms(step) == [AlarmKind.PARITY_FAIL]
    assert step.state.failed
    assert "exact 92 of 100 passed (at least 95 %)" in step.text
    assert "case-0, case-1, case-2, case-3, case-4 and 3 more" in step.text


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE])
def test_a_run_of_another_digest_counts_for_nothing(verdict: Verdict) -> None:
    """Whatever such a run says, a new one is made, and the digest is not latched."""
    step = next_state(PARITY, ended(verdict, proof_digest="sha256:other", unanswered=0))
    assert (step.rule, step.state.phase) == ("other-digest", Phase.PARITY)
    assert not step.state.failed
    again = next_state(step.state, RetryDue(answers=AWAITED + 1))
    assert again.actions == (RunParity(number=AWAITED + 2, batch=2, attempt=2, again=None),)


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.ERROR, Verdict.CANCELLED])
def test_what_is_not_decided_is_asked_again(verdict: Verdict) -> None:
    """After a pause the same run goes on with what was not answered."""
    step = next_state(PARITY, ended(verdict))
    assert step.actions == (Wait(number=AWAITED + 1, seconds=10.0),)
    again = next_state(step.state, RetryDue(answers=AWAITED + 1))
    assert again.actions == (RunParity(number=AWAITED + 2, batch=2, attempt=2, again="run-2"),)


@pytest.mark.parametrize("verdict", [Verdict.ERROR, Verdict.CANCELLED])
def test_cancelled_and_error_are_no_pass_with_all_answered(verdict: Verdict) -> None:
    """Neither is a success, whatever was counted."""
    step = next_state(PARITY, ended(verdict, unanswered=0, tallies=tallies(100, 0)))
    assert step.state.phase is Phase.PARITY
    assert len(step.state.proofs) == 1


def test_a_pass_of_nothing_is_no_pass() -> None:
    """An empty suite proves nothing: it is held until the deadline."""
    step = next_state(PARITY, ended(Verdict.PASS, tallies=(), unanswered=0))
    assert (step.rule, step.state.phase, step.actions) == ("held-answered", Phase.HOLDING, ())
    assert len(step.state.proofs) == 1


def test_with_all_answered_nothing_is_asked_again() -> None:
    """Asking again what was answered would be retrying until lucky."""
    missing = "fewer than 90 % of exact were counted"
    step = next_state(PARITY, ended(Verdict.INCONCLUSIVE, unanswered=0, missing=missing))
    assert (step.rule, step.state.pending) == ("held-answered", ())
    assert missing in step.text


def test_the_pause_doubles_up_to_the_longest() -> None:
    """10 s, 20 s, 40 s … are cut off at 60 s where that is the longest."""
    patient = terms(attempts=9, most_backoff_s=60.0)
    pauses = [
        next_state(replace(PARITY, attempts=n, terms=patient), ended(Verdict.ERROR)).actions[0]
        for n in range(1, 6)
    ]
    assert [one.seconds for one in pauses if isinstance(one, Wait)] == [10, 20, 40, 60, 60]


def test_the_last_attempt_is_held() -> None:
    """After the attempts it holds, says what is missing, and asks on at the longest pause."""
    step = next_state(replace(PARITY, attempts=5), ended(Verdict.ERROR, missing="20 of exact"))
    assert (step.rule, step.state.phase) == ("held-attempts", Phase.HOLDING)
    assert step.actions == (Wait(number=AWAITED + 1, seconds=300.0),)
    assert "20 of exact" in step.text


@pytest.mark.parametrize(("unanswered", "phase"), [(20, Phase.HOLDING), (19, Phase.PARITY)])
def test_no_further_progress_is_held(unanswered: int, phase: Phase) -> None:
    """Asking again that brought no answer is held before the attempts are used up."""
    before = replace(PARITY, attempts=2, measured=proof(Verdict.INCONCLUSIVE, unanswered=20))
    step = next_state(before, ended(Verdict.INCONCLUSIVE, run="run-1", unanswered=unanswered))
    assert step.state.phase is phase


@pytest.mark.parametrize("situation", ["starting", "health", "golden, waits", "parity", "holding"])
def test_the_deadline_is_parity_unproven(situation: str) -> None:
    """Whatever is not proven in time goes back with that alarm, and is not latched."""
    step = next_state(SITUATIONS[situation], Deadline(batch=2))
    assert alarms(step) == [AlarmKind.PARITY_UNPROVEN]
    assert not step.state.failed


def test_a_deadline_of_another_batch_is_ignored() -> None:
    """A timer that was set for the batch before does not end this one."""
    step = next_state(PARITY, Deadline(batch=1))
    assert (step.rule, step.actions) == ("ignored-other-batch", ())


def test_golden_prompts_are_retried_without_end() -> None:
    """Only the deadline ends it: the 40th attempt waits as long as the longest pause."""
    before = replace(SITUATIONS["golden"], attempts=40)
    step = next_state(before, GoldenUnproven(answers=AWAITED, why="down"))
    assert step.actions == (Wait(number=AWAITED + 1, seconds=300.0),)


# ---------------------------------------------------------------- bake


def test_observed_seconds_add_up() -> None:
    """60 s and 30 s observed are 90 s baked, and the rest to the next look is watched."""
    step = next_state(BAKING, Watched(answers=AWAITED, observed_s=60.0))
    step = next_state(step.state, Watched(answers=AWAITED + 1, observed_s=30.0))
    assert step.state.baked_s == 90.0
    assert step.actions == (Watch(number=AWAITED + 2, seconds=30.0),)


def test_a_second_delivery_is_not_baked_twice() -> None:
    """The same answer once more adds nothing."""
    event = Watched(answers=AWAITED, observed_s=60.0)
    step = next_state(next_state(BAKING, event).state, event)
    assert (step.rule, step.state.baked_s) == ("ignored-stale", 60.0)


def test_a_look_is_due_each_time() -> None:
    """After 120 s a look begins and watching goes on beside it."""
    step = next_state(BAKING, Watched(answers=AWAITED, observed_s=120.0))
    assert step.actions == (
        Look(number=AWAITED + 1, look=1),
        Watch(number=AWAITED + 2, seconds=120.0),
    )


def test_several_due_looks_are_one() -> None:
    """After 500 s at once, four looks of 120 s are one, and the next is due at 600 s."""
    step = next_state(BAKING, Watched(answers=AWAITED, observed_s=500.0))
    assert step.actions == (
        Look(number=AWAITED + 1, look=1),
        Watch(number=AWAITED + 2, seconds=100.0),
    )


def test_the_bake_waits_for_its_last_look() -> None:
    """At 600 s the fifth look begins, and the batch ends with it."""
    before = replace(BAKING, baked_s=590.0, looked_s=480.0, looks_begun=4)
    step = next_state(before, Watched(answers=AWAITED, observed_s=10.0))
    assert (step.rule, step.state.phase) == ("look-due", Phase.BAKING)
    waits = next_state(step.state, Watched(answers=AWAITED + 2, observed_s=60.0))
    assert (waits.rule, waits.state.phase) == ("bake-waits", Phase.BAKING)
    look = LookEnded(answers=AWAITED + 1, run="look-5", tallies=tallies(50, 0))
    assert next_state(waits.state, look).state.phase is Phase.STARTING


def test_without_looks_the_time_alone_ends_the_bake() -> None:
    """600 s observed and no looks: the next batch begins with nothing carried over."""
    before = replace(BAKING, terms=terms(parity_every_s=None))
    step = next_state(before, Watched(answers=AWAITED, observed_s=600.0))
    after = step.state
    assert (step.rule, after.batch, after.baked_s, after.measured) == ("bake-complete", 3, 0, None)
    assert not after.proven


def test_without_bake_the_weights_lead_on() -> None:
    """A bake of 0 s is none."""
    before = replace(SITUATIONS["shifting"], terms=terms(bake_s=0.0, parity_every_s=None))
    step = next_state(before, WeightsSet(answers=AWAITED))
    assert (step.rule, step.state.phase, step.state.batch) == ("no-bake", Phase.STARTING, 3)


def test_looks_that_decide_latch_and_roll_back() -> None:
    """25 of 50 failed where 5 % may: parity-fail, as if the first run had failed."""
    event = LookEnded(answers=AWAITED, run="look-1", tallies=tallies(25, 25), cases=("a", "b"))
    step = next_state(LOOKS, event)
    assert names(step) == ["latch", "raise-alarm", "restore-weights"]
    assert alarms(step) == [AlarmKind.PARITY_FAIL]
    assert "exact 25 of 50 failed in 1 look (at most 5 %" in step.text


def test_a_look_at_the_threshold_decides_nothing() -> None:
    """3 of 50 failed where 5 % may is no evidence."""
    step = next_state(LOOKS, LookEnded(answers=AWAITED, run="r", tallies=tallies(47, 3)))
    assert (step.rule, len(step.state.looks)) == ("look-counted", 1)


def test_a_look_that_counted_nothing_adds_nothing() -> None:
    """A reference that is down is no evidence against the stage."""
    event = LookEnded(answers=AWAITED, run="r", missing="the reference does not answer")
    step = next_state(LOOKS, event)
    assert (step.rule, step.state.looks) == ("look-missed", ())
    assert "the reference does not answer" in step.text


def test_a_stage_that_is_down_in_a_look_is_unhealthy() -> None:
    """It is taken back at once, without a latch."""
    step = next_state(LOOKS, LookEnded(answers=AWAITED, run="r", down=True))
    assert (alarms(step), step.state.failed) == ([AlarmKind.HEALTH_FAIL], False)


def test_looks_are_pooled_over_batches() -> None:
    """Looks of an earlier batch stay in the test."""
    step = next_state(LOOKS, LookEnded(answers=AWAITED, run="r", tallies=tallies(50, 0)))
    later = next_state(step.state, Promote(by="ann"))
    assert len(later.state.looks) == 1


def test_promoting_by_hand_needs_the_batch_s_proof() -> None:
    """A bake whose batch lacks a pass goes back instead of on."""
    step = next_state(replace(BAKING, proofs=(proof(),)), Promote(by="ann"))
    assert (step.rule, alarms(step)) == ("proof-lacking", [AlarmKind.PARITY_UNPROVEN])


def test_promotion_needs_each_batch_s_proof() -> None:
    """A proof of another digest is none, even at the last step."""
    other = replace(proof(), proof_digest="sha256:other")
    before = replace(SITUATIONS["promoting"], proofs=(proof(), other, proof()))
    step = next_state(before, WeightsSet(answers=AWAITED))
    assert (step.rule, step.state.phase) == ("proof-lacking", Phase.RESTORING)


def test_promotion_resolves_alarms() -> None:
    """The release becomes the incumbent, and the stage's alarms are over."""
    step = next_state(SITUATIONS["promoting"], WeightsSet(answers=AWAITED))
    assert step.actions == (MarkPromoted(number=AWAITED + 1), ResolveAlarms(number=AWAITED + 2))


# ---------------------------------------------------------------- the way back


@pytest.mark.parametrize(
    "event", [Superseded(by_release="r9"), Cancel(by="ann"), Rollback(by="ann")]
)
def test_what_people_want_raises_no_alarm(event: Any) -> None:
    """They know."""
    step = next_state(PARITY, event)
    assert step.actions == (RestoreWeights(number=AWAITED + 1, to_incumbent=True),)


def test_a_first_release_goes_back_to_no_traffic() -> None:
    """There is no incumbent to send traffic to, nor to prove."""
    step = next_state(replace(PARITY, terms=terms(has_incumbent=False)), Cancel(by="ann"))
    assert step.actions == (RestoreWeights(number=AWAITED + 1, to_incumbent=False),)
    step = next_state(step.state, WeightsRestored(answers=AWAITED + 1))
    assert (step.rule, step.state.phase) == ("no-incumbent", Phase.STOPPING)


def test_an_incomplete_rollback_can_be_asked_for_again() -> None:
    """It alarms besides the first alarm; once it is verified that alarm alone is resolved."""
    before = SITUATIONS["restoring"]
    step = next_state(before, WeightsNotRestored(answers=AWAITED, why="status 500"))
    assert alarms(step) == [AlarmKind.ROLLBACK_INCOMPLETE]
    step = next_state(step.state, Rollback(by="ann"))
    assert step.rule == "rollback-again"
    done = replace(SITUATIONS["stopping"], incomplete=step.state.incomplete)
    step = next_state(done, ReplicasStopped(answers=AWAITED))
    resolved = ResolveAlarms(number=AWAITED + 1, kinds=(AlarmKind.ROLLBACK_INCOMPLETE,))
    assert step.actions == (resolved,)


FAILED = Cause(alarm=AlarmKind.PARITY_FAIL, text="it failed", run="run-2")


@pytest.mark.parametrize(
    ("event", "kinds"),
    [
        (Cancel(by="ann"), (AlarmKind.ROLLBACK_INCOMPLETE, AlarmKind.PARITY_FAIL)),
        (Rollback(by="ann"), (AlarmKind.ROLLBACK_INCOMPLETE, AlarmKind.PARITY_FAIL)),
        (Superseded(by_release="r9"), (AlarmKind.ROLLBACK_INCOMPLETE,)),
    ],
)
def test_a_person_who_ends_an_incomplete_rollback_ends_its_alarms(event: Any, kinds: Any) -> None:
    """They have seen to it, so that of the failure is over too; a newer release has not."""
    before = replace(SITUATIONS["rollback-incomplete"], cause=FAILED)
    step = next_state(before, event)
    step = next_state(step.state, WeightsRestored(answers=step.state.issued))
    step = next_state(step.state, IncumbentProven(answers=step.state.issued))
    step = next_state(step.state, ReplicasStopped(answers=step.state.issued))
    assert step.state.phase is Phase.ROLLED_BACK
    assert [one.kinds for one in step.actions if isinstance(one, ResolveAlarms)] == [kinds]


def test_a_failure_that_nobody_has_answered_keeps_its_alarm() -> None:
    """A rollback that goes through by itself leaves the alarm open, until the next promotion."""
    before = replace(SITUATIONS["stopping"], cause=FAILED)
    assert next_state(before, ReplicasStopped(answers=AWAITED)).actions == ()


# ---------------------------------------------------------------- others at the weights


def test_weights_that_others_change_are_set_again_once() -> None:
    """The time in which they were right is baked, a look goes on, and the bake after it."""
    event = WeightsChanged(answers=6, observed_s=30.0, why="w.json: the file is gone")
    step = next_state(LOOKS, event)
    assert step.rule == "weights-changed"
    assert step.actions == (SetWeights(number=AWAITED + 1, share=Fraction(1, 2)),)
    assert [one.type for one in step.state.pending] == ["look", "set-weights"]
    assert step.state.baked_s == LOOKS.baked_s + 30.0
    assert "w.json: the file is gone" in step.text
    counted = next_state(step.state, LookEnded(answers=AWAITED, run="l", tallies=tallies(50, 0)))
    assert [one.type for one in counted.state.pending] == ["set-weights"]
    again = next_state(counted.state, WeightsSet(answers=AWAITED + 1))
    assert (again.rule, again.state.phase) == ("weights-set-again", Phase.BAKING)
    assert [one.type for one in again.state.pending] == ["watch"]


def test_a_bake_does_not_end_while_its_weights_are_set_again() -> None:
    """A last look that ends meanwhile leads nowhere before the weights read back."""
    baked = replace(LOOKS, baked_s=600.0, looked_s=600.0)
    step = next_state(baked, WeightsChanged(answers=6, observed_s=0.0, why="x"))
    step = next_state(step.state, LookEnded(answers=AWAITED, run="l", tallies=tallies(50, 0)))
    assert step.state.phase is Phase.BAKING
    step = next_state(step.state, WeightsSet(answers=AWAITED + 1))
    assert (step.state.phase, step.state.batch) == (Phase.STARTING, 3)


def test_weights_that_others_change_again_are_an_alarm() -> None:
    """A second time in one rollout, in whatever batch, is no mistake: the release is taken back."""
    event = WeightsChanged(answers=AWAITED, observed_s=1.0, why="w.json: it holds other weights")
    step = next_state(replace(BAKING, weights_changed=1), event)
    assert (step.rule, step.state.phase) == ("weights-changed-again", Phase.RESTORING)
    assert alarms(step) == [AlarmKind.HEALTH_FAIL]
    cause = step.state.cause
    assert cause is not None
    assert cause.text.endswith("changed by others again: w.json: it holds other weights")


def test_weights_that_cannot_be_set_again_take_the_release_back() -> None:
    """As they do where they cannot be set at first."""
    event = WeightsNotSet(answers=AWAITED, why="status 500")
    step = next_state(SITUATIONS["baking, sets again"], event)
    assert (step.rule, alarms(step)) == ("weights-not-set", [AlarmKind.HEALTH_FAIL])


# ---------------------------------------------------------------- again, and over


@pytest.mark.parametrize("event", [Superseded(by_release="r9"), Cancel(by="ann")])
def test_a_newer_release_or_cancelling_tries_an_incomplete_rollback_again(event: Any) -> None:
    """The stage is not free while traffic may be on the release: its weights are restored first."""
    before = SITUATIONS["rollback-incomplete"]
    assert not before.ended
    step = next_state(before, event)
    assert (step.rule, step.state.phase) == ("rollback-again", Phase.RESTORING)
    assert step.actions == (RestoreWeights(number=AWAITED + 1, to_incumbent=True),)


@pytest.mark.parametrize("name", SITUATIONS)
def test_only_what_cannot_be_followed_has_ended(name: str) -> None:
    """A rollout ends promoted, rolled back, cancelled or refused, and in no other way."""
    over = {Phase.PROMOTED, Phase.ROLLED_BACK, Phase.CANCELLED, Phase.REFUSED}
    assert SITUATIONS[name].ended is (SITUATIONS[name].phase in over)


def test_an_incumbent_that_fails_its_prompts_is_incomplete() -> None:
    """A rollback is verified or it is not one."""
    event = IncumbentNotProven(answers=AWAITED, why="1 of 8 failed")
    step = next_state(SITUATIONS["verifying"], event)
    assert (step.state.phase, alarms(step)) == (
        Phase.ROLLBACK_INCOMPLETE,
        [AlarmKind.ROLLBACK_INCOMPLETE],
    )


# ---------------------------------------------------------------- documents


@pytest.mark.parametrize("name", SITUATIONS)
def test_states_come_back_from_json(name: str) -> None:
    """What is written is read as the same."""
    assert state_from_json(state_to_json(SITUATIONS[name])) == SITUATIONS[name]


@pytest.mark.parametrize("event", events(AWAITED), ids=lambda one: one.type)
def test_events_actions_and_steps_come_back_from_json(event: Any) -> None:
    """What is written is read as the same, with every action that it leads to."""
    assert event_from_json(event_to_json(event)) == event
    for before in SITUATIONS.values():
        step = next_state(before, event)
        assert step_from_json(step_to_json(step)) == step
        assert [action_from_json(action_to_json(one)) for one in step.actions] == [*step.actions]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"form": 2}, "form 2; this version reads form 1"),
        ({"more": 1}, "more: Unexpected keyword argument"),
        ({"batch": "2"}, "batch: Input should be a valid integer"),
        ({"baked_s": -1.0}, "baked_s: Input should be greater than or equal to 0"),
        ({"phase": "nowhere"}, "phase: Input should be"),
        ({"batch": 4}, "batch 4 of 3"),
        ({"baked_s": float("nan")}, "it is no JSON object"),
    ],
)
def test_a_document_that_does_not_fit_is_refused(change: dict[str, Any], said: str) -> None:
    """One line names the field, and no value is taken for another."""
    with pytest.raises(HarnessError) as caught:
        state_from_json({**state_to_json(BAKING), **change})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"batches": ()},
        {"batches": (Fraction(1, 2),)},
        {"batches": (Fraction(0), Fraction(1))},
        {"batches": (Fraction(1, 2), Fraction(1, 2), Fraction(1))},
        {"parity_every_s": 0.0},
    ],
)
def test_terms_that_lead_nowhere_are_refused(changes: dict[str, Any]) -> None:
    """Batches rise to all of the traffic, and looks have a pause between them."""
    with pytest.raises(ValueError, match=r"batch|traffic|parity_every_s"):
        terms(**changes)


def test_a_state_without_numbers_is_its_first() -> None:
    """A rollout begins with nothing but its terms."""
    first = State(terms=terms())
    assert (first.phase, first.batch, first.pending, first.proven) == (Phase.PENDING, 0, (), False)


def test_kinds_without_threshold_do_not_decide() -> None:
    """A kind that is not gated is shown and never rolls back."""
    only = (Tally(kind=Kind.LOGPROBS, passed=0, failed=50),)
    step = next_state(LOOKS, LookEnded(answers=AWAITED, run="r", tallies=only))
    assert step.rule == "look-counted"
    assert PROVEN["proofs"] == step.state.proofs
