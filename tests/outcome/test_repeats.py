"""What repeats and streamed twins change of a case, and what they do not."""

import pytest

from denv.records import (
    Equals,
    Outcome,
    ProblemKind,
    Regex,
    Side,
)
from tests.outcomes import (
    CLOSE,
    CUT,
    LOOP,
    PARIS,
    TOOLS,
    TWELVE,
    answer,
    became,
    broken_call,
    calling,
    decided,
    fault,
    logprobs,
    slow,
)

# ---------------------------------------------------------------- repeats


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        (["12", "12", "12"], ("pass", None)),
        (["12", "no", "12"], ("pass", None)),
        (["no", "12", "no"], ("fail", "unstable")),
        (["no", "no", "no"], ("fail", "unknown")),
    ],
)
def test_repeats_of_the_stage(stage, expected):
    """The first answer decides; repeats that disagree make a failure unstable, a pass doubtful."""
    result = decided(TWELVE, [answer(t) for t in stage], answer("12"))
    assert became(result) == expected
    mixed = len(set(stage)) > 1
    note = f"{stage.count('12')} of 3 repeats pass the check"
    assert result.warnings == ((f"unstable: {note}",) if mixed and expected[1] is None else ())
    assert result.reason.endswith(f"; {note}") is (mixed and expected[1] is not None)


@pytest.mark.parametrize(
    ("reference", "stage", "expected"),
    [
        (["12", "12"], "12", ("pass", None)),
        (["12", "no"], "12", ("unmeasured", None)),
        (["12", "no"], "no", ("unmeasured", None)),
        (["no", "12"], "12", ("unmeasured", None)),
        (["no", "no"], "12", ("reference-fail", None)),
    ],
)
def test_repeats_of_the_reference(reference, stage, expected):
    """A reference that disagrees with itself about the check measures nothing."""
    result = decided(TWELVE, answer(stage), [answer(t) for t in reference])
    assert became(result) == expected
    if expected[0] == "unmeasured":
        assert result.reason == "the reference's repeats disagree about the check"


def test_unsteady_reference_and_a_stage_that_is_down():
    """A stage without an answer fails, unless the reference's first answer fails the check."""
    steady_first = [answer("12"), answer("no")]
    assert became(decided(TWELVE, fault(), steady_first)) == ("fail", "availability")
    assert became(decided(TWELVE, fault(), steady_first[::-1])) == ("unmeasured", None)


def test_repeats_of_logprobs():
    """The stage's repeats meet the reference's first answer, and the other way round."""
    near, far = logprobs(0.01), logprobs(0.2)
    unstable = decided(CLOSE, [far, near], logprobs())
    assert became(unstable) == ("fail", "unstable")
    lucky = decided(CLOSE, [near, far], logprobs())
    assert became(lucky) == ("pass", None)
    assert lucky.warnings == ("unstable: 1 of 2 repeats pass the check",)
    noisy = decided(CLOSE, near, [logprobs(), far])
    assert became(noisy) == ("unmeasured", None)
    assert noisy.reason == "the reference's repeats disagree about the check"
    off = decided(CLOSE, logprobs(1.0), [logprobs(), far])
    assert became(off) == ("fail", "unknown")


@pytest.mark.parametrize(
    ("reference", "stage", "expected"),
    [
        ([calling(), calling()], calling(), ("pass", None)),
        ([calling(), calling("Rome")], calling(), ("unmeasured", None)),
        ([calling("Rome"), calling()], calling("Rome"), ("unmeasured", None)),
        ([calling("Rome"), calling("Rome")], calling(), ("pass", None)),
        ([calling(), fault()], calling(), ("pass", None)),
        ([calling(), calling("Rome")], fault(), ("fail", "availability")),
    ],
)
def test_repeats_of_the_references_tool_calls(reference, stage, expected):
    """A reference that disagrees with itself measures no tool call; one that fails measures it."""
    result = decided(PARIS, stage, reference, tools=TOOLS)
    assert became(result) == expected
    if expected[0] == "unmeasured":
        assert result.reason == "the reference's repeats disagree about the check"


def test_repeats_without_answer():
    """Repeats without a usable answer are ignored, with a warning that counts them."""
    stage = [answer("12"), fault(), answer("12"), fault(ProblemKind.RATE_LIMITED)]
    result = decided(TWELVE, stage, [answer("12"), fault()])
    assert became(result) == ("pass", None)
    assert result.warnings == (
        "ignored: 2 of 3 repeats of the stage gave no usable answer",
        "ignored: 1 of 1 repeats of the reference gave no usable answer",
    )


def test_the_first_answer_decides_though_it_is_missing():
    """A first answer that did not come is not replaced by a repeat."""
    assert became(decided(TWELVE, [fault(), answer("12")], answer("12"))) == (
        "fail",
        "availability",
    )
    assert became(decided(TWELVE, answer("12"), [fault(), answer("12")])) == (
        "reference-error",
        None,
    )


# ---------------------------------------------------------------- streaming


def streamed(stage, twin, reference=None, other=None, *, check=PARIS, **more):
    twins = {Side.STAGE: twin} | ({Side.REFERENCE: other} if other else {})
    return decided(check, stage, reference or calling(), tools=TOOLS, streamed=twins, **more)


def test_both_ways_alike():
    """Calls that come both ways, or neither way, change nothing."""
    assert became(streamed(calling(), calling())) == ("pass", None)
    assert streamed(calling(), calling()).warnings == ()
    wrong = streamed(calling("Rome"), calling("Rome"))
    assert became(wrong) == became(decided(PARIS, calling("Rome"), calling(), tools=TOOLS))


@pytest.mark.parametrize(
    ("plain", "twin", "reason"),
    [
        (calling(), answer("no"), "not streamed: pass; streamed: fail"),
        (calling("Rome"), calling(), "not streamed: fail; streamed: pass"),
    ],
)
def test_calls_that_come_one_way_only(plain, twin, reason):
    """A call that comes only one way is the parser's failure, and the reason names the way."""
    result = streamed(plain, twin)
    assert became(result) == ("fail", "parser")
    assert result.reason == reason


def test_reference_that_differs_the_same_way():
    """Where the reference differs from itself the same way it is only a warning."""
    note = "not streamed: pass; streamed: fail"
    excused = streamed(calling(), answer("no"), calling(), answer("no"))
    assert (became(excused), excused.warnings) == (("pass", None), (note,))
    steady = streamed(calling(), answer("no"), calling(), calling())
    assert became(steady) == ("fail", "parser")
    other_way = streamed(calling(), answer("no"), calling("Rome"), calling())
    assert became(other_way) == ("fail", "parser")
    down = streamed(calling(), answer("no"), fault(), answer("no"))
    assert became(down) == ("fail", "parser")


def test_truncated_twin():
    """A streamed answer that was cut fails because of the limit."""
    cut = broken_call(used=64, **CUT)
    assert became(streamed(calling(), cut)) == ("fail", "limit")


def test_truncated_twin_that_passes():
    """A streamed call that comes in spite of a cut leaves the parser as the difference."""
    assert became(streamed(calling("Rome"), calling(finish_reason="length"))) == ("fail", "parser")


@pytest.mark.parametrize(
    ("plain", "cause"),
    [
        (broken_call(used=64, **CUT), "limit"),
        (answer(LOOP), "engine"),
        (answer("no", prompt=25, used=9), "template"),
    ],
)
def test_known_causes_stay(plain, cause):
    """A cause with evidence of its own stays, and the difference is a warning."""
    result = streamed(plain, calling(), calling(prompt=140, used=9))
    assert became(result) == ("fail", cause)
    assert "not streamed: fail; streamed: pass" in result.warnings


def test_unsteady_stage():
    """Where the stage is known to vary, one streamed answer is no evidence."""
    note = "not streamed: pass; streamed: fail"
    sampled = streamed(calling(), answer("no"), sampled=frozenset({Side.STAGE}))
    assert became(sampled) == ("pass", None)
    assert note in sampled.warnings
    varying = streamed([calling(), calling("Rome")], answer("no"))
    assert became(varying) == ("pass", None)
    assert note in varying.warnings
    other = streamed(calling(), answer("no"), sampled=frozenset({Side.REFERENCE}))
    assert became(other) == ("fail", "parser")


def test_streamed_texts():
    """A text that differs when streamed is a warning."""
    result = streamed(answer("12"), answer("no"), answer("12"), check=TWELVE)
    assert became(result) == ("pass", None)
    assert result.warnings == ("not streamed: pass; streamed: fail",)
    late = streamed(answer("12"), answer("slow 12"), answer("12"), check=Regex("12"), search=slow)
    assert became(late) == ("pass", None)
    assert late.warnings == ("not streamed: pass; streamed: unmeasured",)


@pytest.mark.parametrize(
    ("check", "right"), [(PARIS, calling()), (TWELVE, answer("12")), (Equals("12"), answer("12"))]
)
def test_broken_stream(check, right):
    """A stream without a usable answer fails a case that passes otherwise."""
    broken = fault(ProblemKind.CONTRACT, message="no data line")
    result = streamed(right, broken, right, check=check)
    assert became(result) == ("fail", "contract")
    assert result.reason == "not streamed: pass; streamed: no usable answer (no data line)"
    sampled = streamed(right, broken, right, check=check, sampled=frozenset(Side))
    assert became(sampled) == ("fail", "contract")
    excused = streamed(right, broken, right, fault(), check=check)
    assert became(excused) == ("pass", None)
    assert excused.warnings == (result.reason,)
    steady = streamed(right, broken, right, right, check=check)
    assert became(steady) == ("fail", "contract")


def test_broken_stream_of_a_failing_case():
    """A case that fails already keeps its cause when the stream is broken too."""
    result = streamed(answer("no"), fault(), answer("12"), check=TWELVE)
    assert became(result) == ("fail", "unknown")
    assert result.warnings == ("not streamed: fail; streamed: no usable answer (gone)",)


def test_broken_stream_of_logprobs():
    """Streams often lack logprobs, so a streamed twin decides nothing about them."""
    broken = streamed(logprobs(), fault(), logprobs(), check=CLOSE)
    assert became(broken) == ("pass", None)
    assert broken.warnings == ("not streamed: pass; streamed: no usable answer (gone)",)
    bare = streamed(logprobs(), answer("x"), logprobs(), check=CLOSE)
    assert (became(bare), bare.warnings) == (("pass", None), ())


@pytest.mark.parametrize(
    ("stage", "reference", "expected"),
    [
        (answer("12"), answer("no"), "reference-fail"),
        (answer("12"), [answer("12"), answer("no")], "unmeasured"),
        (answer("12"), fault(), "reference-error"),
    ],
)
def test_what_is_not_counted_stays_uncounted(stage, reference, expected):
    """Neither a broken stream nor unsteady repeats count a case that measures nothing."""
    twins = {Side.STAGE: fault()}
    often = decided(TWELVE, [stage, answer("no")], reference, streamed=twins)
    assert became(often) == (expected, None)
    assert not any("stream" in w or "unstable" in w for w in often.warnings)


def test_rate_limited_stream():
    """A stream that was rate-limited alone is a warning; after other faults it is a failure."""
    limited = streamed(calling(), fault(ProblemKind.RATE_LIMITED, tried=(429,)))
    assert became(limited) == ("pass", None)
    assert limited.warnings == ("not streamed: pass; streamed: rate-limited (gone)",)
    mixed = streamed(calling(), fault(ProblemKind.RATE_LIMITED, tried=(503,)))
    assert became(mixed) == ("fail", "availability")


@pytest.mark.parametrize("stage", [fault(), None])
def test_stream_of_a_stage_without_answer(stage):
    """A streamed answer does not replace the one that decides."""
    result = streamed(stage, calling())
    assert result.outcome is not Outcome.PASS
    assert result.outcome is decided(PARIS, stage, calling()).outcome


def test_stream_of_the_reference_alone():
    """A streamed twin of the reference alone changes nothing."""
    result = decided(
        PARIS, calling(), calling(), tools=TOOLS, streamed={Side.REFERENCE: answer("no")}
    )
    assert (became(result), result.warnings) == (("pass", None), ())
