"""What each part of a stream's chunks becomes, one rule a test."""

from __future__ import annotations

import json
from typing import Any

import pytest

from denv.observe import observe
from denv.records import Exchange, Observation, TopLogprob, Usage

STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def seen(*chunks: Any, end: Any = STOP) -> Observation:
    """Observe a stream of these chunks, and of one that ends the answer."""
    wire = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, end))
    return observe(Exchange(200, body=f"{wire}data: [DONE]\n\n".encode(), streamed=True))


def deltas(*each: Any, **fields: Any) -> Observation:
    """Observe a stream of these deltas."""
    return seen(*({"choices": [{"index": 0, "delta": delta, **fields}]} for delta in each))


def codes(answer: Observation) -> list[str]:
    return [oddity.code for oddity in answer.oddities]


def choices(*each: dict[str, Any]) -> Observation:
    """Observe a stream of these choices, each in a chunk."""
    return seen(*({"choices": [one]} for one in each))


TEXT = {"choices": [{"index": 0, "delta": {"content": "x"}}]}


def test_the_first_name_of_who_answered_is_kept() -> None:
    """Model, fingerprint and provider are those of the first chunk that names them."""
    names = ("model", "system_fingerprint", "provider")
    first, second = dict.fromkeys(names, "one"), dict.fromkeys(names, "two")
    answer = seen(TEXT, {"model": 5, "choices": []}, {**TEXT, **first}, {**TEXT, **second})
    assert [getattr(answer, name) for name in names] == ["one"] * 3


@pytest.mark.parametrize("beside", [{"message": "hi"}, {"object": "error"}, {"error": None}])
def test_what_is_no_error_beside_choices(beside: dict[str, Any]) -> None:
    """A chunk with choices is an error only where it holds one."""
    assert seen({**TEXT, **beside}).text == "x"


def test_the_last_usage_is_kept() -> None:
    """Running counts are replaced, and an empty usage replaces none."""
    one, two = ({**TEXT, "usage": {"prompt_tokens": 1, "completion_tokens": n}} for n in (1, 2))
    assert seen(one, two, {**TEXT, "usage": None}, {**TEXT, "usage": {}}).usage == Usage(1, 2)


def test_the_last_finish_reason_is_kept() -> None:
    """An empty one after it says nothing, and the native word stays beside it."""
    cut = {"index": 0, "delta": {}, "finish_reason": "length", "native_finish_reason": "MAX"}
    later = ({"finish_reason": reason, "native_finish_reason": 5} for reason in ("", None, 5))
    answer = seen(TEXT, *({"choices": [one]} for one in later), end={"choices": [cut]})
    assert (answer.finish_reason, answer.native_finish_reason) == ("length", "MAX")
    answer = seen(TEXT, {"choices": [cut]}, *({"choices": [{"finish_reason": ""}]},), end=TEXT)
    assert (answer.finish_reason, answer.native_finish_reason) == ("length", "MAX")


@pytest.mark.parametrize("index", [0, None, "absent"])
def test_the_first_choice_is_read(index: Any) -> None:
    """Its index is 0, or is not said."""
    choice = {"delta": {"content": "x"}} | ({} if index == "absent" else {"index": index})
    assert choices(choice, choice).text == "xx"


@pytest.mark.parametrize("index", [1, "0", []])
def test_other_choices_are_left_out(index: Any) -> None:
    """Whatever their index is, they are said to be there."""
    answer = seen({"choices": [{"index": index, "delta": {"content": "y"}}, *TEXT["choices"]]})
    assert (answer.text, codes(answer)) == ("x", ["extra-choices"])


def test_the_text_of_completions_streams() -> None:
    """It is read where there is no delta."""
    answer = choices(
        {"text": "a"}, {"text": "b", "delta": {}}, {"text": "z", "delta": {"content": "c"}}
    )
    assert (answer.text, codes(answer)) == ("abc", ["legacy-text"])


def test_a_whole_message_is_read_where_nothing_came_before() -> None:
    """After a delta it repeats what is known."""
    whole = {"message": {"content": "x"}}
    assert (choices(whole).text, codes(choices(whole))) == ("x", ["stream-message"])
    assert choices({"delta": {"content": "x"}}, whole).text == "x"
    assert choices({"delta": {}}, whole).text == "x"
    assert choices({"delta": None}, {"message": 5}, {"delta": {"content": "x"}}).text == "x"


def test_each_field_of_text_is_joined() -> None:
    """Reasoning of every name, refusals and details come in pieces."""
    pieces = ({"reasoning": "a"}, {"reasoning": "b", "content": "x"}, {"reasoning": None})
    assert deltas(*pieces).reasoning == "ab"
    assert deltas({"reasoning_content": "a"}, {"reasoning_content": "b"}).reasoning == "ab"
    assert deltas({"thinking": "a"}, {"thinking": "b"}).reasoning == "ab"
    assert deltas({"refusal": "a"}, {"refusal": "b"}).refusal == "ab"
    details = ({"reasoning_details": [{"text": text}]} for text in "ab")
    assert deltas(*details, {"reasoning_details": 5}).reasoning == "ab"


def test_parts_stream() -> None:
    """Texts, thoughts and refusals of content parts are joined by kind."""
    answer = deltas(
        {"content": [{"type": "thinking", "thinking": "h"}]},
        {"content": [{"type": "thinking", "thinking": [{"text": "m"}]}, "x"]},
        {"content": [{"refusal": "no"}]},
        {"content": [{"refusal": "!"}, {"text": "y"}]},
    )
    assert (answer.text, answer.reasoning, answer.refusal) == ("xy", "hm", "no!")
    assert codes(answer) == ["content-parts"]
    silent = deltas({"content": [{"type": "thinking", "thinking": "hm"}]})
    assert (silent.text, silent.reasoning) == (None, "hm")
    assert codes(silent) == ["content-parts"]


def test_a_legacy_call_streams() -> None:
    """Its name and its arguments come in pieces; other shapes say nothing."""
    calls = ({"name": "f"}, {"name": "g", "arguments": "{"}, {"arguments": "}"}, {"name": 5}, 5)
    (call,) = deltas(*({"function_call": call} for call in calls)).calls
    assert (call.name, call.raw, call.id) == ("fg", "{}", None)
    assert (
        deltas({"content": "x", "tool_calls": 5}, {"function_call": {"arguments": 5}}).calls == ()
    )


def entry(text: str) -> dict[str, Any]:
    return {"token": text, "logprob": -1.0}


def tokens(answer: Observation) -> list[str] | None:
    return None if answer.logprobs is None else [entry.token for entry in answer.logprobs]


def logprobs(*given: Any) -> Observation:
    """Observe a stream whose chunks bear these logprobs."""
    return choices(*({"delta": {"content": "x"}, "logprobs": one} for one in given))


def test_logprobs_are_joined() -> None:
    """Entries of all chunks are one list, and what is no object adds nothing."""
    lists = ({"content": [entry(text)], "reasoning_content": [entry("r")]} for text in "ab")
    answer = logprobs(None, *lists, None, {}, {"content": None})
    assert (tokens(answer), answer.logprobs_reasoning) == (["a", "b"], 2)


@pytest.mark.parametrize(
    ("given", "absent"),
    [
        ([None], "logprobs is null"),
        ([None, None], "logprobs is null"),
        ([{}], "logprobs is empty"),
        ([{}, None], "logprobs is empty"),
        ([{"content": []}], "logprobs.content is empty"),
        ([], "no logprobs field"),
    ],
)
def test_how_a_stream_lacks_logprobs(given: list[Any], absent: str) -> None:
    """Each way of giving none is as it is in a plain answer."""
    answer = logprobs(*given) if given else seen(TEXT)
    assert (answer.logprobs, answer.logprobs_absent) == (None, absent)


def test_lists_of_completions_are_joined_by_chunk() -> None:
    """What a chunk's lists lack or have too much moves no value to another token."""
    answer = logprobs(
        {"tokens": ["a", "b"], "token_logprobs": [-1.0], "top_logprobs": [{"x": -3.0}]},
        {"tokens": ["c"], "token_logprobs": [-2.0, -9.0], "top_logprobs": None},
        {"tokens": ["d"], "token_logprobs": [-4.0], "top_logprobs": [None, {"y": -9.0}]},
        {"tokens": 5, "token_logprobs": [-9.0]},
    )
    assert [(one.token, one.logprob) for one in answer.logprobs or ()] == [
        ("a", -1.0), ("b", None), ("c", -2.0), ("d", -4.0),
    ]  # fmt: skip
    tops = [one.top for one in answer.logprobs or ()]
    assert tops == [(TopLogprob("x", -3.0, b"x"),), (), (), ()]


def test_ids_of_tokens_are_joined() -> None:
    """Lists of ids beside the entries are one list."""
    answer = choices(
        *({"delta": {"content": "x"}, "logprobs": {"content": [entry("x")]}, "token_ids": ids}
          for ids in ([7], [8])),
        {"delta": {}, "token_ids": None},
    )  # fmt: skip
    assert [one.id for one in answer.logprobs or ()] == [7, 8]


@pytest.mark.parametrize(
    ("wire", "text", "oddities"),
    [
        ("data: %s\n\ndata: [DONE]\n\ndata: broken\n\n", "x", []),
        ("data:\n\ndata: %s\n\ndata:  [DONE] \n\n", "x", []),
        ("data: %s\ndata: %s\ndata: [DONE]\n\n", "xx", ["stream-events-joined"]),
        ("data: %s\ndata:  [DONE]\n\n", "x", ["stream-events-joined"]),
        ("data: %s\n\n", "x", ["stream-no-done"]),
    ],
)
def test_the_end_of_a_stream(wire: str, text: str, oddities: list[str]) -> None:
    """Nothing after ``[DONE]`` is read, and events that a line break parts are read apart."""
    whole = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}
    body = wire.replace("%s", json.dumps(whole)).encode()
    answer = observe(Exchange(200, body=body, streamed=True))
    assert (answer.text, codes(answer)) == (text, oddities)


def test_an_event_over_several_lines_is_one_chunk() -> None:
    """JSON with line breaks is no joined events."""
    lines = json.dumps(
        {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}, indent=1
    )
    body = "".join(f"data: {line}\n" for line in lines.split("\n")) + "\ndata: [DONE]\n\n"
    answer = observe(Exchange(200, body=body.encode(), streamed=True))
    assert (answer.text, codes(answer)) == ("x", [])


@pytest.mark.parametrize("halves", [("\\ud83d", "\\ude0a"), ("\\uD83D", "\\uDE0A")])
def test_halves_of_a_pair_in_two_chunks(halves: tuple[str, str]) -> None:
    """However they are spelt, they are one character; alone, a half is U+FFFD."""

    def wire(*texts: str) -> bytes:
        chunks = [f'data: {{"choices":[{{"delta":{{"content":"{one}"}}}}]}}\n\n' for one in texts]
        return ("".join(chunks) + f"data: {json.dumps(STOP)}\n\ndata: [DONE]\n\n").encode()

    whole = observe(Exchange(200, body=wire(*halves), streamed=True))
    assert (whole.text, codes(whole)) == ("😊", [])
    half = observe(Exchange(200, body=wire(halves[0], "é"), streamed=True))
    assert (half.text, codes(half)) == ("\ufffdé", ["lone-surrogate"])


def test_exact_numbers_beside_halves_of_a_pair() -> None:
    """A chunk of calls is read exactly, and its logprobs stay numbers."""
    call = '"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]'
    value = '"logprobs":{"content":[{"token":"x","logprob":-0.5}]},"finish_reason":"stop"'
    body = (
        'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
        f'data: {{"choices":[{{"delta":{{"content":"\\ude0a",{call}}},{value}}}]}}\n\n'
        "data: [DONE]\n\n"
    )
    answer = observe(Exchange(200, body=body.encode(), streamed=True))
    assert (answer.text, codes(answer)) == ("😊", ["finish-stop-with-calls"])
    assert [(one.token, one.logprob) for one in answer.logprobs or ()] == [("x", -0.5)]
