"""Vendor verifier samples become tool-call cases where they say which tool is expected."""

import json

from denv.records import ToolCall
from denv.suite.imports import read_kvv


def tool(name):
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


ASKED = {"messages": [{"role": "user", "content": "Weather in Oslo?"}], "tools": [tool("weather")]}


def result(**changes):
    """Give a line of a results file, as the verifier writes it."""
    call = {
        "id": "functions.weather:0",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
    }
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    return {
        "data_index": 1,
        "request": {"model": "k2", **ASKED},
        "response": {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]},
        "status": "success",
        "finish_reason": "tool_calls",
        "tool_calls_valid": True,
        "last_run_at": "2025-11-15T10:00:00",
        "duration_ms": 900,
        "hash": "0f",
        **changes,
    }


def read(*samples):
    return read_kvv("".join(json.dumps(each) + "\n" for each in samples), source="s.jsonl")


def whys(imported):
    return [(each.where, each.why) for each in imported.leftovers if each.case]


def test_a_recorded_call_is_expected_again():
    """The tool that the official API called must be called; its arguments were its own choice."""
    found = read(result())
    assert [case.check for case in found.cases] == [ToolCall("weather", {})]
    assert found.cases[0].tags == ("tools",)
    assert whys(found) == []


def test_a_bare_request_expects_nothing():
    """A sample without an expectation is listed with its line, and nothing is made up."""
    found = read(ASKED, result())
    assert whys(found) == [("s.jsonl:1", "says nothing of what is expected")]
    assert len(found.cases) == 1


def test_a_labelled_sample_names_its_only_tool():
    """A label that a tool is to be called means the one tool that there is."""
    labelled = {**ASKED, "should_call_tool": True}
    assert read(labelled).cases[0].check == ToolCall("weather", {})
    several = {**labelled, "tools": [tool("weather"), tool("add")]}
    assert whys(read(several)) == [("s.jsonl:1", "expects a call, but not of which of its 2 tools")]


def test_what_no_check_says_is_listed():
    """No call expected, a failed request, a broken call: each is left behind with its reason."""
    found = read(
        {**ASKED, "should_call_tool": False},
        result(finish_reason="stop"),
        result(status="failed"),
        result(tool_calls_valid=False),
        result(response={"choices": []}),
        [1],
    )
    assert found.cases == ()
    assert [where for where, _ in whys(found)] == [f"s.jsonl:{n}" for n in range(1, 7)]
    assert "no tool is called" in whys(found)[0][1]
    assert "not a JSON object" in whys(found)[5][1]


def test_fields_of_the_run_are_counted_once():
    """What every sample carries and no case may is told in one line with its count."""
    found = read(
        {**ASKED, "temperature": 0.6, "should_call_tool": True},
        {**ASKED, "temperature": 0.6, "max_tokens": 64, "should_call_tool": True},
    )
    assert [case.fields.get("max_tokens") for case in found.cases] == [None, 64]
    (told,) = found.leftovers
    assert (told.where, told.why) == ("s.jsonl: field temperature, in 2", "set by the run (0)")
    assert not told.case


def test_the_sets_own_role_is_a_system_message():
    """The role ``_input`` is asked as ``system``, as the verifier itself asks it."""
    sample = {**ASKED, "should_call_tool": True}
    sample["messages"] = [{"role": "_input", "content": "Be brief."}, *ASKED["messages"]]
    assert read(sample).cases[0].fields["messages"][0]["role"] == "system"


def test_ids_stay_the_same_when_others_come_and_go():
    """An id depends on the case alone, and the same case twice is one case."""
    other = {**ASKED, "messages": [{"role": "user", "content": "Rain?"}], "should_call_tool": True}
    alone, both = read(result()), read(other, result(), result())
    assert both.cases[1].id == alone.cases[0].id
    assert whys(both) == [("s.jsonl:3", "the same case stands at s.jsonl:2")]


def test_an_invalid_request_says_what_is_wrong():
    """A sample that no suite could hold is left behind with the field that is wrong."""
    bad = {**ASKED, "messages": [{"role": "critic", "content": "x"}], "should_call_tool": True}
    ((where, why),) = whys(read(bad))
    assert where == "s.jsonl:1"
    assert "messages[0].role" in why
