"""Laws that no case breaks, whatever both sides answer."""

import json

from hypothesis import given
from hypothesis import strategies as st

from denv.records import (
    Cause,
    Equals,
    Outcome,
    ProblemKind,
    Regex,
    Side,
)
from tests.outcomes import (
    CLOSE,
    LOOP,
    PARIS,
    THOUGHT,
    TOOLS,
    TWELVE,
    answer,
    broken_call,
    call,
    decided,
    fault,
    logprobs,
)

# ---------------------------------------------------------------- laws

texts = st.sampled_from([None, "", "12", "it is 12", "no", LOOP])
entries = st.sampled_from([None, logprobs().observation.logprobs])
usable = st.builds(
    answer,
    texts,
    logprobs=entries,
    sent=st.just(64),
    used=st.sampled_from([None, 10, 64]),
    prompt=st.sampled_from([None, 25, 140]),
    reasoning=st.sampled_from([None, THOUGHT, LOOP]),
    finish_reason=st.sampled_from(["stop", "length", None]),
    reasoning_open=st.booleans(),
    calls=st.sampled_from([(), (call(),), (call("Rome"),), broken_call().observation.calls]),
)
faults = st.builds(
    fault,
    st.sampled_from(list(ProblemKind)),
    st.sampled_from(list(Cause)),
    tried=st.lists(st.sampled_from([429, 503, None]), max_size=2),
)
sides = st.lists(st.one_of(usable, faults), max_size=3)
checks = st.sampled_from([Equals("12"), TWELVE, Regex("^1"), PARIS, CLOSE])
twins = st.dictionaries(st.sampled_from(list(Side)), st.one_of(usable, faults), max_size=2)
sampling = st.frozensets(st.sampled_from(list(Side)))


@given(checks, sides, sides, twins, sampling)
def test_every_result_is_coherent(check, stage, reference, twin, sampled):
    """Failures alone have a cause; a pass needs a usable stage; all of it is strict JSON."""
    result = decided(check, stage, reference, tools=TOOLS, streamed=twin, sampled=sampled)
    assert (result.cause is not None) is (result.outcome is Outcome.FAIL)
    if result.outcome is Outcome.PASS:
        assert stage[0].usable
        assert check is PARIS or reference[0].usable
    else:
        assert result.reason
    parts = [result.stage, result.reference, dict(result.detail)]
    assert json.loads(json.dumps(parts, allow_nan=False)) == parts


@given(sides, sides, sides, sampling)
def test_the_reference_turns_no_tool_call(stage, one, other, sampled):
    """A reference may leave a tool call unmeasured, but turns no pass into a failure or back."""
    outcomes = {
        decided(PARIS, stage, reference, tools=TOOLS, sampled=sampled).outcome
        for reference in (one, other)
    }
    assert len(outcomes - {Outcome.UNMEASURED}) <= 1
    assert Outcome.REFERENCE_FAIL not in outcomes
    assert Outcome.REFERENCE_ERROR not in outcomes


@given(checks, st.one_of(usable, faults), sides, st.one_of(usable, faults))
def test_repeats_of_the_stage_change_no_rate(check, first, repeats, reference):
    """With a steady reference, the stage's repeats never change the outcome."""
    once = decided(check, first, reference, tools=TOOLS)
    often = decided(check, [first, *repeats], reference, tools=TOOLS)
    assert often.outcome is once.outcome


@given(checks, usable)
def test_the_same_answer_on_both_sides_never_fails_a_text(check, both):
    """A stage that answers as the reference does fails no text check, its own limits apart."""
    result = decided(check, both, both, tools=TOOLS)
    if check is not PARIS and result.outcome is Outcome.FAIL:
        assert result.cause is Cause.LIMIT
