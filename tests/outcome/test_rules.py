"""What became of a case: each rule in its order, with the cases on both sides of its boundary."""

import pytest

from denv.outcome import decide, side_view
from denv.records import (
    Call,
    Cause,
    Contains,
    Kind,
    Outcome,
    ProblemKind,
    Regex,
    Side,
)
from tests.outcomes import (
    CLOSE,
    CUT,
    LOOP,
    PAIRED,
    PARIS,
    SHOWN_LOOP,
    TEXTS,
    THOUGHT,
    TOOLS,
    TWELVE,
    answer,
    became,
    broken_call,
    call,
    calling,
    case,
    decided,
    fault,
    logprobs,
    search,
    slow,
)

# ---------------------------------------------------------------- a plain case


@pytest.mark.parametrize(("check", "right"), PAIRED)
def test_both_right(check, right):
    """Where both sides give the expected answer the case passes, without cause or warning."""
    result = decided(check, right, right)
    assert became(result) == ("pass", None)
    assert result.warnings == ()


@pytest.mark.parametrize(("check", "right"), TEXTS)
def test_plain_wrong_answer(check, right):
    """A plain wrong answer fails with cause unknown: one exchange cannot say more."""
    result = decided(check, answer("no"), right)
    assert became(result) == ("fail", "unknown")
    assert result.reason


def test_shifted_logprobs():
    """Logprobs beyond the tolerance fail; the precision cannot be blamed on one exchange."""
    assert became(decided(CLOSE, logprobs(0.2), logprobs()))[0] == "fail"
    assert became(decided(CLOSE, logprobs(0.01), logprobs())) == ("pass", None)


def test_the_result_carries_the_case():
    """The result names the case, its check and kind, and shows both sides."""
    result = decide(
        case(TWELVE, tags=("math",)),
        stage=[answer("12")],
        reference=[answer("so 12")],
        search=search,
    )
    assert (result.id, result.index, result.tags) == ("c-1", 7, ("math",))
    assert (result.check, result.kind) == ("contains", Kind.EXACT)
    assert result.stage == side_view(answer("12"))
    assert result.reference == side_view(answer("so 12"))


def test_what_the_check_says_is_kept():
    """A cause, figures and warnings that the check itself gives reach the result."""
    doubled = Call("get_weather", None, '"{}"', error="not an object", unwrapped={"city": "Paris"})
    result = decided(PARIS, answer(calls=(doubled,)), calling(), tools=TOOLS)
    assert became(result) == ("fail", "parser")


# ---------------------------------------------------------------- rule 1


@pytest.mark.parametrize(("check", "right"), PAIRED)
@pytest.mark.parametrize("kind", list(ProblemKind))
@pytest.mark.parametrize("down", [True, False])
def test_no_usable_answer_of_the_reference(check, right, kind, down):
    """Checks that need the reference end as reference-error without it, whatever the stage did."""
    result = decided(check, fault() if down else right, fault(kind, message="no answer"))
    assert became(result) == ("reference-error", None)
    assert result.reason == "no answer"


@pytest.mark.parametrize(("check", "right"), PAIRED)
def test_reference_that_was_not_asked(check, right):
    """A reference that was not asked is no usable answer either."""
    result = decided(check, right)
    assert became(result) == ("reference-error", None)
    assert result.reason == "the reference was not asked"
    assert result.reference is None


@pytest.mark.parametrize(
    ("reference", "word", "warnings"),
    [
        (calling(), "pass", ()),
        (calling("Rome"), "fail", ()),
        (answer("no idea"), "fail", ("the stage makes 1 call, the reference none",)),
        (fault(message="gone"), "error", ("the reference gave no usable answer: gone",)),
        (None, "none", ()),
    ],
)
def test_tool_calls_are_decided_by_the_stage_alone(reference, word, warnings):
    """For tool-call the reference's outcome stands beside the case and changes nothing."""
    right = decided(PARIS, calling(), reference, tools=TOOLS)
    wrong = decided(PARIS, calling("Rome"), reference, tools=TOOLS)
    assert became(right) == ("pass", None)
    assert became(wrong)[0] == "fail"
    for result in (right, wrong):
        assert result.detail["reference"] == word
        assert result.warnings == warnings


def test_the_reference_stands_beside_tool_calls_alone():
    """Other checks need the reference, so no word stands beside them."""
    assert "reference" not in decided(TWELVE, answer("12"), answer("12")).detail


@pytest.mark.parametrize(
    ("stage", "reference", "said"),
    [
        (4, 1, "the stage makes 4 calls, the reference 1"),
        (1, 2, "the stage makes 1 call, the reference 2"),
        (0, 1, "the stage makes no call, the reference 1"),
        (1, 0, "the stage makes 1 call, the reference none"),
        (2, 2, None),
    ],
)
def test_other_numbers_of_calls(stage, reference, said):
    """A check looks for one call; that a side makes more or fewer of them is a warning."""
    sides = [answer("x", calls=(call(),) * number) for number in (stage, reference)]
    assert decided(PARIS, *sides, tools=TOOLS).warnings == ((said,) if said else ())


def test_prompts_are_kept_where_both_lengths_are_known():
    """Both lengths stand in the detail, with what of the prompt may explain their difference."""
    result = decided(PARIS, calling(prompt=25), calling(prompt=30), tools=TOOLS)
    prompt = {"stage": 25, "reference": 30, "system": False, "tools": True}
    assert result.detail["prompt"] == prompt
    assert "prompt" not in decided(TWELVE, answer("12"), answer("12", prompt=30)).detail


def test_answers_that_never_came_are_told():
    """The reference's faults and the stage's rate limits are asked again, its own faults not."""
    right, limited = answer("12"), fault(ProblemKind.RATE_LIMITED)
    assert decided(TWELVE, limited, fault()).detail["unanswered"] == ["stage", "reference"]
    assert decided(TWELVE, right, [right, fault()]).detail["unanswered"] == ["reference"]
    assert "unanswered" not in decided(TWELVE, fault(), right).detail


# ---------------------------------------------------------------- rule 2


@pytest.mark.parametrize(("check", "right"), TEXTS)
def test_reference_fails(check, right):
    """What the reference fails is not counted, whatever the stage did."""
    stages = [right, answer("no"), fault(), fault(ProblemKind.CONTRACT), answer(LOOP), None]
    for stage in stages:
        result = decided(check, stage, answer("wrong"))
        assert became(result) == ("reference-fail", None)
        assert result.reason.startswith("the reference fails: ")


def test_truncated_reference_that_fails():
    """A reference cut inside reasoning fails its check like any other answer without text."""
    cut = answer(reasoning=THOUGHT, finish_reason="length")
    assert became(decided(TWELVE, cut, cut)) == ("reference-fail", None)


# ---------------------------------------------------------------- rule 3


@pytest.mark.parametrize(
    ("kind", "shown", "cause"),
    [
        (ProblemKind.TRANSPORT, Cause.AVAILABILITY, "availability"),
        (ProblemKind.TRANSPORT, Cause.TEMPLATE, "availability"),
        (ProblemKind.INCOMPLETE, Cause.CONTRACT, "availability"),
        (ProblemKind.SERVER_ERROR, Cause.AVAILABILITY, "availability"),
        (ProblemKind.SERVER_ERROR, Cause.UNKNOWN, "availability"),
        (ProblemKind.SERVER_ERROR, Cause.TEMPLATE, "template"),
        (ProblemKind.SERVER_ERROR, Cause.LIMIT, "limit"),
        (ProblemKind.SERVER_ERROR, Cause.CONTRACT, "contract"),
        (ProblemKind.REFUSED, Cause.TEMPLATE, "template"),
        (ProblemKind.REFUSED, Cause.LIMIT, "limit"),
        (ProblemKind.REFUSED, Cause.CONTRACT, "contract"),
        (ProblemKind.REFUSED, Cause.AVAILABILITY, "availability"),
        (ProblemKind.CONTRACT, Cause.CONTRACT, "contract"),
        (ProblemKind.CONTRACT, Cause.UNKNOWN, "contract"),
    ],
)
@pytest.mark.parametrize(("check", "right"), [*PAIRED, (PARIS, calling())])
def test_no_usable_answer_of_the_stage(check, right, kind, shown, cause):
    """A stage without a usable answer fails, with the cause that a refusal's body shows."""
    result = decided(check, fault(kind, shown, message="what it said"), right)
    assert became(result) == ("fail", cause)
    assert result.reason == "what it said"


@pytest.mark.parametrize(
    ("tried", "expected"),
    [
        ((), ("unmeasured", None)),
        ((429, 429), ("unmeasured", None)),
        ((400, 429, 422), ("unmeasured", None)),
        ((429, 503), ("fail", "availability")),
        ((None, 429), ("fail", "availability")),
        ((200,), ("fail", "availability")),
    ],
)
@pytest.mark.parametrize(("check", "right"), [*PAIRED, (PARIS, calling())])
def test_rate_limits(check, right, tried, expected):
    """Rate limits alone measure nothing; a fault among them is a failure of availability."""
    limited = fault(ProblemKind.RATE_LIMITED, tried=tried, message="slow down")
    result = decided(check, limited, right)
    assert became(result) == expected
    assert result.reason == ("rate-limited: " if expected[1] is None else "") + "slow down"


def test_fault_after_rate_limits():
    """Rate limits that end in another fault are a failure."""
    assert became(decided(TWELVE, fault(tried=(429, 429)), answer("12"))) == (
        "fail",
        "availability",
    )


@pytest.mark.parametrize(("check", "right"), [*PAIRED, (PARIS, calling())])
def test_stage_that_was_not_asked(check, right):
    """A stage that was not asked is neither passed nor failed."""
    result = decided(check, None, right)
    assert became(result) == ("unmeasured", None)
    assert result.reason == "the stage was not asked"
    assert result.stage is None


# ---------------------------------------------------------------- rule 4


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        ({Side.STAGE}, "the stage samples"),
        ({Side.REFERENCE}, "the reference samples"),
        (set(Side), "the stage and the reference samples"),
    ],
)
def test_sampled_sides(sides, words):
    """Where a side samples, logprobs cannot be compared, and texts carry a warning."""
    sampled = frozenset(sides)
    close = decided(CLOSE, logprobs(), logprobs(), sampled=sampled)
    assert became(close) == ("unmeasured", None)
    assert close.reason == f"{words} in spite of temperature 0"
    assert close.warnings == ()
    for check, right in [*TEXTS, (PARIS, calling())]:
        result = decided(check, right, right, sampled=sampled)
        assert became(result) == ("pass", None)
        assert result.warnings == tuple(
            f"the {side} samples in spite of temperature 0: repeats are advised"
            for side in Side
            if side in sides
        )


def test_sampled_stage_that_is_down():
    """A stage without an answer fails before anything is found unmeasurable."""
    down = decided(CLOSE, fault(), logprobs(), sampled=frozenset({Side.STAGE}))
    assert became(down) == ("fail", "availability")


def test_no_logprobs():
    """Logprobs that a side does not give make the case unmeasured."""
    bare = answer(logprobs().observation.text)
    assert became(decided(CLOSE, bare, logprobs())) == ("unmeasured", None)
    assert became(decided(CLOSE, logprobs(), bare)) == ("unmeasured", None)


def test_regex_that_takes_too_long():
    """A search that is given up on either side measures nothing."""
    check, right, late = Regex("12"), answer("12"), answer("slow 12")
    stage = decided(check, late, right, search=slow)
    assert became(stage) == ("unmeasured", None)
    assert stage.reason == "regex timed out"
    reference = decided(check, right, late, search=slow)
    assert became(reference) == ("unmeasured", None)
    assert reference.reason == "on the reference: regex timed out"
    down = decided(check, fault(), late, search=slow)
    assert became(down) == ("fail", "availability")


def test_what_cannot_be_measured_comes_before_loops_and_limits():
    """A search that is given up on a looping or truncated answer still measures nothing."""
    cut = answer(f"slow {LOOP}", finish_reason="length", used=10)
    assert became(decided(Regex("12"), cut, answer("12"), search=slow)) == ("unmeasured", None)


def test_repeats_that_cannot_be_measured():
    """Repeats on which the search was given up agree with any other."""
    check, right, late = Regex("12"), answer("12"), answer("slow 12")
    result = decided(check, [right, late], [right, late], search=slow)
    assert (became(result), result.warnings) == (("pass", None), ())


# ---------------------------------------------------------------- rule 5


@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        (
            answer(reasoning="so far 12", used=64, **CUT),
            "cut inside reasoning, before any answer: raise max_tokens above 64",
        ),
        (
            answer("", reasoning="so far 12", **CUT),
            "cut inside reasoning, before any answer: raise max_tokens above 64",
        ),
        (
            answer("<think>so far 12", reasoning_open=True, used=64, **CUT),
            "cut inside reasoning, before any answer: raise max_tokens above 64",
        ),
        (
            answer("so far 12 and", used=63, **CUT),
            "cut at 63 tokens, below the max_tokens sent (64): the server's cap",
        ),
        (
            answer("", reasoning="...", used=10, **CUT),
            "cut inside reasoning at 10 tokens, below the max_tokens sent (64): the server's cap",
        ),
    ],
)
def test_early_cuts(stage, reason):
    """Cut inside reasoning or below what was allowed, even a lucky match is a failure."""
    result = decided(TWELVE, stage, answer("12", used=210))
    assert became(result) == ("fail", "limit")
    assert result.reason == reason


@pytest.mark.parametrize("used", [64, 65, None])
def test_lucky_match_on_a_truncated_answer(used):
    """An answer that used all of max_tokens and still matches passes with a warning."""
    result = decided(TWELVE, answer("so far 12 and then", used=used, **CUT), answer("12"))
    assert became(result) == ("pass", None)
    assert result.warnings == ("truncated at max_tokens 64: the answer is unfinished",)
    assert result.reason == ""


LEFT = {"text_after_reasoning": "so far"}
COUNTED = {"aligned_by": "bytes", "set_aside": {"stage": 0, "reference": 0}}


@pytest.mark.parametrize(
    ("check", "stage", "outcome", "warning", "detail"),
    [
        (TWELVE, answer(LOOP, text_after_reasoning=LOOP), "fail", "reasoning left in content", {}),
        (TWELVE, answer("so far", used=9, **LEFT, **CUT), "fail", "reasoning left in content", {}),
        (TWELVE, answer("so far", used=64, **LEFT, **CUT), "fail", "reasoning left in content", {}),
        (CLOSE, logprobs(text_after_reasoning="so far"), "unmeasured",
         "stage: reasoning left in content", {}),
        (CLOSE, logprobs(count=3), "unmeasured", None, {"aligned": 3, **COUNTED}),
        (PARIS, answer(LOOP, calls=(call("Rome"),)), "fail", None, {"fault": "wrong-value"}),
        (PARIS, broken_call(used=9, **CUT), "fail", None, {"fault": "invalid-json"}),
        (PARIS, broken_call(used=64, **CUT), "fail", None, {"fault": "invalid-json"}),
        (PARIS, calling("Rome"), "fail", None, {"fault": "wrong-value"}),
    ],
)  # fmt: skip
def test_whatever_decides_keeps_what_the_check_said(check, stage, outcome, warning, detail):
    """Loops, cuts and what cannot be measured keep the check's warnings and figures."""
    right = logprobs() if check is CLOSE else calling() if check is PARIS else answer("12")
    result = decided(check, stage, right, tools=TOOLS)
    assert result.outcome.value == outcome
    assert warning is None or warning in result.warnings
    assert {name: result.detail[name] for name in detail} == detail


@pytest.mark.parametrize("used", [64, None])
def test_failure_of_a_truncated_answer(used):
    """A truncated answer that does not match fails because of the limit."""
    result = decided(TWELVE, answer("so far", used=used, **CUT), answer("12"))
    assert became(result) == ("fail", "limit")
    assert result.reason.startswith("truncated at max_tokens 64: ")


def test_both_truncated():
    """Where the reference was truncated too, a failure measures nothing."""
    reference = answer("12 and then", used=64, **CUT)
    result = decided(TWELVE, answer("so far", used=64, **CUT), reference)
    assert became(result) == ("unmeasured", None)
    assert result.reason.startswith("both sides truncated at max_tokens 64: ")
    lucky = decided(TWELVE, answer("12 or", used=64, **CUT), reference)
    assert became(lucky) == ("pass", None)


def test_both_cut_but_the_stage_earlier():
    """A cap of the stage's own stays a failure though the reference was truncated too."""
    result = decided(TWELVE, answer("so", used=32, **CUT), answer("12 and", used=64, **CUT))
    assert became(result) == ("fail", "limit")


def test_only_the_reference_is_truncated():
    """A finished stage is judged as ever, with a warning that the reference did not finish."""
    reference = answer("12 and then", used=64, **CUT)
    right = decided(TWELVE, answer("12"), reference)
    assert became(right) == ("pass", None)
    assert right.warnings == ("the reference was truncated at max_tokens 64",)
    assert became(decided(TWELVE, answer("no"), reference)) == ("fail", "unknown")


@pytest.mark.parametrize(
    ("used", "cause"),
    [(64, "limit"), (70, "limit"), (63, None), (None, None)],
)
def test_arguments_that_break_off(used, cause):
    """Arguments that do not parse are a limit's fault where all of max_tokens was used."""
    stage = broken_call(used=used, sent=64, finish_reason="tool_calls")
    result = decided(PARIS, stage, calling(), tools=TOOLS)
    assert result.outcome is Outcome.FAIL
    assert (result.cause is Cause.LIMIT) is (cause == "limit")


def test_full_answer_that_parses_is_not_truncated():
    """Using exactly max_tokens alone is no truncation."""
    result = decided(PARIS, calling(used=64, sent=64), calling(), tools=TOOLS)
    assert (became(result), result.warnings) == (("pass", None), ())
    text = decided(TWELVE, answer("12", used=64, sent=64), answer("12"))
    assert (became(text), text.warnings) == (("pass", None), ())


def test_reasoning_before_a_call():
    """Reasoning with a call after it did not end inside the reasoning."""
    stage = calling(reasoning=THOUGHT, used=64, **CUT)
    result = decided(PARIS, stage, calling(reasoning=THOUGHT), tools=TOOLS)
    assert became(result) == ("pass", None)
    assert result.warnings == ("truncated at max_tokens 64: the answer is unfinished",)


def test_truncated_tool_calls_of_both_sides():
    """Where the reference was truncated too, a tool call that fails measures nothing either."""
    cut = broken_call(used=64, **CUT)
    result = decided(PARIS, cut, cut, tools=TOOLS)
    assert became(result) == ("unmeasured", None)
    assert result.reason.startswith("both sides truncated at max_tokens 64: invalid arguments")
    assert became(decided(PARIS, cut, calling(used=9), tools=TOOLS)) == ("fail", "limit")
    assert became(decided(PARIS, cut, fault(), tools=TOOLS)) == ("fail", "limit")
    assert became(decided(PARIS, broken_call(used=10, **CUT), cut, tools=TOOLS)) == (
        "fail",
        "limit",
    )


def test_truncated_logprobs():
    """A cut explains no difference between tokens that both sides gave."""
    cut = {**CUT, "used": 64}
    assert decided(CLOSE, logprobs(0.2, **cut), logprobs(**cut)).outcome is Outcome.FAIL
    far = decided(CLOSE, logprobs(0.2, **cut), logprobs(**cut))
    assert far.cause is not Cause.LIMIT
    assert "truncated at max_tokens 64" in far.warnings
    near = decided(CLOSE, logprobs(**cut), logprobs(**cut))
    assert became(near) == ("pass", None)
    assert near.warnings == ("truncated at max_tokens 64: the answer is unfinished",)
    capped = decided(CLOSE, logprobs(used=10, **CUT), logprobs(**cut))
    assert became(capped) == ("fail", "limit")


@pytest.mark.parametrize(
    ("stage", "reference", "cause"),
    [
        (answer("one, two, thr", used=512), answer("one, two, three", used=640), "limit"),
        (answer("one, two, thr"), answer("one, two, three", used=640), "limit"),
        (answer("one, two, thr", used=512), answer("one, two, three"), "limit"),
        (answer("one, two, thr", used=640), answer("one, two, three", used=640), "unknown"),
        (answer("one, too", used=512), answer("one, two, three", used=640), "unknown"),
        (answer("", used=0), answer("one, two, three", used=640), "unknown"),
    ],
)
def test_text_that_breaks_off(stage, reference, cause):
    """A failing text that is the beginning of the reference's, in fewer tokens, was cut."""
    result = decided(Contains("three"), stage, reference)
    assert became(result) == ("fail", cause)
    words = "; the text breaks off within the reference's" if cause == "limit" else ""
    assert result.reason.startswith("not found")
    assert result.reason.endswith(words)
    assert ("breaks off" in result.reason) is bool(words)


def test_tool_calls_do_not_break_off():
    """The beginning of a text says nothing of a missing call."""
    reference = answer("Let me look", calls=(call(),))
    result = decided(PARIS, answer("Let me"), reference, tools=TOOLS)
    assert became(result)[1] != "limit"


# ---------------------------------------------------------------- rule 6: loops


@pytest.mark.parametrize(
    ("stage", "where"),
    [
        (answer("12 " + LOOP), "text"),
        (answer("12 " + LOOP, finish_reason="length", used=10), "text"),
        (answer("12", reasoning=LOOP), "reasoning"),
        (answer(reasoning=LOOP, finish_reason="length", used=4096), "reasoning"),
    ],
)
def test_degenerate_loops(stage, where):
    """A loop is the engine's failure, ahead of limits, though the check would pass."""
    result = decided(TWELVE, stage, answer("12", reasoning=THOUGHT if where[0] == "r" else None))
    assert became(result) == ("fail", "engine")
    assert result.reason == f"degenerate loop in the {where}: {SHOWN_LOOP}"


def test_loops_on_both_sides():
    """Where the reference loops as well the check decides: the loop is the model's own."""
    loop = answer("12 " + LOOP)
    result = decided(TWELVE, loop, loop)
    assert became(result) == ("pass", None)
    assert result.warnings == (
        f"degenerate loop in the text: {SHOWN_LOOP}; the reference loops too",
    )
    wrong = decided(TWELVE, answer(LOOP), loop)
    assert wrong.outcome is Outcome.FAIL
    assert wrong.cause is not Cause.ENGINE


def test_long_loops_are_named_in_short():
    """A reason shows the first 40 code points of what is repeated."""
    unit = "0123456789" * 4 + "abcdefghij"
    result = decided(TWELVE, answer("so " + unit * 20), answer("12"))
    assert result.reason == f"degenerate loop in the text: '{unit[:40]}' 20 times"


def test_loop_of_the_reference_alone():
    """A loop of the reference that passes the check is not held against the stage."""
    result = decided(TWELVE, answer("12"), answer("12 " + LOOP))
    assert (became(result), result.warnings) == (("pass", None), ())


def test_loops_beside_tool_calls():
    """The stage alone decides a tool call, so a loop fails it whatever the reference does."""
    loop = answer(LOOP, calls=(call(),))
    for reference in (calling(), loop, fault(), None):
        result = decided(PARIS, loop, reference, tools=TOOLS)
        assert became(result) == ("fail", "engine")


# ---------------------------------------------------------------- rule 6: what a pair shows


@pytest.mark.parametrize(
    ("stage", "reference", "tools", "cause"),
    [
        (25, 140, TOOLS, "template"),
        (19, 39, TOOLS, "template"),
        (19, 38, TOOLS, None),
        (20, 40, TOOLS, None),
        (30, 61, TOOLS, "template"),
        (31, 61, TOOLS, None),
        (18, 37, TOOLS, None),
        (25, 140, None, None),
        (25, 140, [], None),
        (None, 140, TOOLS, None),
        (25, None, TOOLS, None),
        (140, 25, TOOLS, None),
    ],
)
def test_tools_that_were_not_rendered(stage, reference, tools, cause):
    """A failing case whose prompt is under half as long, by 20 tokens or more, lacks its tools."""
    result = decided(
        PARIS,
        answer("no idea", prompt=stage, used=4),
        calling(prompt=reference, used=4),
        tools=tools,
    )
    assert result.outcome is Outcome.FAIL
    assert (result.cause is Cause.TEMPLATE) is (cause == "template")
    words = f"; tools not rendered: prompt of {stage} tokens, reference {reference}"
    assert result.reason == "no call: text instead" + (words if cause == "template" else "")
    assert result.detail["fault"] == "no-call"


def test_short_prompt_of_a_passing_case():
    """A shorter prompt alone fails nothing."""
    result = decided(PARIS, calling(prompt=25), calling(prompt=140), tools=TOOLS)
    assert became(result) == ("pass", None)
    assert result.warnings == ("prompt tokens differ: stage 25, reference 140",)


@pytest.mark.parametrize(
    ("stage", "reference", "warned"),
    [(31, 30, True), (30, 31, True), (30, 30, False), (None, 30, False), (30, None, False)],
)
def test_prompt_tokens_that_differ(stage, reference, warned):
    """Differing prompt lengths are told where both are known."""
    result = decided(
        TWELVE, answer("12", prompt=stage, used=2), answer("12", prompt=reference, used=2)
    )
    expected = (f"prompt tokens differ: stage {stage}, reference {reference}",) * warned
    assert result.warnings == expected


@pytest.mark.parametrize(
    "thinking", [{"reasoning": THOUGHT}, {"reasoning_open": True}, {"text_after_reasoning": "12"}]
)
def test_thinking_on_one_side(thinking):
    """Reasoning on one side only is told, and which side it is."""
    there, bare = answer("12", **thinking), answer("12")
    stage = decided(TWELVE, there, bare).warnings
    assert "thinking mode differs: only the stage reasons" in stage
    reference = decided(TWELVE, bare, there).warnings
    assert "thinking mode differs: only the reference reasons" in reference
    assert not any("thinking mode" in w for w in decided(TWELVE, there, there).warnings)


def test_finish_reasons_that_differ():
    """Differing finish reasons fail nothing and are kept."""
    stage = calling(finish_reason="stop")
    result = decided(PARIS, stage, calling(), tools=TOOLS)
    assert became(result) == ("pass", None)
    assert result.detail["finish_reasons"] == {"stage": "stop", "reference": "tool_calls"}
    assert "finish_reasons" not in decided(PARIS, calling(), calling(), tools=TOOLS).detail
