"""What became of a case: one table for each rule, with the cases on both sides of its boundary."""

import json
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.outcome import Answer, decide, side_view
from denv.records import (
    Attempt,
    Call,
    Case,
    Cause,
    Contains,
    Equals,
    Kind,
    LogprobsClose,
    Observation,
    Oddity,
    Outcome,
    Problem,
    ProblemKind,
    Regex,
    Side,
    TokenLogprob,
    ToolCall,
    Usage,
)

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]
PARIS = ToolCall("get_weather", {"city": "Paris"})
TWELVE = Contains("12")
CLOSE = LogprobsClose(0.05)
LOOP = "and so it goes on. " * 200
SHOWN_LOOP = "'and so it goes on.' 200 times"
THOUGHT = "First, the sum of both numbers."


def search(pattern, text):
    return re.search(pattern, text) is not None


def case(check, *, tools=None, tags=()):
    fields = {"messages": [{"role": "user", "content": "?"}]}
    if tools is not None:
        fields["tools"] = tools
    return Case(id="c-1", index=7, line=9, fields=fields, check=check, tags=tags)


def answer(text=None, *, sent=4096, used=None, prompt=None, cached=False, **seen):
    if used is not None or prompt is not None:
        seen["usage"] = Usage(prompt, used)
    seen.setdefault("finish_reason", "stop")
    return Answer(Observation(text=text, **seen), sent, cached)


def call(city="Paris", name="get_weather"):
    return Call(name, {"city": city}, json.dumps({"city": city}), id="k1")


def calling(city="Paris", **seen):
    seen.setdefault("finish_reason", "tool_calls")
    return answer(calls=(call(city),), **seen)


def broken_call(**seen):
    cut = Call("get_weather", None, '{"city": "Par', error="unterminated string")
    return answer(calls=(cut,), **seen)


def fault(kind=ProblemKind.TRANSPORT, cause=Cause.AVAILABILITY, *, tried=(), message="gone"):
    attempts = tuple(Attempt(status, "earlier", 0.1) for status in tried)
    problem = Problem(kind, cause, message)
    return Answer(Observation(problem=problem, attempts=attempts), 4096)


def logprobs(shift=0.0, *, count=10, **seen):
    tokens = [f" w{n}" for n in range(count)]
    entries = tuple(TokenLogprob(t, -0.5 - shift, t.encode()) for t in tokens)
    return answer("".join(tokens), logprobs=entries, **seen)


def decided(check, stage, reference=None, *, tools=None, **more):
    stage = stage if isinstance(stage, list) else [stage]
    reference = reference if isinstance(reference, list) else [reference]
    return decide(
        case(check, tools=tools),
        stage=[a for a in stage if a is not None],
        reference=[a for a in reference if a is not None],
        **{"search": search, **more},
    )


def became(result):
    return (result.outcome.value, result.cause and result.cause.value)


PAIRED = [
    (Equals("12"), answer("12")),
    (TWELVE, answer("it is 12")),
    (Regex("1."), answer("12")),
    (CLOSE, logprobs()),
]
TEXTS = PAIRED[:3]


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


def slow(pattern, text):
    if "slow" in text:
        raise TimeoutError
    return search(pattern, text)


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


CUT = {"finish_reason": "length", "sent": 64}


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


# ---------------------------------------------------------------- figures for the tally


def test_tool_figures():
    """Who called, and how the calls fit the tools, is kept for every case with tools."""
    ghost = answer(calls=(call(), call(name="ghost"), broken_call().observation.calls[0]))
    result = decided(TWELVE, answer("12"), answer("12"), tools=TOOLS)
    none = {"valid": 0, "invalid-json": 0, "unknown-name": 0, "schema-mismatch": 0}
    assert result.detail["tools"] == {
        "stage_called": False,
        "reference_called": False,
        "stage_calls": none,
        "reference_calls": none,
    }
    mixed = decided(PARIS, ghost, calling(), tools=TOOLS).detail["tools"]
    assert (mixed["stage_called"], mixed["reference_called"]) == (True, True)
    assert mixed["stage_calls"] == {**none, "valid": 1, "unknown-name": 1, "invalid-json": 1}
    assert mixed["reference_calls"] == {**none, "valid": 1}
    twice = decided(PARIS, answer(calls=(call(), call())), calling(), tools=TOOLS).detail["tools"]
    assert twice["stage_calls"] == {**none, "valid": 2}


def test_an_error_is_no_decision_against_a_call():
    """A side without a usable answer neither called nor refrained from calling."""
    down = decided(PARIS, fault(), calling(), tools=TOOLS).detail["tools"]
    assert (down["stage_called"], down["stage_calls"]) == (None, None)
    assert down["reference_called"] is True
    other = decided(PARIS, calling(), fault(), tools=TOOLS).detail["tools"]
    assert (other["stage_called"], other["reference_called"]) == (True, None)
    assert other["reference_calls"] is None
    assert "tools" not in decided(PARIS, fault(), fault(), tools=TOOLS).detail
    assert "tools" not in decided(PARIS, calling(), calling()).detail


def test_exchanges():
    """All requests of a side are summed, its repeats and streamed twin among them."""
    retried = (Attempt(503, "x", 0.1), Attempt(429, "x", 0.1), Attempt(None, "x", 0.1))
    stage = [
        answer("12", prompt=10, used=5, elapsed_s=0.5, attempts=retried),
        answer("12", prompt=10, used=7, elapsed_s=0.25, cached=True),
        fault(ProblemKind.RATE_LIMITED),
    ]
    twin = answer("12", prompt=11, used=None, elapsed_s=0.75)
    result = decided(TWELVE, stage, answer("12"), streamed={Side.STAGE: twin})
    assert result.detail["exchanges"] == {
        "stage": {
            "requests": 4,
            "retried": 1,
            "rate_limited": 2,
            "cached": 1,
            "prompt_tokens": 21,
            "completion_tokens": 5,
            "elapsed_s": [0.5, 0.75],
            "later_oddities": [],
        },
        "reference": {
            "requests": 1,
            "retried": 0,
            "rate_limited": 0,
            "cached": 0,
            "prompt_tokens": None,
            "completion_tokens": None,
            "elapsed_s": [],
            "later_oddities": [],
        },
    }


@pytest.mark.parametrize(
    ("tried", "retried", "limited"),
    [
        ((), 0, 0),
        ((429, 429), 0, 1),
        ((400,), 0, 0),
        ((422,), 0, 0),
        ((500, 502), 1, 0),
        ((None,), 1, 0),
        ((200,), 1, 0),
        ((408,), 1, 0),
    ],
)
def test_what_counts_as_a_retry(tried, retried, limited):
    """Asking again without a refused field, or after a rate limit, is no retry."""
    attempts = tuple(Attempt(status, "x", 0.0) for status in tried)
    result = decided(TWELVE, answer("12", attempts=attempts), answer("12"))
    took = result.detail["exchanges"]["stage"]
    assert (took["retried"], took["rate_limited"]) == (retried, limited)


def test_oddities_of_later_answers():
    """Oddities of repeats and streamed twins are kept apart from those of the first answer."""
    first, later = (Oddity(code, f"{code} is odd") for code in ("first", "later"))
    stage = [answer("12", oddities=(first,)), answer("12", oddities=(later,))]
    twin = answer("12", oddities=(later,))
    result = decided(TWELVE, stage, answer("12"), streamed={Side.STAGE: twin})
    shown = {"code": "later", "detail": "later is odd"}
    assert result.stage["oddities"] == [{"code": "first", "detail": "first is odd"}]
    assert result.detail["exchanges"]["stage"]["later_oddities"] == [shown, shown]


# ---------------------------------------------------------------- views


def test_view_of_an_answer():
    """An answer is shown field by field, in strict JSON values."""
    seen = answer(
        "hi",
        reasoning="hm",
        calls=(call(), broken_call().observation.calls[0]),
        finish_reason="tool_calls",
        native_finish_reason="tool_use",
        prompt=3,
        used=4,
        system_fingerprint="f1",
        provider="p",
        replica="r",
        model="m",
        elapsed_s=0.25,
        oddities=(Oddity("no-id", "a call has no id"),),
        attempts=(Attempt(429, "x", 1.0), Attempt(503, "x", 1.0), Attempt(None, "x", 1.0)),
        cached=True,
    )
    assert side_view(seen) == {
        "text": "hi",
        "reasoning": "hm",
        "tool_calls": [
            {"name": "get_weather", "arguments": {"city": "Paris"}, "error": None},
            {
                "name": "get_weather",
                "arguments": '{"city": "Par',
                "error": "unterminated string",
            },
        ],
        "finish_reason": "tool_calls",
        "native_finish_reason": "tool_use",
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
        "problem": None,
        "status": None,
        "system_fingerprint": "f1",
        "provider": "p",
        "replica": "r",
        "model": "m",
        "retried": 2,
        "rate_limited": 1,
        "elapsed_s": 0.25,
        "cached": True,
        "oddities": [{"code": "no-id", "detail": "a call has no id"}],
    }


def test_view_of_a_fault():
    """A side without an answer shows its problem and nothing made up."""
    view = side_view(fault(ProblemKind.RATE_LIMITED, tried=(429,), message="slow down"))
    assert view["problem"] == "slow down"
    assert (view["text"], view["usage"], view["tool_calls"]) == (None, None, [])
    assert (view["retried"], view["rate_limited"], view["cached"]) == (0, 2, False)


def test_tokens_are_shown_for_logprobs_alone():
    """The tokens of an answer are part of the view of a logprobs-close case, 2,000 at the most."""
    result = decided(CLOSE, logprobs(), logprobs())
    assert result.stage["tokens"][1] == {"token": " w1", "logprob": -0.5}
    assert len(result.reference["tokens"]) == 10
    assert "tokens" not in decided(TWELVE, answer("12"), answer("12")).stage
    assert len(side_view(logprobs(count=2_001), tokens=True)["tokens"]) == 2_000
    assert side_view(answer("x"), tokens=True)["tokens"] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" * 65_536, "a" * 65_536),
        ("a" * 65_537, "a" * 65_536 + "… [cut here, 65537 bytes in all]"),
        # Two bytes a character: the 32,769th no longer fits.
        ("é" * 32_769, "é" * 32_768 + "… [cut here, 65538 bytes in all]"),
        ("a" + "é" * 32_768, "a" + "é" * 32_767 + "… [cut here, 65537 bytes in all]"),
        ("\ud83d", "\ud83d"),
    ],
)
def test_long_texts(text, shown):
    """Texts over 64 KiB are cut between characters, with a mark that says so."""
    view = side_view(answer(text, reasoning=text))
    assert (view["text"], view["reasoning"]) == (shown, shown)


def arguments_shown(arguments):
    raw = Call("f", arguments, "{}")
    view = side_view(answer(calls=(raw,)))
    json.dumps(view, allow_nan=False)
    return view["tool_calls"][0]["arguments"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Decimal("0.1"), 0.1),
        (Decimal("12.0"), 12.0),
        (Decimal("-2.5e3"), -2500.0),
        (Decimal("1e400"), "1E+400"),
        (Decimal("1e-400"), "1E-400"),
        (Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (Decimal("Infinity"), "Infinity"),
        (Decimal("NaN"), "NaN"),
        (2**70, 2**70),
        (True, True),
        (None, None),
        ("x", "x"),
        ([Decimal("0.5"), {"b": Decimal("1e999")}], [0.5, {"b": "1E+999"}]),
    ],
)
def test_numbers_in_arguments(value, shown):
    """A decimal is a JSON number where that shows the same value, else its digits as a string."""
    seen = arguments_shown({"a": value})["a"]
    assert seen == shown
    assert type(seen) is type(shown)


def nested(depth):
    value: object = 1
    for _ in range(depth):
        value = [value]
    return {"a": value}


def test_deep_arguments():
    """Arguments nested beyond what readers follow are shown as the text they came as."""
    assert arguments_shown(nested(99)) == nested(99)
    assert arguments_shown(nested(100)) == "{}"


def test_long_arguments():
    """Arguments over 64 KiB are shown as the beginning of the text they came as."""
    raw = json.dumps({"a": "x" * 70_000})
    view = side_view(answer(calls=(Call("f", json.loads(raw), raw),)))
    shown = view["tool_calls"][0]["arguments"]
    assert shown.startswith('{"a": "xxx')
    assert shown.endswith(f"[cut here, {len(raw)} bytes in all]")


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
