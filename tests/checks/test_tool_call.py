"""Tool calls with a name and arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.checks import score
from denv.checks.tool_call import MAX_DIFFERENCES
from denv.records import Call, Observation, Score, ToolCall
from denv.strictjson import loads
from tests.checks.answers import call, called, said, says, search

TOOLS = [{"type": "function", "function": {"name": name}} for name in ("get_weather", "get_time")]
LVIV = call("get_weather", '{"town": "Lviv"}')


def judge(
    name: str, arguments: str, answer: Observation, tools: list[dict[str, Any]] | None = None
) -> Score:
    check = ToolCall(name, loads(arguments, exact=True))
    return score(check, answer, tools=TOOLS if tools is None else tools, search=search)


def weather(raw: str, expected: str = '{"town": "Lviv"}') -> Score:
    return judge("get_weather", expected, called(call("get_weather", raw)))


def test_a_call_as_expected_passes() -> None:
    """The name and each expected argument decide; extra arguments are allowed."""
    assert weather('{"town": "Lviv", "unit": "C"}') == Score(True, detail={"call": 0})


@pytest.mark.parametrize("raw", ["", "{}"])
def test_a_call_without_parameters_needs_no_arguments(raw: str) -> None:
    """Blank arguments mean none: a call that needs none passes, another lacks them."""
    answer = called(call("get_time", raw))
    assert judge("get_time", "{}", answer).passed is True
    failed = judge("get_time", '{"x": 1}', answer)
    assert says(failed) == (False, "unknown")
    assert failed.reason == "$.x is missing"
    assert failed.detail == {"call": 0, "fault": "missing-argument", "path": "$.x"}


@pytest.mark.parametrize(
    ("expected", "got", "passes"),
    [
        ('{"n": [3, 8]}', '{"n": [3.0, 8.0]}', True),
        ('{"b": true}', '{"b": 1}', False),
        ('{"n": 0}', '{"n": false}', False),
        ('{"id": 9007199254740993}', '{"id": 9007199254740992}', False),
        ('{"x": 0.1}', '{"x": 0.10}', True),
        ('{"s": "5"}', '{"s": 5}', False),
        ('{"a": {"k": 1}}', '{"a": {"k": 1, "extra": 2}, "z": 0}', False),
        ('{"a": {"k": 1}}', '{"a": {"k": 1}, "z": 0}', True),
    ],
)
def test_arguments_compare_exactly(expected: str, got: str, passes: bool) -> None:
    """Integer and decimal spelling are one number; nothing else is taken for another."""
    assert weather(got, expected).passed is passes


@given(
    st.dictionaries(st.text(max_size=3), st.integers() | st.text() | st.booleans(), max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers() | st.text() | st.none(), max_size=4),
)
def test_extra_arguments_never_change_a_pass(wanted: Any, extra: Any) -> None:
    """Whatever else is given at the top level, the expected arguments decide."""
    given_arguments = Call("f", {**extra, **wanted}, "")
    assert score(ToolCall("f", wanted), called(given_arguments), search=search).passed is True


@pytest.mark.parametrize(
    ("raw", "expected", "cause", "fault", "reason"),
    [
        ('{"v": "Paris"}', '{"v": "Lviv"}', "unknown", "wrong-value",
         '$.v is "Paris" instead of "Lviv"'),
        ('{"v": 7}', '{"v": "Lviv"}', "unknown", "wrong-type",
         '$.v is the number 7 instead of the string "Lviv"'),
        ('{"v": "5"}', '{"v": 5}', "parser", "encoded-value",
         '$.v is the string "5" instead of the number 5'),
        ('{"v": "5.0"}', '{"v": 5}', "parser", "encoded-value",
         '$.v is the string "5.0" instead of the number 5'),
        ('{"v": "0.1"}', '{"v": 0.10}', "parser", "encoded-value",
         '$.v is the string "0.1" instead of the number 0.10'),
        ('{"v": "6"}', '{"v": 5}', "unknown", "wrong-type",
         '$.v is the string "6" instead of the number 5'),
        ('{"v": 5}', '{"v": "5"}', "parser", "encoded-value",
         '$.v is the number 5 instead of the string "5"'),
        ('{"v": "true"}', '{"v": true}', "parser", "encoded-value",
         '$.v is the string "true" instead of the boolean true'),
        ('{"v": "True"}', '{"v": true}', "parser", "encoded-value",
         '$.v is the string "True" instead of the boolean true'),
        ('{"v": "False"}', '{"v": false}', "parser", "encoded-value",
         '$.v is the string "False" instead of the boolean false'),
        ('{"v": "None"}', '{"v": null}', "parser", "encoded-value",
         '$.v is the string "None" instead of the null null'),
        ('{"v": "False"}', '{"v": true}', "unknown", "wrong-type",
         '$.v is the string "False" instead of the boolean true'),
        ('{"v": 1}', '{"v": true}', "unknown", "wrong-type",
         "$.v is the number 1 instead of the boolean true"),
        ('{"v": "{\\"a\\": [1]}"}', '{"v": {"a": [1]}}', "parser", "encoded-value",
         '$.v is the string "{\\"a\\": [1]}" instead of the object {"a": [1]}'),
        ('{"v": {"a": 1}}', '{"v": "{\\"a\\":1}"}', "parser", "encoded-value",
         '$.v is the object {"a": 1} instead of the string "{\\"a\\":1}"'),
        ('{"v": "\\"Lviv\\""}', '{"v": "Lviv"}', "parser", "encoded-value",
         '$.v is "\\"Lviv\\"" instead of "Lviv"'),
        ('{"v": "Z\\\\u00fcrich"}', '{"v": "Zürich"}', "parser", "encoded-value",
         '$.v is "Z\\\\u00fcrich" instead of "Z\\u00fcrich"'),
        ('{"v": "5"}', '{"v": "\\"5\\""}', "unknown", "wrong-value",
         '$.v is "5" instead of "\\"5\\""'),
        ('{"v": {"a": 1, "b": 2}}', '{"v": {"a": 1}}', "unknown", "wrong-value",
         "$.v.b is not expected"),
        ('{"v": [1]}', '{"v": [1, 2]}', "unknown", "wrong-value",
         "$.v has 1 items instead of 2"),
        ('{"v": {"w": {}}}', '{"v": {"w": {"x": 1}}}', "unknown", "missing-argument",
         "$.v.w.x is missing"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_apart(
    raw: str, expected: str, cause: str, fault: str, reason: str
) -> None:
    """A value that an encoding explains is the parser's; another value, type or key is not."""
    failed = weather(raw, expected)
    assert says(failed) == (False, cause)
    assert failed.detail["fault"] == fault
    assert failed.detail["path"].startswith("$.v")
    encoded = ", as if encoded once too often or too seldom" if cause == "parser" else ""
    assert failed.reason == reason + encoded


def test_a_plain_difference_outweighs_an_encoded_one() -> None:
    """What would still be wrong with the encoding mended gives reason and cause."""
    failed = weather('{"n": "5", "town": "Kyiv"}', '{"n": 5, "town": "Lviv"}')
    assert says(failed) == (False, "unknown")
    assert failed.detail == {"call": 0, "fault": "wrong-value", "path": "$.town"}


@pytest.mark.parametrize(
    "raw",
    [
        '{"y": NaN}', '{"y": 1,}', "{'y': 1}", '{"y": 1, "y": 2}', '{"y": 1} trailing',
        '[{"y": 1}]', '{"t": hello"}', '{"t": "hel',
    ],
)  # fmt: skip
def test_arguments_that_are_no_json_object_are_the_parsers(raw: str) -> None:
    """Nothing is repaired; the reason why they do not parse is kept."""
    failed = weather(raw, '{"y": 1}')
    assert says(failed) == (False, "parser")
    error = failed.detail["parse_error"]
    assert failed.reason == f"invalid arguments: {error}"
    assert failed.detail == {"call": 0, "fault": "invalid-json", "parse_error": error}


def test_arguments_that_are_not_there_are_invalid() -> None:
    """A call may hold neither arguments nor a reason."""
    failed = judge("get_time", "{}", called(Call("get_time", None, "")))
    assert failed.reason == "invalid arguments: no arguments"


def test_double_encoded_arguments_never_pass() -> None:
    """That they match after one unwrap is said, and the fault is the parser's."""
    wrapped = Call(
        "get_weather", None, "", error="double-encoded", unwrapped={"town": "Lviv", "x": 1}
    )
    failed = judge("get_weather", '{"town": "Lviv"}', called(wrapped))
    assert says(failed) == (False, "parser")
    assert failed.reason == "double-encoded arguments: the arguments match after one unwrap"
    assert failed.detail == {"call": 0, "fault": "double-encoded"}
    other = judge("get_weather", '{"town": "Kyiv"}', called(wrapped))
    assert says(other) == (False, "parser")
    assert other.reason == (
        'double-encoded arguments: and after one unwrap $.town is "Lviv" instead of "Kyiv"'
    )


@pytest.mark.parametrize(
    "name",
    [
        "functions.get_weather", "Get_Weather", "get_weather:0", "functions.get_weather:12",
        " get_weather\n", "tools/get_weather", "default_api:get_weather", '"get_weather"',
        "get_weather<|channel|>commentary", "`get_weather`", "'get_weather'",
    ],
)  # fmt: skip
def test_a_name_that_is_written_otherwise_is_the_parsers(name: str) -> None:
    """Case, a namespace, a counter or markers around the right name are said, and fail."""
    failed = judge("get_weather", '{"town": "Lviv"}', called(replace(LVIV, name=name)))
    assert says(failed) == (False, "parser")
    assert failed.detail == {"call": 0, "fault": "misspelt-name"}
    assert failed.reason.startswith("the name is written ")
    assert failed.reason.endswith(' instead of "get_weather"')


@pytest.mark.parametrize(
    ("name", "fault", "cause", "reason"),
    [
        ("get_time", "other-tool", "unknown", 'called "get_time" instead of "get_weather"'),
        ("weather", "unknown-name", "unknown", 'unknown tool name "weather"'),
        ("forget_weather", "unknown-name", "unknown", 'unknown tool name "forget_weather"'),
        ("get_weather2", "unknown-name", "unknown", 'unknown tool name "get_weather2"'),
        ("get_weather:x", "unknown-name", "unknown", 'unknown tool name "get_weather:x"'),
        ("", "no-name", "parser", "a call without a name"),
        (None, "no-name", "parser", "a call without a name"),
    ],
)
def test_another_name_is_told_apart(name: str | None, fault: str, cause: str, reason: str) -> None:
    """Another tool of the request, a name that is none of them, and no name."""
    failed = judge("get_weather", '{"town": "Lviv"}', called(replace(LVIV, name=name)))
    assert says(failed) == (False, cause)
    assert failed.reason == reason
    assert failed.detail == {"call": 0, "fault": fault}


def test_names_are_unknown_only_where_tools_are_known() -> None:
    """Without the request's tools, another name is another tool."""
    answer = called(replace(LVIV, name="weather"))
    assert judge("get_weather", "{}", answer, tools=[]).detail["fault"] == "other-tool"


def test_a_prefixed_name_that_is_a_tool_itself_is_another_tool() -> None:
    """A request may have two tools whose names differ by a prefix."""
    tools = [{"type": "function", "function": {"name": n}} for n in ("get", "x.get")]
    failed = judge("get", "{}", called(call("x.get", "{}")), tools)
    assert failed.detail["fault"] == "other-tool"


def test_ids_are_never_compared() -> None:
    """Whatever a call's id looks like, the name and the arguments decide."""
    for call_id in (None, "", "functions.get_time:0", "call_1"):
        answer = called(replace(LVIV, id=call_id))
        assert judge("get_weather", '{"town": "Lviv"}', answer).passed is True


@pytest.mark.parametrize("finish", ["stop", "length", "tool_calls", None])
def test_the_finish_reason_decides_nothing(finish: str | None) -> None:
    """Calls are what is in the answer, whatever it says it ended with."""
    assert judge("get_weather", "{}", called(LVIV, finish_reason=finish)).passed is True


def test_any_call_may_match() -> None:
    """A parallel call as expected passes wherever it stands."""
    answer = called(call("get_time", "{"), call("get_weather", '{"town": "Kyiv"}'), LVIV)
    assert judge("get_weather", '{"town": "Lviv"}', answer) == Score(True, detail={"call": 2})


WRAPPED = Call("get_weather", None, "", error="double-encoded", unwrapped={"a": 1, "b": 2})
OTHERWISE = replace(WRAPPED, unwrapped={"a": 1, "b": 3})


@pytest.mark.parametrize(
    ("closer", "farther"),
    [
        (call("get_weather", '{"a": 1, "b": "2"}'), call("get_weather", '{"a": 1, "b": 3}')),
        (WRAPPED, call("get_weather", '{"a": 1, "b": 3}')),
        (call("functions.get_weather", '{"a": 1, "b": 2}'), call("get_weather", '{"a": 1}')),
        (call("get_weather", '{"a": 1, "b": 3}'), call("get_weather", '{"a": 0, "b": 3}')),
        (call("get_weather", '{"a": 0, "b": 3}'), call("get_weather", '{"a": 1')),
        (call("get_weather", '{"a": 0, "b": 3}'), OTHERWISE),
        (call("get_weather", '{"a": 1'), call("functions.get_weather", '{"a": 1}')),
        (OTHERWISE, call("functions.get_weather", "{}")),
        (call("functions.get_weather", "{}"), call("get_time", '{"a": 1, "b": 2}')),
        (call("get_time", "{}"), call("weather", '{"a": 1, "b": 2}')),
        (call("get_time", "{}"), call("", '{"a": 1, "b": 2}')),
        (WRAPPED, call("get_weather", '{"a": "1", "b": "2"}')),
        (WRAPPED, call("get_weather", '{"a": 1, "b": "2"}')),
        (
            call("functions.get_weather", '{"a": 1, "b": 2}'),
            call("get_weather", '{"a": 1, "b": "2"}'),
        ),
    ],
)
def test_the_closest_call_gives_the_reason(closer: Call, farther: Call) -> None:
    """What would pass but for its writing is closest, then the right name, then any."""
    for calls, index in (((closer, farther), 0), ((farther, closer), 1)):
        failed = judge("get_weather", '{"a": 1, "b": 2}', called(*calls))
        alone = judge("get_weather", '{"a": 1, "b": 2}', called(closer))
        assert failed == replace(alone, detail={**alone.detail, "call": index})


def test_of_calls_as_close_the_first_gives_the_reason() -> None:
    """Between equals, order decides."""
    for one, other in (
        (call("get_weather", '{"a": 1}'), call("get_weather", '{"a": 2}')),
        (call("get_weather", '{"a"'), OTHERWISE),
        (call("", "{}"), call("weather", "{}")),
    ):
        for calls in ((one, other), (other, one)):
            assert judge("get_weather", '{"a": 3}', called(*calls)).detail["call"] == 0


def test_differences_beyond_a_bound_are_not_counted() -> None:
    """Thousands of wrong arguments cost no more than some dozens."""
    wanted = {f"k{i}": i for i in range(5_000)}
    check = ToolCall("f", wanted)
    calls = [Call("f", dict.fromkeys(wanted, -1), ""), Call("f", {**wanted, "k4999": 0}, "")]
    assert score(check, called(*calls), search=search).detail["call"] == 1
    assert MAX_DIFFERENCES < 1_000
    half = {**dict.fromkeys(wanted, -1), **{f"k{i}": i for i in range(2_500)}}
    calls[1] = Call("f", half, "")
    assert score(check, called(*calls), search=search).detail["call"] == 0


@pytest.mark.parametrize(
    ("answer", "cause", "fault", "reason"),
    [
        (said("Sunny."), "unknown", "no-call", "no call: text instead"),
        (said(None), "unknown", "no-call", "no call: no text either"),
        (said(""), "unknown", "no-call", "no call: no text either"),
        (said(None, reasoning="hm"), "unknown", "no-call", "no call: reasoning only"),
        (said(None, refusal="No.", reasoning="hm"), "unknown", "no-call",
         "no call: a refusal instead"),
        (said('{"name": "get_weather"}', calls_in_text="json"), "parser", "leaked-call",
         "call found as text in content (json)"),
        (said(None, reasoning="<tool_call>", calls_in_reasoning="<tool_call>"), "parser",
         "leaked-call", "call found only in reasoning (<tool_call>)"),
        (said("[TOOL_CALLS]", calls_in_text="[TOOL_CALLS]", calls_in_reasoning="json"), "parser",
         "leaked-call", "call found as text in content ([TOOL_CALLS])"),
    ],
)  # fmt: skip
def test_no_call_fails_and_says_where_it_went(
    answer: Observation, cause: str, fault: str, reason: str
) -> None:
    """A call that stands as text names the parser, and never passes."""
    failed = judge("get_weather", "{}", answer)
    assert says(failed) == (False, cause)
    assert failed.reason == reason
    assert failed.detail == {"fault": fault}


def test_a_leaked_call_beside_a_wrong_one_is_warned_of() -> None:
    """Parallel calls may be parsed in part."""
    answer = called(call("get_time", "{}"), text="<tool_call>", calls_in_text="<tool_call>")
    failed = judge("get_weather", "{}", answer)
    assert failed.warnings == ("another call stands as text in content (<tool_call>)",)
    assert judge("get_weather", "{}", called(call("get_time", "{}"))).warnings == ()


DRAFT = 'maybe <tool_call>{"name":"get_weather","arguments":{"town": "draft"}}</tool_call>'
PHANTOM = call("get_weather", '{"town":"draft"}')


@pytest.mark.parametrize(
    ("calls", "fields", "warned"),
    [
        ((PHANTOM, LVIV), {"reasoning": DRAFT, "calls_in_reasoning": "<tool_call>"}, True),
        ((PHANTOM, LVIV), {"reasoning": DRAFT}, False),
        ((PHANTOM, LVIV), {"calls_in_reasoning": "<tool_call>"}, False),
        ((LVIV, PHANTOM), {"reasoning": DRAFT, "calls_in_reasoning": "<tool_call>"}, False),
        ((call("get_weather", '{"town":"x"}'), LVIV),
         {"reasoning": DRAFT, "calls_in_reasoning": "<tool_call>"}, False),
        ((replace(PHANTOM, name="get_time"), LVIV),
         {"reasoning": DRAFT, "calls_in_reasoning": "<tool_call>"}, False),
        ((replace(PHANTOM, name=None), LVIV),
         {"reasoning": DRAFT, "calls_in_reasoning": "<tool_call>"}, True),
    ],
)  # fmt: skip
def test_a_draft_turned_into_a_call_is_warned_of(
    calls: tuple[Call, ...], fields: dict[str, Any], warned: bool
) -> None:
    """The real call passes; one ahead of it that repeats the reasoning's draft is a warning."""
    passed = judge("get_weather", '{"town": "Lviv"}', called(*calls, **fields))
    assert passed.passed is True
    expected = ("first call repeats a draft from the reasoning",) if warned else ()
    assert passed.warnings == expected
